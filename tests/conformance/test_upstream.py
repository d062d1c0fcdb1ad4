"""The page that says what stands for upstream's tests."""

import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from msgspec import ValidationError

from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import judge
from asyncwait.conformance.mailbox import MAILBOX_EXAMPLES
from asyncwait.conformance.upstream import UpstreamTest, _cases, upstream_tests
from asyncwait.reference import open_operator
from asyncwait.spec.rules import areas, departures, mailbox_rules, rules

TESTS = upstream_tests()
OF_OPERATORS = {example.name: example for example in EXAMPLES}
OF_MAILBOXES = {example.name: example for example in MAILBOX_EXAMPLES}

each_test = pytest.mark.parametrize(
    "test", TESTS, ids=[f"{test.owner}-{test.name}" for test in TESTS]
)


@cache
def applied(example: str) -> frozenset[str]:
    """Return the rules of operators that apply when the reference plays an example."""
    scenario = OF_OPERATORS[example].scenario
    judged = judge(scenario, play(open_operator, scenario), CHECKS)
    assert not judged.error
    return frozenset(rule for rule, said in judged.by_rule.items() if said.applied)


def shown(test: UpstreamTest, example: str) -> set[str]:
    """Return the rules of `test` that an example is about, or in which they apply."""
    if test.asks == "mailbox":
        return set(test.rules.split()) & set(OF_MAILBOXES[example].rules)
    return set(test.rules.split()) & applied(example)


def test_the_command_prints_the_page() -> None:
    """Each test has its row, with what stands for it."""
    printed = subprocess.check_output(
        [sys.executable, "-m", "asyncwait.conformance.upstream"], text=True
    )

    rows = [line for line in printed.splitlines() if line.startswith("| ")]
    told = ([test.name, *test.rules.split()] for test in TESTS)
    assert [
        each for each in told if not any(all(map(row.__contains__, each)) for row in rows)
    ] == []


COUNTED = {
    "owner": (
        "AsyncWaitOperatorTest 40, OrderedStreamElementQueueTest 3, "
        "UnorderedStreamElementQueueTest 1, StreamElementQueueTest 5, AsyncRetryStrategiesTest 1, "
        "RichAsyncFunctionTest 2, TaskMailboxImplTest 18, TaskMailboxProcessorTest 12, "
        "MailboxExecutorImplTest 7, TableKeyedAsyncWaitOperatorTest 7, "
        "TableAsyncExecutionControllerTest 6, test_async_function.py (PyFlink) 10, "
        "test_async_scalar_function.py (PyFlink) 7, EmitterTest 2, AsyncBatchWaitOperatorTest 12"
    ),
    "kind": "any 34, capability 87, inside 12",
    "since": "2.3 109, open proposal 13, main 7, up to 1.9 2, up to 2.0 1, main, backported 1",
}
"""What the figures are in Flink's own sources."""


@pytest.mark.parametrize("field", COUNTED)
def test_all_tests_are_there_once(field: str) -> None:
    """By class, by what they ask for, and by version."""
    found = Counter(getattr(test, field) for test in TESTS)

    assert sorted(f"{name} {count}" for name, count in found.items()) == sorted(
        re.split(r"(?<=\d), ", COUNTED[field])
    )
    assert len({(test.owner, test.name) for test in TESTS}) == len(TESTS) == 133
    assert sum(test.runs for test in TESTS) == 141


def test_capabilities_are_asked_for() -> None:
    """Those of the mailbox most often."""
    assert Counter(test.asks for test in TESTS if test.kind == "capability") == Counter(
        {"mailbox": 37, "retry": 17, "batch": 12, "key order": 7, "supplier": 6, "status": 2}
    ) + Counter({"availability": 2, "Python": 2, "object reuse": 1, "timer count": 1})


def test_what_is_to_come_is_not_there_yet() -> None:
    """An area that has come has rules and examples to name instead."""
    assert Counter(test.to_come for test in TESTS if test.to_come) == {"BATCH": 12}
    assert {test.to_come for test in TESTS} & set(areas()) == set()


@each_test
def test_each_has_rules_and_examples_or_a_reason(test: UpstreamTest) -> None:
    """Only what is inside of Flink's own, or to come, may have none."""
    assert bool(test.rules) == bool(test.examples)
    assert bool(test.rules) != bool(test.to_come) or test.kind == "inside"
    assert test.note or test.kind != "inside"


@each_test
def test_its_rules_are_shown_by_its_examples(test: UpstreamTest) -> None:
    """All rules are, and there is no example that shows none of them."""
    book = mailbox_rules() if test.asks == "mailbox" else rules()
    by_example = {example: shown(test, example) for example in test.examples.split()}

    assert set(test.rules.split()) <= set(book)
    assert set(test.rules.split()) == set[str]().union(*by_example.values())
    assert [example for example, by_it in by_example.items() if not by_it] == []


@each_test
def test_departures_are_told_with_their_reasons(test: UpstreamTest) -> None:
    """Each id has a row among the departures."""
    assert set(test.departs.split()) <= {departure.flink for departure in departures()}


def test_a_field_that_nobody_knows_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A slip in its name would else leave a test without what it says."""
    (tmp_path / "cases.toml").write_text('[Owner.test]\nrule = "ORD-1"\n', encoding="utf-8")
    monkeypatch.setattr(_cases.resources, "files", lambda _: tmp_path)

    with pytest.raises(ValidationError, match="unknown field `rule`"):
        upstream_tests()
