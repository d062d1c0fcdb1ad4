"""Which traces can be what a run gave, and which only a writer of traces can have made up."""

from typing import Any, TypeAlias

import pytest
from msgspec.structs import replace

from asyncwait.conformance.evidence import scenario_of, told
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import impossible
from asyncwait.reference import open_operator
from asyncwait.spec import Record
from asyncwait.spec.scenario import (
    CallStarted,
    Ending,
    EndingKind,
    Event,
    HandlerAsked,
    Leg,
    Misuse,
    MisuseKind,
    Scenario,
    SinkStep,
    Trace,
)

A = Record("a")
PLANNED = scenario_of(
    "0: a; 40: b; a: outlives 40 late; b: 80 raises; c: 80 misreturns text; d: never; "
    "source_ends_at 120; requests 40 100"
)


Happened: TypeAlias = str | tuple[Event, ...]


def leg_of(events: Happened, how: EndingKind = "hung", at: float = 500, **fields: Any) -> Leg:
    return Leg(Ending(how, at), told(events) if isinstance(events, str) else events, **fields)


CASES: dict[str, tuple[Happened, str | None, dict[str, Any]]] = {
    "time that runs backwards": (
        "500: waits; 0: waits", '{"type":"waits","at":0.0} stands behind an event at 500', {}
    ),
    "an input out of turn": ("0: takes 1", "input 1 was taken, the next one is 0", {}),
    "an input that is not there": ("0: takes 7", "input 7 was taken, the next one is 0", {}),
    "an input before its time": ("0: takes 0 1", "input 1 was taken before its time", {}),
    "a call twice": (
        (CallStarted(0, 0, "a"), CallStarted(0, 0, "a")), "call 0 started twice", {}
    ),
    "a cancelled call that never started": (
        "0: #7 told", "call 7 was cancelled before it started", {}
    ),
    "an end without a start": (
        "0: #7 gives x", "call 7 ended without having started, or twice", {}
    ),
    "an end twice": (
        "0: calls b; 80: #0 raises, #0 raises", "call 0 ended without having started, or twice", {}
    ),
    "other results": (
        "0: calls a; 40: #0 told; 80: #0 gives x", 'call 0 of "a" gave ["x"], planned is {', {}
    ),
    # Outputs and calls are the operator's own: a wrong one is a violation, not a forgery.
    "calls and outputs that nobody has planned": (
        "0: calls z, waits, gets nobody-knows", None, {}
    ),
    "an error of a call that never answers": (
        "0: calls d; 80: #0 raises", 'call 0 of "d" raised, planned is {', {}
    ),
    "no error where one is planned": (
        "0: calls b; 80: #0 misreturns", 'call 0 of "b" misreturned, planned is {', {}
    ),
    "an error before its time": (
        "0: calls b; 40: #0 raises", 'call 0 of "b" answered before its time', {}
    ),
    "an error in time": ("0: calls b; 80: #0 raises", None, {}),
    "a misreturn before its time": (
        "0: calls c; 40: #0 misreturns", 'call 0 of "c" answered before its time', {}
    ),
    "an answer of a call that nobody has cancelled": (
        "0: calls a; 80: #0 gives late", 'call 0 of "a" gave ["late"], planned is {', {}
    ),
    "an answer after a swallowed cancellation": (
        "0: calls a; 40: #0 told; 80: #0 gives late", None, {}
    ),
    "an answer before the clean-up is over": (
        "0: calls a; 40: #0 told; 79: #0 gives late", 'call 0 of "a" answered before its time', {}
    ),
    "a cancelled call": ("0: calls a; 40: #0 cancelled", None, {}),
    "two takes on one wait": (
        "0: waits, gets x; 40: gets y",
        '{"type":"record","value":"y"} was taken, the consumer did not wait again',
        {},
    ),
    "two takes in one instant": ("0: waits; 40: gets x, gets y", None, {}),
    "a take after giving up": (
        "0: waits; 40: gives up, gets x",
        '{"type":"record","value":"x"} was taken by a consumer that did not wait',
        {},
    ),
    "a handler": ("0: asks a", 'a handler was asked for "a", none is planned', {}),
    "a planned handler": ("0: asks a", None, {"handled": True}),
    "a hook": ("0: hook open", "open ran, no hook is planned", {}),
    "a planned hook": ("0: hook open", None, {"hooks": "plain"}),
    "a snapshot asked for": (
        "40: wants 101", "snapshot 101 was asked for, that is not planned, or not yet", {}
    ),
    "a snapshot asked for too early": (
        "39: wants 100", "snapshot 100 was asked for, that is not planned, or not yet", {}
    ),
    "a snapshot asked for twice": (
        "40: wants 100, wants 100", "snapshot 100 was asked for, that is not", {}
    ),
    "a planned snapshot": ("40: wants 100", None, {}),
    "a source error": (
        "0: takes 0; 40: takes 1; 120: end raised",
        "the source raised, that is not planned",
        {},
    ),
    "a source without its error": (
        "0: takes 0; 40: takes 1; 120: end",
        "the source ended without its error, that is not planned",
        {"source_error": "own"},
    ),
    "an end before the last input": (
        "0: takes 0; 120: end", "the source ended before input 1", {}
    ),
    "an end before its time": (
        "0: takes 0; 40: takes 1; 119: end", "the source ended before its time", {}
    ),
    "an end in time, and again": ("0: takes 0; 40: takes 1; 120: end, end", None, {}),
    "an end after closing": ("0: closes, end", None, {}),
    "leaving": ("40: left", "the consumer left at 40, that is not planned", {}),
    "leaving too early": (
        "39: left", "the consumer left at 39, that is not planned", {"cancel_at": 40}
    ),
    "being cancelled": ("40: left", None, {"cancel_at": 40}),
    "leaving by the script": ("0: left", None, {"sink": (SinkStep("leave"),)}),
    "figures": ("60: figures", "figures were read at 60, that is not planned, or not yet", {}),
    "figures too early": (
        "40: figures", "figures were read at 40, that is not planned, or not yet",
        {"figures_at": (60,)},
    ),
    "planned figures": ("60: figures", None, {"figures_at": (60,)}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_plan_is_followed_to_the_letter(name: str) -> None:
    events, said, changes = CASES[name]

    why = impossible(replace(PLANNED, **changes), Trace((leg_of(events),)))

    assert why is said is None or (why or "").startswith(f"leg 0: {said}")


def test_on_a_real_clock_times_may_be_rounded() -> None:
    late, later = (leg_of("0: calls b; 60: #0 raises", late_by=by) for by in (19.5, 5))

    assert impossible(PLANNED, Trace((late,))) is None
    assert impossible(PLANNED, Trace((later,))) is not None


CRASHING = scenario_of("0: a ^7 b; a: 80 gives x; crashes 40 capacity=2 mode=unordered")
FIRST, SECOND = play(open_operator, CRASHING).legs
UNCLOSED = ", and no event says that it was closed"


@pytest.mark.parametrize(
    ("scenario", "legs", "said"),
    [
        (CRASHING, (FIRST, SECOND), "possible"),
        (CRASHING, (FIRST,), "leg 1 is missing: the one before crashed as planned"),
        (CRASHING, (SECOND,), "leg 0: unordered, capacity 2; planned is ordered, capacity 4"),
        (
            CRASHING,
            (replace(FIRST, ending=Ending("finished", 40)), SECOND),
            "leg 1: the leg before did not crash",
        ),
        (
            CRASHING,
            (replace(FIRST, ending=Ending("crashed", 39)), SECOND),
            "leg 0: it crashed at 39, that is not planned",
        ),
        (
            CRASHING,
            (FIRST, replace(SECOND, ending=Ending("crashed", 80))),
            "leg 1: it crashed at 80, that is not planned",
        ),
        (
            CRASHING,
            (FIRST, replace(SECOND, mode="ordered")),
            "leg 1: ordered, capacity 2; planned is unord",
        ),
        (CRASHING, (FIRST, replace(SECOND, capacity=4)), "leg 1: unordered, capacity 4; planned"),
        (CRASHING, (FIRST, replace(SECOND, restored=None)), "leg 1: it was restored from null, "),
        (CRASHING, (FIRST, replace(SECOND, first_index=3)), "leg 1: it begins with input 3, plan"),
        # The process of a run that is lost has died.
        (CRASHING, (Leg(Ending("died")),), "possible"),
        (CRASHING, (FIRST, Leg(Ending("blocked"))), "possible"),
        (PLANNED, (), "it has no leg"),
        (CRASHING, (FIRST, FIRST, SECOND), "it has 3 legs, the scenario cr"),
        (PLANNED, (leg_of("0: waits", how="left"),), "leg 0: it was left at 500, that is not pl"),
        (PLANNED, (leg_of("0: waits", how="crashed"),), "leg 0: it crashed at 500, that is not pl"),
        (PLANNED, (leg_of("0: closed", how="failed"),), "possible"),
        (PLANNED, (leg_of("0: waits", how="finished"),), f"leg 0: it finished{UNCLOSED}"),
        (PLANNED, (leg_of("0: waits", how="failed"),), f"leg 0: it failed{UNCLOSED}"),
        (replace(PLANNED, cancel_at=40), (leg_of("", "left"),), f"leg 0: it left{UNCLOSED}"),
        (CRASHING, (leg_of("", "crashed"),), f"leg 0: it crashed{UNCLOSED}"),
    ],
)
def test_the_legs_follow_from_each_other(
    scenario: Scenario, legs: tuple[Leg, ...], said: str
) -> None:
    assert (impossible(scenario, Trace(legs)) or "possible").startswith(said)


EQUAL = scenario_of("timeout 400; handled; retry; 0: a a b; a: 40 raises own, never")
UNTOLD = "does not tell which record it is about"


def about(number: int | None, kind: type, *before: Event) -> Trace:
    (leg,) = play(open_operator, EQUAL).legs
    last = max(seq for seq, event in enumerate(leg.events) if isinstance(event, kind))
    event: Any = leg.events[last]
    forged = (*leg.events[:last], replace(event, record=number), *leg.events[last + 1 :])
    return Trace((replace(leg, events=(*before, *forged)),))


@pytest.mark.parametrize("kind", [CallStarted, HandlerAsked])
@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, None),
        (2, 'is about record 2, whose value is "b"'),
        (3, "is about record 3, there are 3 so far"),
        (None, UNTOLD),
    ],
)
def test_a_trace_of_retries_tells_which_record_a_call_is_for(
    kind: type, number: int | None, said: str | None
) -> None:
    found = impossible(EQUAL, about(number, kind))

    assert found == said if said is None else found is not None and found.endswith(said)


def test_calls_of_values_that_are_not_equal_need_no_number() -> None:
    apart = replace(EQUAL, inputs=EQUAL.inputs[1:])
    (leg,) = play(open_operator, apart).legs
    events: list[Any] = list(leg.events)
    nameless = [replace(e, record=None) if isinstance(e, CallStarted) else e for e in events]

    assert impossible(apart, Trace((replace(leg, events=tuple(nameless)),))) is None


@pytest.mark.parametrize(("what", "is_excused"), [("copied", True), ("spoiled", False)])
def test_only_where_a_copy_was_handed_on_nobody_knows_the_record(
    what: MisuseKind, *, is_excused: bool
) -> None:
    found = impossible(EQUAL, about(None, CallStarted, Misuse(0, what, "in some way")))

    assert found is None if is_excused else found is not None and found.endswith(UNTOLD)
