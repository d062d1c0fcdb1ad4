"""Which traces can be what a run gave, and which only a writer of traces can have made up."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace

from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import impossible
from asyncwait.reference import open_operator
from asyncwait.spec import Barrier, Record, Snapshot
from asyncwait.spec.scenario import (
    CallCancelled,
    CallEnded,
    CallStarted,
    Crash,
    Ending,
    EndingKind,
    Event,
    HandlerAsked,
    HookRun,
    Leg,
    Misuse,
    MisuseKind,
    Plan,
    PlannedRetry,
    Scenario,
    SinkGaveUp,
    SinkLeft,
    SinkStep,
    SinkTook,
    SinkWaits,
    SnapshotAsked,
    SnapshotRequest,
    SourceClosed,
    SourceEnded,
    Step,
    Taken,
    Timed,
    Trace,
)

SCENARIO = Scenario(
    inputs=(Timed(0, Record("a")), Timed(40, Record("b"))),
    plans=(
        Plan("a", (Step(after=80, results=("x",)),)),
        Plan("b", (Step("raise", 80, error="ValueError"),)),
    ),
)
SOUND = play(open_operator, SCENARIO)


@dataclass(frozen=True)
class Forgery:
    """A change to the sound trace, and what must be said of it."""

    change: Callable[[Leg], Leg]
    said: str


def changed(kind: type, **fields: object) -> Callable[[Leg], Leg]:
    """Change the first event of a kind."""

    def change(leg: Leg) -> Leg:
        number = next(n for n, event in enumerate(leg.events) if isinstance(event, kind))
        event: Event = replace(leg.events[number], **fields)
        return replace(leg, events=(*leg.events[:number], event, *leg.events[number + 1 :]))

    return change


def without(kind: type) -> Callable[[Leg], Leg]:
    """Drop all events of a kind."""
    return lambda leg: replace(leg, events=tuple(e for e in leg.events if not isinstance(e, kind)))


def begun_with(*events: Event) -> Callable[[Leg], Leg]:
    """Put events before all others."""
    return lambda leg: replace(leg, events=(*events, *leg.events))


FORGERIES = {
    "time runs backwards": Forgery(begun_with(SinkWaits(500)), "stands behind an event at 500"),
    "an input out of turn": Forgery(
        changed(Taken, index=1), "input 1 was taken, the next one is 0"
    ),
    "an input that is not there": Forgery(
        changed(Taken, index=7), "input 7 was taken, the next one is 0"
    ),
    "an input before its time": Forgery(
        lambda leg: replace(leg, events=(Taken(0, 0), Taken(0, 1))),
        "input 1 was taken before its time",
    ),
    "a call twice": Forgery(begun_with(CallStarted(0, 0, "a")), "call 0 started twice"),
    "a cancelled call that never started": Forgery(
        begun_with(CallCancelled(0, 7)), "call 7 was cancelled before it started"
    ),
    "an end without a start": Forgery(
        without(CallStarted), "call 0 ended without having started, or twice"
    ),
    "other results": Forgery(
        changed(CallEnded, results=("forged",)), "call 0 of 'a' gave ('forged',), planned is Step("
    ),
    "an error that was not planned": Forgery(
        changed(CallEnded, how="raised", results=()), "call 0 of 'a' raised, planned is Step("
    ),
    "an answer before its time": Forgery(
        begun_with(CallStarted(0, 9, "a"), CallEnded(0, 9, "returned", ("x",))),
        "call 9 of 'a' answered before its time",
    ),
    "an output that nobody waited for": Forgery(
        without(SinkWaits), "was taken by a consumer that did not wait"
    ),
    "another mode": Forgery(
        lambda leg: replace(leg, mode="unordered"),
        "unordered, capacity 4; planned is ordered, capacity 4",
    ),
    "another capacity": Forgery(
        lambda leg: replace(leg, capacity=9), "ordered, capacity 9; planned is"
    ),
    "another snapshot": Forgery(
        lambda leg: replace(leg, restored=Snapshot(1)), "it was restored from Snapshot("
    ),
}


def test_the_trace_of_a_run_is_possible() -> None:
    """Whatever the operator did."""
    assert impossible(SCENARIO, SOUND) is None


@pytest.mark.parametrize("name", FORGERIES)
def test_what_the_plan_rules_out_is_impossible(name: str) -> None:
    """The message says what was seen, and what the plan has there."""
    forgery = FORGERIES[name]

    why = impossible(SCENARIO, Trace((forgery.change(SOUND.legs[0]),)))

    assert why is not None
    assert why.startswith("leg 0: ")
    assert forgery.said in why


def test_a_trace_has_a_leg() -> None:
    """Even of an operator that does nothing."""
    assert impossible(SCENARIO, Trace(())) == "it has no leg"


def test_a_trace_has_no_more_legs_than_the_plan() -> None:
    """One more than there are crashes, at most."""
    crashing = replace(SCENARIO, crashes=(Crash(20),))

    assert impossible(crashing, play(open_operator, crashing)) is None
    assert impossible(crashing, Trace(SOUND.legs * 3)) == (
        "it has 3 legs, the scenario crashes 1 time"
    )


PLANNED = Scenario(
    inputs=(Timed(0, Record("a")), Timed(40, Record("b"))),
    plans=(
        Plan("a", (Step("never", swallow=True, clean_up=40, results=("late",)),)),
        Plan("b", (Step("raise", 80, error="ValueError"),)),
        Plan("c", (Step("misreturn", 80, error="text"),)),
        Plan("d", (Step("never"),)),
    ),
    source_ends_at=120,
    requests=(SnapshotRequest(40, 100),),
)
ALL_TAKEN = (Taken(0, 0), Taken(40, 1))
CANCELLED = (CallStarted(0, 0, "a"), CallCancelled(40, 0))


def leg_of(*events: Event, how: EndingKind = "hung", at: float = 500, **fields: Any) -> Leg:
    """A leg with these events and no others."""
    return Leg(Ending(how, at), events, **fields)


@dataclass(frozen=True)
class Case:
    """Some events, and what is impossible in them; nothing for what is possible."""

    events: tuple[Event, ...]
    said: str | None
    changes: Mapping[str, Any] = field(default_factory=dict)


def call_of(value: str, *, at: float, how: Any) -> tuple[Event, ...]:
    """A call that began at 0."""
    return (CallStarted(0, 0, value), CallEnded(at, 0, how))


CASES = {
    "an error of a call that never answers": Case(
        call_of("d", at=80, how="raised"), "call 0 of 'd' raised, planned is Step("
    ),
    "no error where one is planned": Case(
        call_of("b", at=80, how="misreturned"), "call 0 of 'b' misreturned, planned is Step("
    ),
    "an error before its time": Case(
        call_of("b", at=40, how="raised"), "call 0 of 'b' answered before its time"
    ),
    "an error in time": Case(call_of("b", at=80, how="raised"), None),
    "a misreturn before its time": Case(
        call_of("c", at=40, how="misreturned"), "call 0 of 'c' answered before its time"
    ),
    "an answer of a call that nobody has cancelled": Case(
        (CallStarted(0, 0, "a"), CallEnded(80, 0, "returned", ("late",))),
        "call 0 of 'a' gave ('late',), planned is Step(",
    ),
    "an answer after a swallowed cancellation": Case(
        (*CANCELLED, CallEnded(80, 0, "returned", ("late",))), None
    ),
    "an answer before the clean-up is over": Case(
        (*CANCELLED, CallEnded(79, 0, "returned", ("late",))),
        "call 0 of 'a' answered before its time",
    ),
    "a cancelled call": Case((*CANCELLED, CallEnded(40, 0, "cancelled")), None),
    "two takes on one wait": Case(
        (SinkWaits(0), SinkTook(0, Record("x")), SinkTook(40, Record("y"))),
        "Record 'y' was taken, the consumer did not wait again",
    ),
    "two takes in one instant": Case(
        (SinkWaits(0), SinkTook(40, Record("x")), SinkTook(40, Record("y"))), None
    ),
    "a take after giving up": Case(
        (SinkWaits(0), SinkGaveUp(40), SinkTook(40, Record("x"))),
        "Record 'x' was taken by a consumer that did not wait",
    ),
    "a handler": Case((HandlerAsked(0, "a"),), "a handler was asked for 'a', none is planned"),
    "a planned handler": Case((HandlerAsked(0, "a"),), None, {"handled": True}),
    "a hook": Case((HookRun(0, "open"),), "open ran, no hook is planned"),
    "a planned hook": Case((HookRun(0, "open"),), None, {"hooks": "plain"}),
    "a snapshot asked for": Case(
        (SnapshotAsked(40, 101),), "snapshot 101 was asked for, that is not planned, or not yet"
    ),
    "a snapshot asked for too early": Case(
        (SnapshotAsked(39, 100),), "snapshot 100 was asked for, that is not planned, or not yet"
    ),
    "a snapshot asked for twice": Case(
        (SnapshotAsked(40, 100), SnapshotAsked(40, 100)), "snapshot 100 was asked for, that is not"
    ),
    "a planned snapshot": Case((SnapshotAsked(40, 100),), None),
    "a source error": Case(
        (*ALL_TAKEN, SourceEnded(120, raised=True)), "the source raised, that is not planned"
    ),
    "a source without its error": Case(
        (*ALL_TAKEN, SourceEnded(120)),
        "the source ended without its error, that is not planned",
        {"source_error": "own"},
    ),
    "an end before the last input": Case(
        (Taken(0, 0), SourceEnded(120)), "the source ended before input 1"
    ),
    "an end before its time": Case(
        (*ALL_TAKEN, SourceEnded(119)), "the source ended before its time"
    ),
    "an end in time, and again": Case((*ALL_TAKEN, SourceEnded(120), SourceEnded(120)), None),
    "an end after closing": Case((SourceClosed(0), SourceEnded(0)), None),
    "leaving": Case((SinkLeft(40),), "the consumer left at 40, that is not planned"),
    "leaving too early": Case(
        (SinkLeft(39),), "the consumer left at 39, that is not planned", {"cancel_at": 40}
    ),
    "being cancelled": Case((SinkLeft(40),), None, {"cancel_at": 40}),
    "leaving by the script": Case((SinkLeft(0),), None, {"sink": (SinkStep("leave"),)}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_plan_is_followed_to_the_letter(name: str) -> None:
    """What it does not foresee has not happened; what it leaves open may have."""
    case = CASES[name]
    scenario = replace(PLANNED, **case.changes)

    why = impossible(scenario, Trace((leg_of(*case.events),)))

    assert why is case.said is None or (why or "").startswith(f"leg 0: {case.said}")


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("left", "leg 0: it was left at 500, that is not planned"),
        ("crashed", "leg 0: it crashed at 500, that is not planned"),
    ],
)
def test_a_leg_ends_as_planned(how: EndingKind, said: str) -> None:
    """Nobody leaves and nothing crashes by itself."""
    assert impossible(PLANNED, Trace((leg_of(SinkWaits(0), how=how),))) == said


def test_on_a_real_clock_times_may_be_rounded() -> None:
    """Back to the grid, by no more than the harness was late."""
    events = (CallStarted(0, 0, "b"), CallEnded(60, 0, "raised"))

    assert impossible(PLANNED, Trace((leg_of(*events, late_by=19.5),))) is None
    assert impossible(PLANNED, Trace((leg_of(*events, late_by=5),))) is not None


CRASHING = Scenario(
    inputs=(Timed(0, Record("a")), Timed(0, Barrier(7)), Timed(0, Record("b"))),
    plans=(Plan("a", (Step(after=80, results=("x",)),)),),
    crashes=(Crash(40, capacity=2, mode="unordered"),),
)
FIRST, SECOND = play(open_operator, CRASHING).legs


def test_the_legs_of_a_run_are_possible() -> None:
    """The second begins where the first has left off."""
    assert SECOND.restored == Snapshot(7, (Record("a"),))
    assert impossible(CRASHING, Trace((FIRST, SECOND))) is None


@pytest.mark.parametrize(
    ("legs", "said"),
    [
        ((FIRST,), "leg 1 is missing: the one before crashed as planned"),
        ((SECOND,), "leg 0: unordered, capacity 2; planned is ordered, capacity 4"),
        (
            (replace(FIRST, ending=Ending("finished", 40)), SECOND),
            "leg 1: the leg before did not crash",
        ),
        (
            (replace(FIRST, ending=Ending("crashed", 39)), SECOND),
            "leg 0: it crashed at 39, that is not planned",
        ),
        (
            (FIRST, replace(SECOND, ending=Ending("crashed", 80))),
            "leg 1: it crashed at 80, that is not planned",
        ),
        ((FIRST, replace(SECOND, mode="ordered")), "leg 1: ordered, capacity 2; planned is unord"),
        ((FIRST, replace(SECOND, capacity=4)), "leg 1: unordered, capacity 4; planned is unorder"),
        ((FIRST, replace(SECOND, restored=None)), "leg 1: it was restored from None, planned is "),
        ((FIRST, replace(SECOND, first_index=3)), "leg 1: it begins with input 3, planned is 2"),
    ],
)
def test_the_legs_follow_from_each_other(legs: tuple[Leg, ...], said: str) -> None:
    """How each begins is known from the plan, and from the last snapshot before."""
    assert (impossible(CRASHING, Trace(legs)) or "possible").startswith(said)


def test_a_run_that_is_lost_has_no_further_leg() -> None:
    """Its process died; that is possible."""
    assert impossible(CRASHING, Trace((Leg(Ending("died")),))) is None
    assert impossible(CRASHING, Trace((FIRST, Leg(Ending("blocked"))))) is None


def test_an_operator_may_invent_what_it_likes() -> None:
    """Outputs and calls are the operator's own: a wrong one is a violation, not a forgery."""
    strange = begun_with(CallStarted(0, 9, "z"), SinkWaits(0), SinkTook(0, Record("nobody knows")))

    assert impossible(SCENARIO, Trace((strange(SOUND.legs[0]),))) is None


