"""A leg as the checks see it: what belongs to what, what was decided when, what was open when."""

from collections.abc import Iterator

import pytest

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.evidence import at, replies, told
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import (
    NEVER,
    Finding,
    LegHistory,
    explain,
    leg_check,
)
from asyncwait.reference import open_operator
from asyncwait.spec import Barrier, Element, Record, Watermark
from asyncwait.spec.scenario import (
    Crash,
    Ending,
    Handler,
    Leg,
    Plan,
    Scenario,
    Step,
    Trace,
)

A, B = Record("a", 1), Record("a", 2)


def scenario(*elements: Element, **changes: object) -> Scenario:
    """A scenario in which all elements are there at once and each "a" gives "x" after 40 ms."""
    plans = (Plan("a", (Step(after=40, results=("x",)),), Handler("reply", ("late",))),)
    return Scenario(**{"inputs": at(0, *elements), "plans": plans, **changes})  # type: ignore[arg-type]


def leg_of(planned: Scenario, *parts: str, ending: Ending | None = None) -> LegHistory:
    """A leg with these events, as the checks see it."""
    events = told("; ".join(parts))
    over = ending or Ending("finished", events[-1].at if events else 0)
    leg = Leg(over, events, mode=planned.mode, capacity=planned.capacity)
    (history,) = explain(planned, Trace((leg,))).history.legs
    return history


def came_of(leg: LegHistory) -> list[int]:
    """The inputs that the outputs came of."""
    return [output.item.index for output in leg.outputs if output.item is not None]


def test_the_calls_of_a_value_belong_to_its_records_in_order() -> None:
    """The first call of "a" is the one of the first record "a"; one too many is set apart."""
    leg = leg_of(scenario(A, B), "0: takes 0 1, calls a; 5: calls a a")

    assert [item.call.at for item in leg.records if item.call is not None] == [0, 5]
    assert [call.number for call in leg.extra_calls] == [2]


CALLED = "0: takes 0, calls a"


@pytest.mark.parametrize(
    ("changes", "parts", "decided_at", "results"),
    [
        # When its call ends, with what that gave;
        ({}, "40: #0 gives x", 40, ("x",)),
        # at its deadline with what its handler gives, even if the operator has not asked it;
        ({"timeout": 20, "handled": True}, "30: waits", 20, ("late",)),
        # or never, as far as this leg can tell.
        ({}, "0: waits", NEVER, None),
    ],
)
def test_a_record_is_decided_by_its_call_or_at_its_deadline(
    changes: dict[str, object], parts: str, decided_at: float, results: tuple[str, ...] | None
) -> None:
    """Whatever comes first."""
    (item,) = leg_of(scenario(A, **changes), CALLED, parts).records

    assert (item.decided_at, item.results, item.wrong) == (decided_at, results, "")
    assert item.timed_out is ("timeout" in changes)


AT_ONCE = (replies("b", 0, "x"),)
SLOW_A = (replies("a", 40, "x"), *AT_ONCE)
BOTH_AT_ONCE = (replies("a", 0, "x"), *AT_ONCE)


@pytest.mark.parametrize(
    ("planned", "parts", "inputs"),
    [
        # Of records with equal results the one with the right timestamp is meant.
        (
            scenario(A, B, mode="unordered"),
            "0: takes 0 1, calls a a; 40: #0 gives x, #1 gives x, waits, out x@2 x@1",
            [1, 0],
        ),
        # Of equal records with equal results the one is meant that was decided by then, even where
        # no handler was asked at the deadline of the other: the consumer was gone by then.
        (
            scenario(A, A, mode="unordered", timeout=60, handled=True),
            "0: takes 0 1, calls a a; 40: #1 gives late, waits, gets late@1; 60: left",
            [1],
        ),
        # What a snapshot still holds has not come out before it.
        (
            scenario(A, Record("b", 1), mode="unordered", plans=SLOW_A),
            "0: takes 0 1, calls a b, #1 gives x; 40: #0 gives x, waits, out x@1 |1(a@1) x@1",
            [1, 0],
        ),
        # A snapshot that came before tells nothing: what it held and what it did not hold come out
        # behind it, the earliest first.
        (
            scenario(A, Record("b", 1), mode="unordered", plans=BOTH_AT_ONCE),
            "0: takes 0 1, calls a b, #0 gives x, #1 gives x, gets |1(a@1), gets x@1, gets x@1",
            [0, 1],
        ),
    ],
)
def test_outputs_belong_to_the_records_that_can_have_given_them(
    planned: Scenario, parts: str, inputs: list[int]
) -> None:
    """By timestamps, by what was decided, and by what a snapshot holds."""
    leg = leg_of(planned, parts, ending=Ending("left", 60) if planned.timeout else None)

    assert came_of(leg) == inputs
    assert {output.trouble for output in leg.outputs} == {""}


