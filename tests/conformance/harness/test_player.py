"""A scenario is played leg by leg: what each leg is given, and what is written down."""

from collections.abc import Sequence
from typing import Any

import pytest

from asyncwait.conformance.evidence import at, replies, told
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
    last_snapshot,
    next_leg,
)

A = Record("a")


def answering(step: Step, **changes: object) -> Scenario:
    """A scenario with one record, whose call does as `step` says."""
    fields = {"inputs": at(0, A), "plans": (Plan("a", (step,), Handler("reply", ("late",))),)}
    return Scenario(**{**fields, **changes})  # type: ignore[arg-type]


def leg_of(scenario: Scenario) -> Leg:
    """The first leg of a run of the reference."""
    return play(open_operator, scenario).legs[0]


def of(leg: Leg, *kinds: type) -> Sequence[Event]:
    """The events of these kinds."""
    return [event for event in leg.events if isinstance(event, kinds)]


CALLS = (CallStarted, HandlerAsked, CallCancelled, CallEnded, HookRun)
SOURCE = (Taken, SourceEnded, SourceClosed)
CONSUMER = (SinkGaveUp, SinkTook, SinkLeft, Closed, SnapshotAsked)
LATE = {"timeout": 40, "handled": True}
SCRIPT = (SinkStep("give_up", 20), SinkStep("pause", 60), SinkStep("read", 1), SinkStep("leave"))


@pytest.mark.parametrize(
    ("scenario", "kinds", "events"),
    [
        # A call with the instants in which it began and ended, and with its results;
        (
            answering(Step(after=40, results=("x", "y"))),
            (*CALLS, SinkTook),
            "0: calls a; 40: #0 gives x y, gets x, gets y",
        ),
        # an answer from a thread takes no virtual time, the clock stands still meanwhile;
        *(
            (
                answering(Step(after=40, results=("x",), thread=True), form=form),
                (SinkTook,),
                "40: gets x",
            )
            for form in ("coroutine", "callback")
        ),
        # its cancellation and its end are two events;
        (
            answering(Step("never", clean_up=20), **LATE),
            CALLS,
            "0: calls a; 40: asks a, #0 told; 60: #0 ends",
        ),
        # one that swallows it returns what is planned all the same.
        (
            answering(Step("never", results=("x",), swallow=True, clean_up=20), **LATE),
            CALLS,
            "0: calls a; 40: asks a, #0 told; 60: #0 gives x",
        ),
        # The calls of a value follow its steps, and the last step once they run out.
        (
            Scenario(
                inputs=at(0, A, A, A),
                plans=(Plan("a", (Step(results=("one",)), Step(results=("two",)))),),
            ),
            (SinkTook,),
            "0: gets one, gets two, gets two",
        ),
        # Hooks run round all calls, whichever form they have.
        *(
            (
                answering(Step(results=("x",)), hooks=hooks),
                CALLS,
                "0: hook open, calls a, #0 gives x, hook close",
            )
            for hooks in ("plain", "coroutine")
        ),
        # The source gives each element at its time and then its end, and is closed.
        (
            Scenario(inputs=at(0, A) + at(40, Record("b")), source_ends_at=80),
            SOURCE,
            "0: takes 0; 40: takes 1; 80: end, closes",
        ),
        # The consumer follows its script, and nothing is written after it has left.
        (
            answering(Step(after=40, results=("x", "y")), sink=SCRIPT),
            CONSUMER,
            "20: gives up; 80: gets x, left, closed",
        ),
        # A cancelled one leaves at its time, whatever it was waiting for.
        (answering(Step("never"), cancel_at=40), CONSUMER, "40: left, closed"),
        # A snapshot is asked for by the harness, not by the source.
        (
            answering(Step(after=80), requests=(SnapshotRequest(40, 7),)),
            CONSUMER,
            "40: wants 7, gets |7(a)=1; 80: closed",
        ),
    ],
)
def test_what_happens_is_written_down(
    scenario: Scenario, kinds: tuple[type, ...], events: str
) -> None:
    """As planned."""
    assert of(leg_of(scenario), *kinds) == list(told(events))


@pytest.mark.parametrize(
    ("scenario", "ending"),
    [
        (answering(Step(after=40)), Ending("finished", 40, again="stop", after="stop")),
        (answering(Step(after=40, results=("x",)), sink=SCRIPT), Ending("left", 80, after="stop")),
        (answering(Step("never"), cancel_at=40), Ending("left", 40, after="stop")),
    ],
)
def test_how_a_leg_ends_is_written_down(scenario: Scenario, ending: Ending) -> None:
    """With what a further read gives."""
    assert leg_of(scenario).ending == ending


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
    step: Step, how: Any, error: str, cause: str, form: str
) -> None:
    """The canonical error, its record, its cause, and what comes after it."""
    leg = leg_of(answering(step, form=form))

    ending = leg.ending
    assert of(leg, CallEnded) == [CallEnded(step.after, 0, how)]
    assert (ending.how, ending.at, ending.error) == ("failed", step.after, error)
    assert (ending.record, ending.again, ending.after) == (A, "same", "same")
    if step.error != "StopIteration":
        assert ending.cause == cause


def test_an_error_of_the_source_is_known_by_its_identity() -> None:
    """The very object comes out, or not."""
    leg = leg_of(Scenario(inputs=at(0, A), source_error="own"))

    assert (leg.ending.error, leg.ending.unchanged) == ("PlannedSourceError", True)
    assert of(leg, SourceEnded) == [SourceEnded(0, raised=True)]


CRASHING = Scenario(
    capacity=4,
    inputs=at(0, A, Barrier(1)) + at(60, Record("b")) + at(200, Record("c")),
    plans=(replies("a", 100, "x"),),
    crashes=(Crash(80, capacity=2), Crash(50, mode="unordered")),
)


def test_a_leg_begins_with_the_last_snapshot_and_the_input_behind_it() -> None:
    """Its times go on where the crash was, and nothing waits for what is long past."""
    first = LegStart.first(CRASHING)
    second = next_leg(first, play_leg(open_operator, first))

    assert second is not None
    assert second.restored == Snapshot(1, (A,))
    assert (second.first_index, second.began_at) == (2, 80)
    assert second.inputs == at(0, Record("b")) + at(120, Record("c"))
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
    trace = play(open_operator, answering(Step(after=80, results=("x",)), crashes=(Crash(40),)))

    assert [(leg.first_index, leg.restored) for leg in trace.legs] == [(0, None), (0, None)]
    assert of(trace.legs[1], SinkTook) == [SinkTook(80, Record("x"))]


def test_a_snapshot_on_request_says_itself_where_the_input_goes_on() -> None:
    """A barrier's place in the input says it for the others."""
    plan = LegStart(CRASHING, first_index=1)
    leg = Leg(Ending("crashed"), told("0: gets |1, gets |7=2"))

    assert last_snapshot(plan, leg) == (Snapshot(7, read=2), 3)


def test_a_run_that_ends_before_its_crash_has_one_leg() -> None:
    """There is nothing left to crash."""
    trace = play(open_operator, answering(Step(results=("x",)), crashes=(Crash(400),)))

    assert [leg.ending.how for leg in trace.legs] == ["finished"]
