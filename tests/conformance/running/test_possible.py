"""Which traces can be what a run gave, and which only a writer of traces can have made up."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from asyncwait.conformance.harness import play
from asyncwait.conformance.running import impossible
from asyncwait.reference import open_operator
from asyncwait.spec import Record, Snapshot
from asyncwait.spec.scenario import (
    CallCancelled,
    CallEnded,
    CallStarted,
    Crash,
    Event,
    Leg,
    Plan,
    Scenario,
    SinkTook,
    SinkWaits,
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
        "it has 3 legs, the scenario crashes 1 times"
    )


def test_an_operator_may_invent_what_it_likes() -> None:
    """Outputs and calls are the operator's own: a wrong one is a violation, not a forgery."""
    strange = begun_with(CallStarted(0, 9, "z"), SinkWaits(0), SinkTook(0, Record("nobody knows")))

    assert impossible(SCENARIO, Trace((strange(SOUND.legs[0]),))) is None


def test_all_generated_traces_are_possible(quick_scenarios: tuple[Scenario, ...]) -> None:
    """No honest run is taken for a forgery."""
    for scenario in quick_scenarios[:200]:
        assert impossible(scenario, play(open_operator, scenario)) is None
