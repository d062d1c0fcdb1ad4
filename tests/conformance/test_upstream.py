"""The page that says what stands for upstream's tests."""

from collections import Counter
from functools import cache

import pytest

from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import judge
from asyncwait.conformance.mailbox import MAILBOX_EXAMPLES
from asyncwait.conformance.upstream import UpstreamTest, upstream_tests
from asyncwait.reference import open_operator
from asyncwait.spec.rules import departures, mailbox_rules, rules

TESTS = upstream_tests()
OF_OPERATORS = {example.name: example for example in EXAMPLES}
OF_MAILBOXES = {example.name: example for example in MAILBOX_EXAMPLES}


@cache
def applied(example: str) -> frozenset[str]:
    scenario = OF_OPERATORS[example].scenario
    judged = judge(scenario, play(open_operator, scenario), CHECKS)
    assert not judged.error
    return frozenset(rule for rule, said in judged.by_rule.items() if said.applied)


def test_all_tests_are_there_once() -> None:
    asked = Counter(test.asks for test in TESTS if test.kind == "capability")

    assert len({(test.owner, test.name) for test in TESTS}) == len(TESTS) == 133
    assert sum(test.runs for test in TESTS) == 141
    assert asked.most_common(1) == [("mailbox", 36)]


@pytest.mark.parametrize("test", TESTS, ids=lambda test: f"{test.owner}-{test.name}")
def test_its_rules_are_shown_by_its_examples(test: UpstreamTest) -> None:
    """All rules are, and there is no example that shows none of them.

    Only what is inside of Flink's own may have none; departures have their rows.
    """
    is_mailbox = test.asks == "mailbox"
    book = mailbox_rules() if is_mailbox else rules()
    by_example = {
        name: set(OF_MAILBOXES[name].rules if is_mailbox else applied(name)) & {*test.rules.split()}
        for name in test.examples.split()
    }

    assert set(test.rules.split()) <= set(book)
    assert set(test.rules.split()) == set[str]().union(*by_example.values())
    assert all(by_example.values())
    assert test.rules or test.kind == "inside"
    assert test.note or test.kind != "inside"
    assert set(test.departs.split()) <= {departure.flink for departure in departures()}
