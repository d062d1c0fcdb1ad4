"""What Flink is known to break: each exception is a departure, and shows in an example."""

import pytest
from outside import Folder

from asyncwait.backends.flink._exceptions import KNOWN
from asyncwait.backends.flink.conformance import backend
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import adapted, excuses_of
from asyncwait.conformance.verdict import Sorted, sort_out
from asyncwait.spec.rules import departures, rules

pytestmark = pytest.mark.usefixtures("flink")


@pytest.fixture(scope="module")
def examples(flink: None) -> dict[str, Sorted]:
    """What the rules say of each example that Flink plays."""
    operator = backend()
    excuses = excuses_of(operator.exceptions)
    held_to = {rule.id for rule in rules().values() if rule.applies_to(operator.capabilities)}
    checks = {rule: check for rule, check in CHECKS.items() if rule in held_to}
    fitting = {each.name: adapted(each.scenario, operator.capabilities) for each in EXAMPLES}
    traces = operator.run(list(fitting.values()))
    return {
        name: sort_out(scenario, dict(judge(scenario, trace, checks).violations()), excuses)
        for (name, scenario), trace in zip(fitting.items(), traces, strict=True)
    }


def test_an_exception_is_a_departure_and_names_rules() -> None:
    """The reason stands with the departure; there is one for each."""
    assert {known.flink for known in KNOWN} <= {departure.flink for departure in departures()}
    assert {r for known in KNOWN for r in (*known.rules, *known.seldom)} <= rules().keys()
    assert len({known.flink for known in KNOWN}) == len(KNOWN)


def test_no_example_shows_anything_else(examples: dict[str, Sorted]) -> None:
    """What is broken first in an example is known."""
    assert {name: said.findings for name, said in examples.items() if said.findings} == {}


def test_each_rule_that_is_known_to_be_broken_is_broken_in_an_example(
    examples: dict[str, Sorted],
) -> None:
    """So the verdict does not hang on what is generated."""
    broken = {rule for said in examples.values() for rule in said.known}
    assert {rule for known in KNOWN for rule in known.rules} <= broken


@pytest.mark.parametrize("seed", ["0", "1"])
def test_flink_conforms_with_exceptions(outside: Folder, seed: str) -> None:
    """Whatever is generated."""
    done = outside.asyncwait("verify", "flink", "--count", "150", "--seed", seed)

    line = done.out.splitlines()[-1]
    assert line.startswith("flink: conformant with exceptions: core, ordered, unordered, timeouts")
    assert done.code == 0, done.out


def test_each_difference_from_the_reference_is_a_tie_or_a_departure(outside: Folder) -> None:
    """In examples and generated scenarios."""
    done = outside.asyncwait("compare", "flink", "reference-asyncio", "--count", "150")

    assert ", 0 unexplained (" in done.out.splitlines()[-1]
    assert done.code == 0, done.out
