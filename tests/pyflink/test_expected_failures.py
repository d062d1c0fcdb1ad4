"""What PyFlink is known to break: each expected failure is a departure, and shows in an example."""

import pytest
from flink_runs import SCENARIOS, run_of
from outside import Folder

from asyncwait.backends.pyflink._expected_failures import KNOWN
from asyncwait.backends.pyflink.conformance import backend
from asyncwait.conformance.expected_failures import Sorted
from asyncwait.spec.rules import departures, rules


@pytest.fixture(scope="module")
def said() -> dict[str, Sorted]:
    """What the rules say of each example that PyFlink plays."""
    pyflink = backend()
    return {name: run_of(pyflink, scenario).said for name, scenario in SCENARIOS.items()}


def test_an_expected_failure_is_a_departure_and_names_rules() -> None:
    """The reason stands with the departure; there is one for each."""
    assert {each.flink for each in KNOWN} <= {departure.flink for departure in departures()}
    assert {r for each in KNOWN for r in (*each.rules, *each.seldom)} <= rules().keys()
    assert len({each.flink for each in KNOWN}) == len(KNOWN)


def test_no_example_shows_anything_else(said: dict[str, Sorted]) -> None:
    """What is broken first in an example is known."""
    assert {name: each.findings for name, each in said.items() if each.findings} == {}


def test_each_rule_that_is_known_to_be_broken_is_broken_in_an_example(
    said: dict[str, Sorted],
) -> None:
    """So the verdict does not hang on what is generated."""
    broken = {rule for each in said.values() for rule in each.known}
    assert {rule for each in KNOWN for rule in each.rules} <= broken


@pytest.mark.parametrize("seed", ["0", "1"])
def test_pyflink_conforms_with_expected_failures(outside: Folder, seed: str) -> None:
    """Whatever is generated."""
    done = outside.asyncwait("verify", "pyflink", "--count", "300", "--seed", seed)

    said = "pyflink: conformant with expected failures: core, ordered, unordered, timeouts, retry"
    assert done.out.splitlines()[-1].startswith(said)
    assert done.code == 0, done.out
