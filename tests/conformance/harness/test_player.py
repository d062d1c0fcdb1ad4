"""A scenario is played leg by leg: what each leg is given, and what is written down."""

from collections.abc import Sequence

import pytest

from asyncwait.conformance.harness import play, play_leg
from asyncwait.reference import open_operator
from asyncwait.spec import Barrier, Record, Snapshot
from asyncwait.spec.scenario import (
    CallCancelled,
    CallEnded,
    CallStarted,
    Closed,
    Crash,
    Ending,
    Event,
    Handler,
    HandlerAsked,
    HookRun,
    Leg,
    LegStart,
    Plan,
    Scenario,
    SinkGaveUp,
    SinkLeft,
    SinkStep,
    SinkTook,
    SnapshotAsked,
    SnapshotRequest,
    SourceClosed,
    SourceEnded,
    Step,
    Taken,
    Timed,
    last_snapshot,
    next_leg,
)

A = Timed(0, Record("a"))


def answering(step: Step, **changes: object) -> Scenario:
    """A scenario with one record, whose call does as `step` says."""
    fields = {"inputs": (A,), "plans": (Plan("a", (step,), Handler("reply", ("late",))),)}
    return Scenario(**{**fields, **changes})  # type: ignore[arg-type]


def leg_of(scenario: Scenario) -> Leg:
    """The first leg of a run of the reference."""
    return play(open_operator, scenario).legs[0]


def of(leg: Leg, *kinds: type) -> Sequence[Event]:
    """The events of these kinds."""
    return [event for event in leg.events if isinstance(event, kinds)]


def test_a_call_that_replies_is_written_down_with_its_results() -> None:
    """And with the instants in which it began and ended."""
    leg = leg_of(answering(Step(after=40, results=("x", "y"))))

    assert of(leg, CallStarted, CallEnded) == [
        CallStarted(0, 0, "a"),
        CallEnded(40, 0, "returned", ("x", "y")),
    ]
    assert of(leg, SinkTook) == [SinkTook(40, Record("x")), SinkTook(40, Record("y"))]
    assert leg.ending == Ending("finished", 40, again="stop", after="stop")


@pytest.mark.parametrize(
    ("step", "how", "error", "cause"),
    [
        (Step("raise", 40, error="ValueError"), "raised", "CallFailed", "ValueError"),
        (Step("raise", error="StopIteration"), "raised", "CallFailed", "StopIteration"),
        (Step("raise", 40, error="Unpicklable"), "raised", "CallFailed", "Unpicklable"),
        (Step("misreturn", 40, error="none"), "misreturned", "InvalidResult", ""),
        (Step("misreturn", 40, error="broken"), "misreturned", "CallFailed", "Planned"),
    ],
)
@pytest.mark.parametrize("form", ["coroutine", "callback"])
def test_a_call_that_fails_is_written_down_with_what_the_consumer_gets(
    step: Step, how: str, error: str, cause: str, form: str
) -> None:
    """The canonical error, its record, its cause, and what comes after it."""
    leg = leg_of(answering(step, form=form))

    ending = leg.ending
    assert of(leg, CallEnded) == [CallEnded(step.after, 0, how)]  # type: ignore[arg-type]
    assert (ending.how, ending.at, ending.error) == ("failed", step.after, error)
    assert (ending.record, ending.again, ending.after) == (Record("a"), "same", "same")
    if step.error != "StopIteration":
        assert ending.cause == cause


@pytest.mark.parametrize("form", ["coroutine", "callback"])
def test_an_answer_from_a_thread_takes_no_virtual_time(form: str) -> None:
    """The clock stands still while the thread runs."""
    leg = leg_of(answering(Step(after=40, results=("x",), thread=True), form=form))

    assert of(leg, SinkTook) == [SinkTook(40, Record("x"))]


def test_a_cancelled_call_cleans_up_and_ends() -> None:
    """The cancellation and the end are two events."""
    leg = leg_of(answering(Step("never", clean_up=20), timeout=40, handled=True))

    assert of(leg, HandlerAsked, CallCancelled, CallEnded) == [
        HandlerAsked(40, "a"),
        CallCancelled(40, 0),
        CallEnded(60, 0, "cancelled"),
    ]
    assert of(leg, SinkTook) == [SinkTook(40, Record("late"))]


def test_a_call_that_swallows_its_cancellation_returns_all_the_same() -> None:
    """Its results are those of its plan."""
    step = Step("never", results=("x",), swallow=True, clean_up=20)

    leg = leg_of(answering(step, timeout=40, handled=True))

    assert of(leg, CallCancelled, CallEnded) == [
        CallCancelled(40, 0),
        CallEnded(60, 0, "returned", ("x",)),
    ]


def test_the_calls_of_a_value_follow_its_steps() -> None:
    """And the last step once they run out."""
    steps = (Step(results=("one",)), Step(results=("two",)))
    scenario = Scenario(inputs=(A, A, A), plans=(Plan("a", steps),))

    assert [event.element for event in of(leg_of(scenario), SinkTook)] == [  # type: ignore[union-attr]
        Record("one"),
        Record("two"),
        Record("two"),
    ]