def test_all_generated_traces_are_possible(quick_scenarios: tuple[Scenario, ...]) -> None:
    """No honest run is taken for a forgery."""
    for scenario in quick_scenarios[:200]:
        assert impossible(scenario, play(open_operator, scenario)) is None


EQUAL = Scenario(
    retry=PlannedRetry(),
    timeout=400,
    handled=True,
    inputs=(Timed(0, Record("a")), Timed(0, Record("a")), Timed(0, Record("b"))),
    plans=(Plan("a", (Step("raise", 40), Step("never"))),),
)


def about(number: int | None, kind: type) -> Trace:
    """What the reference does with it, with another number in the last event of a kind."""
    trace = play(open_operator, EQUAL)
    (leg,) = trace.legs
    last = max(seq for seq, event in enumerate(leg.events) if isinstance(event, kind))
    event: Any = leg.events[last]
    forged = (*leg.events[:last], replace(event, record=number), *leg.events[last + 1 :])
    return Trace((replace(leg, events=forged),))


@pytest.mark.parametrize("kind", [CallStarted, HandlerAsked])
@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, None),
        (2, 'is about record 2, whose value is "b"'),
        (3, "is about record 3, there are 3 so far"),
        (None, "does not tell which record it is about"),
    ],
)
def test_a_trace_of_retries_tells_which_record_a_call_is_for(
    kind: type, number: int | None, said: str | None
) -> None:
    """Where values are equal, nobody else can; where they are not, it may be left out."""
    found = impossible(EQUAL, about(number, kind))

    assert found == said if said is None else found is not None and found.endswith(said)


def test_calls_of_values_that_are_not_equal_need_no_number() -> None:
    """The value says it."""
    apart = replace(EQUAL, inputs=EQUAL.inputs[1:])
    trace = play(open_operator, apart)
    (leg,) = trace.legs
    events: list[Any] = list(leg.events)
    told = [replace(e, record=None) if isinstance(e, CallStarted) else e for e in events]

    assert impossible(apart, Trace((replace(leg, events=tuple(told)),))) is None


@pytest.mark.parametrize(
    ("what", "said"), [("copied", None), ("spoiled", "does not tell which record it is about")]
)
def test_only_where_a_copy_was_handed_on_nobody_knows_the_record(
    what: MisuseKind, said: str | None
) -> None:
    """Another misuse is no excuse for a trace that does not tell it."""
    trace = about(None, CallStarted)
    (leg,) = trace.legs
    misuse = Misuse(0, what, "in some way")
    found = impossible(EQUAL, Trace((replace(leg, events=(misuse, *leg.events)),)))

    assert found == said if said is None else found is not None and found.endswith(said)