@pytest.mark.parametrize(("extra", "trouble"), [("x@1", "repeated"), ("z@1", "invented")])
def test_an_output_of_no_record_is_trouble(extra: str, trouble: str) -> None:
    """What came twice is told from what never was."""
    leg = leg_of(scenario(A), CALLED, f"40: #0 gives x, waits, out x@1 {extra}")

    assert [output.trouble for output in leg.outputs] == ["", trouble]


def test_calls_that_ran_on_too_many_for_a_moment_are_not_what_failed_the_operator() -> None:
    """It has failed by those that ran on until then, or for long."""
    leg = leg_of(
        scenario(A, A, A, A, capacity=1, timeout=10, handled=True),
        "0: takes 0 1 2 3, calls a; 10: calls a; 20: calls a; 21: #0 ends, #1 ends; 30: calls a",
        "60: #2 ends, #3 ends",
        ending=Ending("failed", 45, "TooManyAbandonedCalls"),
    )

    assert leg.overloaded_at == 40


def test_a_moment_of_rest_is_the_end_of_an_instant() -> None:
    """Within one instant nothing is judged but cause before effect."""
    leg = leg_of(
        scenario(A, Watermark(1)),
        "0: waits, takes 0, calls a, takes 1; 40: #0 gives x, out x@1; 80: gets ~1",
    )

    assert [(rest.at, rest.waiting, rest.present) for rest in leg.rests] == [
        (0, True, 2),
        (40, True, 1),
    ]
    held = leg.rests[1].emittable
    assert held is not None
    assert held.element == Watermark(1)


def test_a_snapshot_is_owed_from_the_moment_its_barrier_is_read() -> None:
    """Unless a record before it waits for room."""
    leg = leg_of(scenario(A, Barrier(1)), "0: waits, takes 0, calls a, takes 1; 40: #0 gives x")

    assert str(leg.rests[0].snapshot_owed) == f"{Barrier(1)} (input 1)"


def test_the_legs_of_a_trace_know_when_they_began() -> None:
    """Times of inputs are those of the scenario, times of events those of the leg."""
    planned = scenario(A, crashes=(Crash(20), Crash(30)))

    history = explain(planned, play(open_operator, planned)).history

    assert [leg.began_at for leg in history.legs] == [0, 20, 50]


def test_a_check_of_legs_counts_where_it_applied_and_names_the_leg() -> None:
    """Each finding is one place where the premise held."""
    findings: list[list[Finding]] = [[None, None], [("wrong", 7.0), None]]
    remaining = iter(findings)

    @leg_check("TEST-1")
    def judged(_leg: LegHistory) -> Iterator[Finding]:
        yield from next(remaining)

    planned = scenario(A, crashes=(Crash(20),))
    judgement = judged(explain(planned, play(open_operator, planned)).history)

    assert judgement.applied == 4
    assert [(v.text, v.at, v.leg) for v in judgement.violations] == [("wrong", 7.0, 1)]


def test_an_empty_trace_breaks_nothing_but_what_it_lacks() -> None:
    """Every check can judge a leg in which nothing happened."""
    history = explain(scenario(crashes=(Crash(0),)), Trace((Leg(Ending("crashed")),))).history

    for check in CHECKS.values():
        check(history)
