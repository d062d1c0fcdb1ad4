"""What Flink is known to break: each expected failure is a departure, and shows in an example."""

from collections.abc import Callable
from functools import cache

import pytest
from flink_runs import SCENARIOS, run_of
from outside import Folder

from asyncwait.backends.flink._expected_failures import KNOWN, KNOWN_KEYED, Known
from asyncwait.backends.flink.conformance import backend, keyed_backend
from asyncwait.conformance import StreamBackend
from asyncwait.conformance.expected_failures import Sorted
from asyncwait.spec.rules import departures, rules

pytestmark = pytest.mark.usefixtures("flink")


LISTS = pytest.mark.parametrize("known", [KNOWN, KNOWN_KEYED], ids=["flink", "flink-keyed"])


@pytest.fixture(scope="module")
def examples(flink: None) -> Callable[[object], dict[str, Sorted]]:
    """What the rules say of each example that Flink plays: of both its operators."""
    return cache(lambda known: said_of(backend() if known is KNOWN else keyed_backend()))


def said_of(operator: StreamBackend) -> dict[str, Sorted]:
    """What the rules say of each example."""
    return {name: run_of(operator, scenario).said for name, scenario in SCENARIOS.items()}


@LISTS
def test_an_expected_failure_is_a_departure_and_names_rules(known: tuple[Known, ...]) -> None:
    """The reason stands with the departure; there is one for each."""
    assert {each.flink for each in known} <= {departure.flink for departure in departures()}
    assert {r for each in known for r in (*each.rules, *each.seldom)} <= rules().keys()
    assert len({each.flink for each in known}) == len(known)


@LISTS
def test_no_example_shows_anything_else(
    examples: Callable[[object], dict[str, Sorted]], known: tuple[Known, ...]
) -> None:
    """What is broken first in an example is known."""
    said = examples(known)
    assert {name: each.findings for name, each in said.items() if each.findings} == {}


@LISTS
def test_each_rule_that_is_known_to_be_broken_is_broken_in_an_example(
    examples: Callable[[object], dict[str, Sorted]], known: tuple[Known, ...]
) -> None:
    """So the verdict does not hang on what is generated."""
    broken = {rule for said in examples(known).values() for rule in said.known}
    assert {rule for each in known for rule in each.rules} <= broken


@pytest.mark.parametrize("seed", ["0", "1"])
def test_flink_conforms_with_expected_failures(outside: Folder, seed: str) -> None:
    """Both operators, whatever is generated."""
    done = outside.asyncwait("verify", "flink", "flink-keyed", "--count", "150", "--seed", seed)

    plain, keyed = done.out.splitlines()[-2:]
    assert plain.startswith(
        "flink: conformant with expected failures: core, ordered, unordered, timeouts"
    )
    assert keyed.startswith(
        "flink-keyed: conformant with expected failures: core, key-ordered, timeouts"
    )
    assert done.code == 0, done.out


def test_each_difference_from_the_reference_is_a_tie_or_a_departure(outside: Folder) -> None:
    """In examples and generated scenarios."""
    done = outside.asyncwait("compare", "flink", "reference-asyncio", "--count", "150")

    assert ", 0 unexplained (" in done.out.splitlines()[-1]
    assert done.code == 0, done.out
