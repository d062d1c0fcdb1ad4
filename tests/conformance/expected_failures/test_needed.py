"""Expected failures that explain everything, each of which shows in the next run."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncwait.conformance.expected_failures import ExpectedFailure, ExpectedFailures, sort_out
from asyncwait.conformance.expected_failures.file import needed
from asyncwait.conformance.judging import Violation
from asyncwait.spec.scenario import Scenario

SCENARIO = Scenario()
RULES = ("A", "B", "C", "D", "E")

Runs = list[tuple[Scenario, Mapping[str, Violation]]]


def runs(*broken: Mapping[str, int]) -> Runs:
    return [
        (SCENARIO, {rule: Violation("wrong", at) for rule, at in each.items()}) for each in broken
    ]


KNOWN = {"A": (ExpectedFailure("known"),)}


@pytest.mark.parametrize(
    ("played", "own", "deciding", "old", "expected"),
    [
        # An entry for a consequence would match nothing, once its cause has one.
        ([{"A": 1, "B": 2}, {"A": 3, "B": 4}], {}, "ABCDE", "", "A"),
        # What shows by itself needs its own, be it a consequence elsewhere.
        ([{"A": 1, "B": 2}, {"B": 2}], {}, "ABCDE", "", "AB"),
        # Of two at once each may be alone with another seed.
        ([{"A": 1, "B": 1, "C": 2}], {}, "ABCDE", "", "AB"),
        # An entry that explains something stays, and what comes with it needs none.
        ([{"A": 1, "C": 1}, {"B": 1}], {}, "ABCDE", "A", "AB"),
        # What does not decide needs none; but if it has one it stays, while it shows.
        ([{"A": 1}], {}, "B", "", ""),
        ([{"A": 1}], {}, "B", "AC", "A"),
        # What the backend says itself is not repeated, nor what follows from it.
        ([{"A": 1, "B": 2}], KNOWN, "ABCDE", "", ""),
    ],
)
def test_what_needs_an_expected_failure(
    played: list[dict[str, int]], own: ExpectedFailures, deciding: str, old: str, expected: str
) -> None:
    assert "".join(sorted(needed(runs(*played), own, deciding, old))) == expected


moments = st.dictionaries(st.sampled_from(RULES), st.integers(0, 3), min_size=1)


@given(
    st.lists(moments, max_size=6),
    st.frozensets(st.sampled_from(RULES)),
    st.frozensets(st.sampled_from(RULES)),
)
def test_with_them_nothing_counts_and_each_of_them_shows(
    broken: list[dict[str, int]], deciding: frozenset[str], old: frozenset[str]
) -> None:
    played = runs(*broken)

    found = needed(played, {}, deciding, old)

    expected_failures = {rule: (ExpectedFailure("known"),) for rule in found}
    after = [sort_out(scenario, said, expected_failures) for scenario, said in played]
    assert not deciding & {rule for each in after for rule in each.findings}
    assert {rule for each in after for rule in each.known} == set(found)
    assert set(found) <= deciding | old
