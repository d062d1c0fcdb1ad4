"""What a backend is known to break hides what follows from it, and nothing else."""

import pytest
from msgspec.structs import replace

from asyncwait.conformance.evidence import at
from asyncwait.conformance.expected_failures import ExpectedFailure, Sorted, sort_out
from asyncwait.conformance.judging import Violation
from asyncwait.spec import Barrier, InvalidConfig, Record, Watermark, WatermarkStatus
from asyncwait.spec.scenario import Handler, Plan, PlannedRetry, Scenario, Step

PLAIN = Scenario()
REPEATED = Scenario(retry=PlannedRetry())

EXPECTED_FAILURES = {
    "WM-5": (ExpectedFailure("statuses overtake"),),
    "ORD-5": (ExpectedFailure("called once more", ("retry",)),),
}


def sorted_out(scenario: Scenario, **at: float | tuple[int, float]) -> Sorted:
    """What becomes of violations, by the rule's id with "_" for "-"."""
    moments = {rule.replace("_", "-"): when for rule, when in at.items()}
    broken = {
        rule: Violation("wrong", *reversed(when))
        if isinstance(when, tuple)
        else Violation("", when)
        for rule, when in moments.items()
    }
    return sort_out(scenario, broken, EXPECTED_FAILURES)


def test_where_nothing_is_broken_nothing_counts() -> None:
    """Neither against the operator nor as expected."""
    assert sorted_out(PLAIN) == Sorted()


def test_what_comes_with_a_known_violation_or_behind_it_does_not_count() -> None:
    """It may be its consequence."""
    found = sorted_out(PLAIN, WM_5=3, ELEM_3=3, END_1=7)

    assert found == Sorted(known={"WM-5": ("statuses overtake",)})


def test_what_comes_before_a_known_violation_counts_with_all_others() -> None:
    """The known one stays known."""
    found = sorted_out(PLAIN, WM_5=3, ELEM_3=2, END_1=7)

    assert found == Sorted(frozenset({"ELEM-3", "END-1"}), {"WM-5": ("statuses overtake",)})


def test_an_earlier_leg_comes_before_a_later_one() -> None:
    """Whatever the clocks of the legs show."""
    found = sorted_out(PLAIN, WM_5=(1, 3), ELEM_3=(0, 8))

    assert found.findings == {"ELEM-3"}


def test_a_failure_that_is_expected_elsewhere_is_one() -> None:
    """A record that is called twice without any retry is a finding."""
    assert sorted_out(PLAIN, ORD_5=3) == Sorted(frozenset({"ORD-5"}))
    assert sorted_out(REPEATED, ORD_5=3).findings == frozenset()


def test_several_expected_failures_of_a_rule_count_where_each_does() -> None:
    """The reasons that are given are those that may be."""
    expected_failures = {"ORD-5": (*EXPECTED_FAILURES["ORD-5"], ExpectedFailure("anywhere"))}
    broken = {"ORD-5": Violation("wrong", 1)}

    assert sort_out(PLAIN, broken, expected_failures).known == {"ORD-5": ("anywhere",)}
    assert sort_out(REPEATED, broken, expected_failures).known == {
        "ORD-5": ("called once more", "anywhere")
    }


RAISES = Plan("a", (Step("raise"),), Handler("raise"))
UNCOPIED = Plan("a", uncopied=True)


MISRETURNS = Plan("a", (Step("misreturn", error="none"),))
CANCELS = Plan("a", (Step("raise", error="CancelledError"),))
BREAKS = Scenario(retry=PlannedRetry(on_error="breaks"))
SUPPLIES = Plan("a", (Step(supplied=True),))
LATE = Scenario(timeout=40, inputs=at(0, Record("a")))
HANDLED = replace(LATE, handled=True)


@pytest.mark.parametrize(
    ("trait", "holds", "lacks"),
    [
        ("a status", Scenario(inputs=at(0, WatermarkStatus(True))), PLAIN),
        ("a barrier", Scenario(inputs=at(0, Watermark(1), Barrier(2))), PLAIN),
        ("a call that raises", Scenario(plans=(RAISES,)), PLAIN),
        (
            "a call that raises",
            Scenario(plans=(UNCOPIED,), copies=True),
            Scenario(plans=(UNCOPIED,)),
        ),
        ("a call that gives no results", Scenario(plans=(MISRETURNS,)), PLAIN),
        (
            "a call that raises a cancellation",
            Scenario(plans=(CANCELS,)),
            Scenario(plans=(RAISES,)),
        ),
        ("a predicate that raises", BREAKS, REPEATED),
        ("a supplier", Scenario(form="callback", plans=(SUPPLIES,)), PLAIN),
        ("a handler that gives none", HANDLED, LATE),
        ("a handler that fails", replace(HANDLED, plans=(RAISES,)), HANDLED),
    ],
)
def test_an_expected_failure_may_be_for_scenarios_of_a_certain_plan(
    trait: str, holds: Scenario, lacks: Scenario
) -> None:
    """Each trait is told from what is planned."""
    known = ExpectedFailure("known", (trait,))

    assert known.covers(holds, "")
    assert not known.covers(lacks, "")


def test_what_an_expected_failure_needs_is_known() -> None:
    """A slip in its name would expect nothing, and nobody would see it."""
    with pytest.raises(
        InvalidConfig, match=r"^needs must be names of .*, got \['retries', 'retry'\]"
    ):
        ExpectedFailure("called once more", ("retry", "retries"))


def test_the_kind_of_an_expected_failure_is_one_of_three() -> None:
    """The verdict counts them."""
    with pytest.raises(
        InvalidConfig,
        match=r"^kind must be one of regression, unsupported, future, got 'odd' \(str\)$",
    ):
        ExpectedFailure("called once more", kind="odd")  # type: ignore[arg-type]
