"""A leg as the checks see it: what belongs to what, what was decided when, what was open when."""

from collections.abc import Iterator

import pytest

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import (
    NEVER,
    Finding,
    LegHistory,
    explain,
    leg_check,
)
from asyncwait.reference import open_operator
from asyncwait.spec import Barrier, Element, Record, Snapshot, Watermark
from asyncwait.spec.scenario import (
    CallEnded,
    CallStarted,
    Crash,
    Ending,
    Event,
    Handler,
    Leg,
    Plan,
    Scenario,
    SinkLeft,
    SinkTook,
    SinkWaits,
    Step,
    Taken,
    Timed,
    Trace,
)

A, B = Record("a", 1), Record("a", 2)


def scenario(*elements: Element, **changes: object) -> Scenario:
    """A scenario in which all elements are there at once and each "a" gives "x" after 40 ms."""
    plans = (Plan("a", (Step(after=40, results=("x",)),), Handler("reply", ("late",))),)
    inputs = tuple(Timed(0, element) for element in elements)
    return Scenario(**{"inputs": inputs, "plans": plans, **changes})  # type: ignore[arg-type]


def leg_of(planned: Scenario, *events: Event, how: str = "finished") -> LegHistory:
    """A leg with these events, as the checks see it."""
    at = events[-1].at if events else 0
    leg = Leg(Ending(how, at), events, mode=planned.mode, capacity=planned.capacity)  # type: ignore[arg-type]
    (history,) = explain(planned, Trace((leg,))).history.legs
    return history


def took(at: float, value: object, timestamp: int | None = None) -> SinkTook:
    """The consumer takes a record."""
    return SinkTook(at, Record(value, timestamp))


def test_the_calls_of_a_value_belong_to_its_records_in_order() -> None:
    """The first call of "a" is the one of the first record "a"."""
    leg = leg_of(
        scenario(A, B), Taken(0, 0), Taken(0, 1), CallStarted(0, 0, "a"), CallStarted(5, 1, "a")
    )

    assert [item.call.at for item in leg.records if item.call is not None] == [0, 5]


def test_a_call_of_no_record_is_set_apart() -> None:
    """A record has one call; a second one has to be somebody's fault."""
    leg = leg_of(scenario(A), Taken(0, 0), CallStarted(0, 0, "a"), CallStarted(0, 1, "a"))

    assert [call.number for call in leg.extra_calls] == [1]


def test_a_record_is_decided_when_its_call_ends() -> None:
    """With what its call gave."""
    leg = leg_of(
        scenario(A), Taken(0, 0), CallStarted(0, 0, "a"), CallEnded(40, 0, "returned", ("x",))
    )

    (item,) = leg.records
    assert (item.decided_at, item.results, item.wrong, item.timed_out) == (40, ("x",), "", False)


def test_a_record_is_decided_at_its_deadline_with_what_its_handler_gives() -> None:
    """Whether or not the operator asked the handler: that is for a check to find."""
    planned = scenario(A, timeout=20, handled=True)
    leg = leg_of(planned, Taken(0, 0), CallStarted(0, 0, "a"), SinkWaits(30))

    (item,) = leg.records
    assert (item.decided_at, item.results, item.timed_out) == (20, ("late",), True)


def test_a_record_without_an_outcome_is_undecided() -> None:
    """For ever, as far as this leg can tell."""
    leg = leg_of(scenario(A), Taken(0, 0), CallStarted(0, 0, "a"))

    (item,) = leg.records
    assert (item.decided_at, item.results) == (NEVER, None)


def test_outputs_belong_to_the_record_whose_timestamp_they_carry() -> None:
    """Of records with equal results the one with the right timestamp is meant."""
    leg = leg_of(
        scenario(A, B, mode="unordered"),
        Taken(0, 0),
        Taken(0, 1),
        CallStarted(0, 0, "a"),
        CallStarted(0, 1, "a"),
        CallEnded(40, 0, "returned", ("x",)),
        CallEnded(40, 1, "returned", ("x",)),
        SinkWaits(40),
        took(40, "x", 2),
        SinkWaits(40),
        took(40, "x", 1),
    )

    assert [output.item.index for output in leg.outputs if output.item is not None] == [1, 0]
    assert [output.trouble for output in leg.outputs] == ["", ""]


