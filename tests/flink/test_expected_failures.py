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
def test_each_rule_that_is_known_to_be_broken_is_broken_in_an_example(
    examples: Callable[[object], dict[str, Sorted]], known: tuple[Known, ...]
) -> None:
    """So the verdict does not hang on what is generated."""
    broken = {rule for said in examples(known).values() for rule in said.known}
    assert {rule for each in known for rule in each.rules} <= broken


def test_flink_conforms_with_expected_failures(outside: Folder) -> None:
    """Both operators, whatever is generated: `verify --all` plays another seed."""
    done = outside.asyncwait("verify", "flink", "flink-keyed", "--count", "150", "--seed", "1")

    words = [line.partition(": core")[0] for line in done.out.splitlines()[-2:]]
    assert words == [f"{n}: conformant with expected failures" for n in ("flink", "flink-keyed")]
    assert done.code == 0, done.out
