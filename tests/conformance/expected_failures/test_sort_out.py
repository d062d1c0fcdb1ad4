"""What a backend is known to break hides what follows from it, and nothing else."""

from typing import Any

import pytest
from msgspec.structs import replace

from asyncwait.conformance.evidence import scenario_of
from asyncwait.conformance.expected_failures import ExpectedFailure, Sorted, sort_out
from asyncwait.conformance.judging import Violation
from asyncwait.spec import InvalidConfig
from asyncwait.spec.scenario import Scenario

PLAIN = Scenario()
REPEATED = scenario_of("retry")

EXPECTED_FAILURES = {
    "WM-5": (ExpectedFailure("statuses overtake"),),
    "ORD-5": (ExpectedFailure("called once more", ("retry",)),),
    "ORD-1": (ExpectedFailure("out of order", ("retry",)), ExpectedFailure("anywhere")),
}


@pytest.mark.parametrize(
    ("scenario", "broken", "findings", "known"),
    [
        (PLAIN, {}, "", {}),
        # What comes with a known violation or behind it may be its consequence.
        (
            PLAIN,
            {"WM-5": (0, 3), "ELEM-3": (0, 3), "END-1": (0, 7)},
            "",
            {"WM-5": ("statuses overtake",)},
        ),
        # What comes before it counts with all others; the known one stays known.
        (
            PLAIN,
            {"WM-5": (0, 3), "ELEM-3": (0, 2), "END-1": (0, 7)},
            "ELEM-3 END-1",
            {"WM-5": ("statuses overtake",)},
        ),
        # An earlier leg comes before a later one, whatever their clocks show.
        (
            PLAIN,
            {"WM-5": (1, 3), "ELEM-3": (0, 8)},
            "ELEM-3",
            {"WM-5": ("statuses overtake",)},
        ),
        # A record that is called twice without any retry is a finding.
        (PLAIN, {"ORD-5": (0, 3)}, "ORD-5", {}),
        (REPEATED, {"ORD-5": (0, 3)}, "", {"ORD-5": ("called once more",)}),
        # Of several expected failures of a rule the reasons are given that may be.
        (PLAIN, {"ORD-1": (0, 1)}, "", {"ORD-1": ("anywhere",)}),
        (REPEATED, {"ORD-1": (0, 1)}, "", {"ORD-1": ("out of order", "anywhere")}),
    ],
)
def test_a_known_violation_hides_what_may_follow_from_it(
    scenario: Scenario,
    broken: dict[str, tuple[int, float]],
    findings: str,
    known: dict[str, tuple[str, ...]],
) -> None:
    violations = {rule: Violation("", at, leg) for rule, (leg, at) in broken.items()}

    found = sort_out(scenario, violations, EXPECTED_FAILURES)

    assert found == Sorted(frozenset(findings.split()), known)


RAISES = scenario_of("a: raises own, late raises own")
BREAKS = scenario_of("retry on_error=breaks")
LATE = scenario_of("timeout 40; 0: a")
HANDLED = replace(LATE, handled=True)


@pytest.mark.parametrize(
    ("trait", "holds", "lacks"),
    [
        ("a status", scenario_of("0: ~idle"), PLAIN),
        ("a barrier", scenario_of("0: ~1 ^2"), PLAIN),
        ("a call that raises", RAISES, PLAIN),
        ("a call that gives no results", scenario_of("a: misreturns none"), PLAIN),
        ("a call that raises a cancellation", scenario_of("a: raises CancelledError"), RAISES),
        ("a predicate that raises", BREAKS, REPEATED),
        ("a supplier", scenario_of("form callback; a: gives with supplied"), PLAIN),
        ("a handler that gives none", HANDLED, LATE),
        ("a handler that fails", replace(HANDLED, plans=RAISES.plans), HANDLED),
    ],
)
def test_an_expected_failure_may_be_for_scenarios_of_a_certain_plan(
    trait: str, holds: Scenario, lacks: Scenario
) -> None:
    known = ExpectedFailure("known", (trait,))

    assert known.covers(holds)
    assert not known.covers(lacks)


def test_an_expected_failure_may_be_for_some_scenarios_only() -> None:
    known = ExpectedFailure("known", scenarios=("late", "0123456789ab"))

    assert known.covers(PLAIN, ("late", "ba9876543210"))
    assert known.covers(PLAIN, ("generated 7 of seed 0", "0123456789ab"))
    assert not known.covers(PLAIN, ("early", "ba9876543210"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        # A slip in its name would expect nothing, and nobody would see it.
        (
            {"needs": ("retry", "retries")},
            r"^needs must be names of .*, got \['retries', 'retry'\]",
        ),
        (
            {"scenarios": "late"},
            r"^scenarios must be names and ids, .*, got 'late' \(str\)$",
        ),
    ],
)
def test_what_expects_nothing_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidConfig, match=said):
        ExpectedFailure("called once more", **options)