def test_what_came_before_a_deadline_does_not_belong_to_a_record_it_decided() -> None:
    """Of equal records with equal results, one that was decided by then is meant.

    So it is even where no handler was asked at the deadline: the consumer was gone by then.
    """
    leg = leg_of(
        scenario(A, A, mode="unordered", timeout=60, handled=True),
        Taken(0, 0),
        Taken(0, 1),
        CallStarted(0, 0, "a"),
        CallStarted(0, 1, "a"),
        CallEnded(40, 1, "returned", ("late",)),
        SinkWaits(40),
        took(40, "late", 1),
        SinkLeft(60),
        how="left",
    )

    assert [item.decided_at for item in leg.records] == [60, 40]
    assert [output.item.index for output in leg.outputs if output.item is not None] == [1]


def test_what_a_snapshot_still_holds_has_not_come_out_before_it() -> None:
    """Of records with the same results it tells which one gave them."""
    plans = (Plan("a", (Step(after=40, results=("x",)),)), Plan("b", (Step(results=("x",)),)))
    leg = leg_of(
        scenario(A, Record("b", 1), mode="unordered", plans=plans),
        Taken(0, 0),
        Taken(0, 1),
        CallStarted(0, 0, "a"),
        CallStarted(0, 1, "b"),
        CallEnded(0, 1, "returned", ("x",)),
        CallEnded(40, 0, "returned", ("x",)),
        SinkWaits(40),
        took(40, "x", 1),
        SinkWaits(40),
        SinkTook(40, Snapshot(1, (A,))),
        SinkWaits(40),
        took(40, "x", 1),
    )

    assert [output.item.index for output in leg.outputs if output.item is not None] == [1, 0]


def test_a_snapshot_that_came_before_tells_nothing() -> None:
    """What it held and what it did not hold come out behind it, the earliest first."""
    plans = (Plan("a", (Step(results=("x",)),)), Plan("b", (Step(results=("x",)),)))
    leg = leg_of(
        scenario(A, Record("b", 1), mode="unordered", plans=plans),
        Taken(0, 0),
        Taken(0, 1),
        CallStarted(0, 0, "a"),
        CallStarted(0, 1, "b"),
        CallEnded(0, 0, "returned", ("x",)),
        CallEnded(0, 1, "returned", ("x",)),
        SinkTook(0, Snapshot(1, (A,))),
        took(0, "x", 1),
        took(0, "x", 1),
    )

    assert [output.item.index for output in leg.outputs if output.item is not None] == [0, 1]


def test_calls_that_ran_on_too_many_for_a_moment_are_not_what_failed_the_operator() -> None:
    """It has failed by those that ran on until then, or for long."""
    planned = scenario(A, A, A, A, capacity=1, timeout=10, handled=True)
    times = ((0, 21), (10, 21), (20, 60), (30, 60))
    begun = [(since, CallStarted(since, n, "a")) for n, (since, _) in enumerate(times)]
    ended = [(until, CallEnded(until, n, "cancelled")) for n, (_, until) in enumerate(times)]
    events = [event for _, event in sorted([*begun, *ended], key=lambda each: each[0])]
    ending = Ending("failed", 45, "TooManyAbandonedCalls")
    leg = Leg(ending, (*(Taken(0, n) for n in range(4)), *events), mode="ordered", capacity=1)
    (history,) = explain(planned, Trace((leg,))).history.legs

    assert history.overloaded_at == 40


@pytest.mark.parametrize(
    ("extra", "trouble"), [(took(40, "x", 1), "repeated"), (took(40, "z", 1), "invented")]
)
def test_an_output_of_no_record_is_trouble(extra: SinkTook, trouble: str) -> None:
    """What came twice is told from what never was."""
    leg = leg_of(
        scenario(A),
        Taken(0, 0),
        CallStarted(0, 0, "a"),
        CallEnded(40, 0, "returned", ("x",)),
        SinkWaits(40),
        took(40, "x", 1),
        SinkWaits(40),
        extra,
    )

    assert [output.trouble for output in leg.outputs] == ["", trouble]


def test_a_moment_of_rest_is_the_end_of_an_instant() -> None:
    """Within one instant nothing is judged but cause before effect."""
    leg = leg_of(
        scenario(A, Watermark(1)),
        SinkWaits(0),
        Taken(0, 0),
        CallStarted(0, 0, "a"),
        Taken(0, 1),
        CallEnded(40, 0, "returned", ("x",)),
        took(40, "x", 1),
        SinkWaits(40),
        SinkTook(80, Watermark(1)),
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
    leg = leg_of(
        scenario(A, Barrier(1)),
        SinkWaits(0),
        Taken(0, 0),
        CallStarted(0, 0, "a"),
        Taken(0, 1),
        CallEnded(40, 0, "returned", ("x",)),
    )

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