@pytest.mark.parametrize("hooks", ["plain", "coroutine"])
def test_hooks_are_written_down_round_all_calls(hooks: str) -> None:
    """Whichever form they have."""
    leg = leg_of(answering(Step(results=("x",)), hooks=hooks))

    assert [
        event.hook if isinstance(event, HookRun) else "call"
        for event in of(leg, HookRun, CallStarted)
    ] == ["open", "call", "close"]


def test_the_source_gives_each_element_at_its_time_and_then_its_end() -> None:
    """And notes that it is closed."""
    scenario = Scenario(inputs=(A, Timed(40, Record("b"))), source_ends_at=80)

    assert of(leg_of(scenario), Taken, SourceEnded, SourceClosed) == [
        Taken(0, 0),
        Taken(40, 1),
        SourceEnded(80),
        SourceClosed(80),
    ]


def test_an_error_of_the_source_is_known_by_its_identity() -> None:
    """The very object comes out, or not."""
    leg = leg_of(Scenario(inputs=(A,), source_error="own"))

    assert (leg.ending.error, leg.ending.unchanged) == ("PlannedSourceError", True)
    assert of(leg, SourceEnded) == [SourceEnded(0, raised=True)]


def test_the_consumer_follows_its_script() -> None:
    """It gives up, pauses, reads, leaves; and nothing is written after it has left."""
    sink = (SinkStep("give_up", 20), SinkStep("pause", 60), SinkStep("read", 1), SinkStep("leave"))
    scenario = answering(Step(after=40, results=("x", "y")), sink=sink)

    leg = leg_of(scenario)

    assert of(leg, SinkGaveUp, SinkTook, SinkLeft, Closed) == [
        SinkGaveUp(20),
        SinkTook(80, Record("x")),
        SinkLeft(80),
        Closed(80),
    ]
    assert leg.ending == Ending("left", 80, after="stop")


def test_a_cancelled_consumer_leaves_at_its_time() -> None:
    """Whatever it was waiting for."""
    leg = leg_of(answering(Step("never"), cancel_at=40))

    assert (leg.ending.how, leg.ending.at) == ("left", 40)
    assert of(leg, SinkLeft) == [SinkLeft(40)]


def test_a_snapshot_is_asked_for_at_its_time() -> None:
    """By the harness, not by the source."""
    leg = leg_of(answering(Step(after=80), requests=(SnapshotRequest(40, 7),)))

    assert of(leg, SnapshotAsked) == [SnapshotAsked(40, 7)]
    assert of(leg, SinkTook) == [SinkTook(40, Snapshot(7, (Record("a"),), read=1))]


CRASHING = Scenario(
    capacity=4,
    inputs=(A, Timed(0, Barrier(1)), Timed(60, Record("b")), Timed(200, Record("c"))),
    plans=(Plan("a", (Step(after=100, results=("x",)),)),),
    crashes=(Crash(80, capacity=2), Crash(50, mode="unordered")),
)


def test_a_leg_begins_with_the_last_snapshot_and_the_input_behind_it() -> None:
    """Its times go on where the crash was, and nothing waits for what is long past."""
    first = LegStart.first(CRASHING)
    second = next_leg(first, play_leg(open_operator, first))

    assert second is not None
    assert second.restored == Snapshot(1, (Record("a"),))
    assert (second.first_index, second.began_at) == (2, 80)
    assert second.inputs == (Timed(0, Record("b")), Timed(120, Record("c")))
    assert (second.config.capacity, second.config.mode) == (2, "ordered")


def test_changes_of_the_configuration_stay_until_the_next_ones() -> None:
    """Each crash may change mode or capacity, or neither."""
    trace = play(open_operator, CRASHING)

    assert [(leg.mode, leg.capacity, leg.ending.how) for leg in trace.legs] == [
        ("ordered", 4, "crashed"),
        ("ordered", 2, "crashed"),
        ("unordered", 2, "finished"),
    ]


def test_without_a_snapshot_a_leg_begins_anew() -> None:
    """From where its predecessor had begun."""
    crashing = answering(Step(after=80, results=("x",)), crashes=(Crash(40),))

    trace = play(open_operator, crashing)

    assert [(leg.first_index, leg.restored) for leg in trace.legs] == [(0, None), (0, None)]
    assert of(trace.legs[1], SinkTook) == [SinkTook(80, Record("x"))]


def test_a_snapshot_on_request_says_itself_where_the_input_goes_on() -> None:
    """A barrier's place in the input says it for the others."""
    plan = LegStart(CRASHING, first_index=1)
    requested = Snapshot(7, read=2)
    leg = Leg(Ending("crashed"), (SinkTook(0, Snapshot(1)), SinkTook(0, requested)))

    assert last_snapshot(plan, leg) == (requested, 3)


def test_a_run_that_ends_before_its_crash_has_one_leg() -> None:
    """There is nothing left to crash."""
    trace = play(open_operator, answering(Step(results=("x",)), crashes=(Crash(400),)))

    assert [leg.ending.how for leg in trace.legs] == ["finished"]
