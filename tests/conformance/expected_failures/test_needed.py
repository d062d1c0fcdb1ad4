"""Expected failures that explain everything, each of which shows in the next run."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from asyncwait.conformance.expected_failures import ExpectedFailure, sort_out
from asyncwait.conformance.expected_failures.file import needed
from asyncwait.conformance.judging import Violation
from asyncwait.spec.scenario import Scenario

SCENARIO = Scenario()
RULES = ("A", "B", "C", "D", "E")

Runs = list[tuple[Scenario, Mapping[str, Violation]]]


def runs(*broken: Mapping[str, int]) -> Runs:
    """Runs with the moment at which each rule is broken first."""
    return [
        (SCENARIO, {rule: Violation("wrong", at) for rule, at in each.items()}) for each in broken
    ]


def test_a_consequence_needs_no_expected_failure() -> None:
    """An entry for it would match nothing, once its cause has one."""
    assert needed(runs({"A": 1, "B": 2}, {"A": 3, "B": 4}), {}, RULES) == ("A",)


def test_what_shows_by_itself_needs_its_own() -> None:
    """Be it a consequence elsewhere."""
    assert set(needed(runs({"A": 1, "B": 2}, {"B": 2}), {}, RULES)) == {"A", "B"}


def test_of_two_at_once_each_has_its_own() -> None:
    """Either may be alone with another seed."""
    assert needed(runs({"A": 1, "B": 1, "C": 2}), {}, RULES) == ("A", "B")


def test_an_entry_that_explains_something_stays() -> None:
    """And what comes with it needs none."""
    found = needed(runs({"A": 1, "C": 1}, {"B": 1}), {}, RULES, ["A"])

    assert set(found) == {"A", "B"}


def test_what_does_not_decide_needs_none() -> None:
    """But if it has one it stays, while it shows."""
    assert needed(runs({"A": 1}), {}, ["B"]) == ()
    assert needed(runs({"A": 1}), {}, ["B"], ["A", "C"]) == ("A",)


def test_what_the_backend_says_itself_is_not_repeated() -> None:
    """Nor what follows from it."""
    assert needed(runs({"A": 1, "B": 2}), {"A": (ExpectedFailure("known"),)}, RULES) == ()


moments = st.dictionaries(st.sampled_from(RULES), st.integers(0, 3), min_size=1)


@given(
    st.lists(moments, max_size=6),
    st.frozensets(st.sampled_from(RULES)),
    st.frozensets(st.sampled_from(RULES)),
)
def test_with_them_nothing_counts_and_each_of_them_shows(
    broken: list[dict[str, int]], deciding: frozenset[str], old: frozenset[str]
) -> None:
    """So the next run is conformant but for them, and none of them passes unexpectedly."""
    played = runs(*broken)

    found = needed(played, {}, deciding, old)

    expected_failures = {rule: (ExpectedFailure("known"),) for rule in found}
    after = [sort_out(scenario, said, expected_failures) for scenario, said in played]
    assert not deciding & {rule for each in after for rule in each.findings}
    assert {rule for each in after for rule in each.known} == set(found)
    assert set(found) <= deciding | old
