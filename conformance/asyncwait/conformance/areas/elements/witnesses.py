"""ELEM: witnesses of what comes out."""

from asyncwait.conformance.evidence import (
    Witness,
    answered,
    asked,
    at,
    called,
    finished,
    handler,
    outlives,
    replies,
    taken,
    took,
    waits,
)
from asyncwait.spec import LatencyMarker, Record
from asyncwait.spec.scenario import (
    CallCancelled,
    Misuse,
    Plan,
    Scenario,
    SinkStep,
    Step,
)

_TRACKED = Scenario(inputs=at(0, Record("a")), plans=(replies("a", 40, "a1"),), tracked=True)
_EQUAL_RESULTS = Scenario(
    mode="unordered",
    inputs=at(0, Record("a", 5, "k"), Record("b", 6, "m")),
    plans=(replies("a", 40, "x"), replies("b", 40, "x")),
)
_BOTH_ANSWERED = (
    waits(0),
    taken(0, 0, 1),
    called(0, "a", "b"),
    answered(40, 0, "x"),
    answered(40, 1, "x"),
)
_EQUAL_RECORDS = Scenario(
    mode="unordered",
    inputs=at(0, Record("a"), Record("a")),
    plans=(Plan("a", (Step(after=40, results=("x",)), Step(after=80, results=("x",)))),),
)
_EQUAL_CALLS = (
    waits(0),
    taken(0, 0, 1),
    called(0, "a", "a"),
    answered(40, 0, "x"),
)
_SEVERAL_RESULTS = Scenario(
    mode="unordered",
    inputs=at(0, Record("a"), Record("b")),
    plans=(replies("a", 40, "a1", "a2"), replies("b", 40, "b1")),
)
_SEVERAL_ANSWERED = (
    waits(0),
    taken(0, 0, 1),
    called(0, "a", "b"),
    answered(40, 0, "a1", "a2"),
    answered(40, 1, "b1"),
)
_MARKED = Scenario(
    inputs=at(0, Record("a")) + at(40, LatencyMarker(1)), plans=(replies("a", 80, "a1"),)
)
_MARKED_AND_PAUSED = Scenario(
    inputs=_MARKED.inputs, plans=_MARKED.plans, sink=(SinkStep("pause", 80),)
)
_MARKER_LAST = (
    taken(0, 0),
    called(0, "a"),
    taken(40, 1),
    answered(80, 0, "a1"),
)
_TWO_MARKERS = Scenario(inputs=at(0, LatencyMarker(1), LatencyMarker(1)))

WITNESSES: tuple[Witness, ...] = (
    Witness(
        "ELEM-1",
        finished(
            _EQUAL_RESULTS, *_BOTH_ANSWERED, took(40, Record("x", 6, "m"), Record("x", 6, "k"))
        ),
        finished(
            _EQUAL_RESULTS, *_BOTH_ANSWERED, took(40, Record("x", 6, "m"), Record("x", 5, "k"))
        ),
        "expected timestamp 5 of Record 'a' @ 5 (key 'k') (input 0), got Record 'x' @ 6 (key 'k')",
    ),
    Witness(
        "ELEM-2",
        finished(
            _EQUAL_RESULTS, *_BOTH_ANSWERED, took(40, Record("x", 6, "m"), Record("x", 5, "m"))
        ),
        finished(
            _EQUAL_RESULTS, *_BOTH_ANSWERED, took(40, Record("x", 6, "m"), Record("x", 5, "k"))
        ),
        "expected key 'k' of Record 'a' @ 5 (key 'k') (input 0), got Record 'x' @ 5 (key 'm')",
    ),
    Witness(
        "ELEM-3",
        finished(
            Scenario(
                timeout=80,
                inputs=at(0, Record("a")),
                plans=(outlives("a", 40, "a1", "a?"),),
                handled=True,
                source_ends_at=120,
            ),
            waits(0),
            taken(0, 0),
            called(0, "a"),
            asked(80, "a"),
            (CallCancelled(80, 0),),
            took(80, Record("a?")),
            answered(120, 0, "a1"),
            took(120, Record("a1")),
        ),
        finished(
            Scenario(
                timeout=80,
                inputs=at(0, Record("a")),
                plans=(Plan("a", (Step(after=80, results=("a1",)),), handler("a?")),),
                handled=True,
            ),
            waits(0),
            taken(0, 0),
            called(0, "a"),
            answered(80, 0, "a1"),
            took(80, Record("a1")),
        ),
        "Record 'a1' is no result of any decided record",
    ),
    Witness(
        "ELEM-4",
        finished(
            _EQUAL_RECORDS,
            *_EQUAL_CALLS,
            took(40, Record("x"), Record("x")),
            answered(80, 1, "x"),
        ),
        finished(
            _EQUAL_RECORDS,
            *_EQUAL_CALLS,
            took(40, Record("x")),
            answered(80, 1, "x"),
            took(80, Record("x")),
        ),
        "Record 'x' came out once more than records gave it",
    ),
    Witness(
        "ELEM-5",
        finished(
            _SEVERAL_RESULTS,
            *_SEVERAL_ANSWERED,
            took(40, Record("a1"), Record("b1"), Record("a2")),
        ),
        finished(
            _SEVERAL_RESULTS,
            *_SEVERAL_ANSWERED,
            took(40, Record("b1"), Record("a1"), Record("a2")),
        ),
        "expected 'a2' of Record 'a' (input 0) next, got Record 'b1'",
    ),
    Witness(
        "ELEM-6",
        finished(_MARKED, waits(0), *_MARKER_LAST, took(80, Record("a1"), LatencyMarker(1))),
        finished(
            _MARKED_AND_PAUSED,
            *_MARKER_LAST,
            waits(80),
            took(80, Record("a1"), LatencyMarker(1)),
        ),
        "LatencyMarker(marked_at=1, source='') (input 1) has not been passed on while the consumer "
        "waits",
    ),
    Witness(
        "ELEM-7",
        finished(_TWO_MARKERS, waits(0), taken(0, 0, 1), took(0, LatencyMarker(1))),
        finished(
            _TWO_MARKERS, waits(0), taken(0, 0, 1), took(0, LatencyMarker(1), LatencyMarker(1))
        ),
        "LatencyMarker(marked_at=1, source='') (input 1) never came out",
    ),
    Witness(
        "ELEM-8",
        violating=finished(
            _TRACKED,
            waits(0),
            taken(0, 0),
            (Misuse(0, "copied", "the function is called with another object: 'a'"),),
            called(0, "a"),
            answered(40, 0, "a1"),
            took(40, Record("a1")),
        ),
        legal=finished(
            _TRACKED,
            waits(0),
            taken(0, 0),
            called(0, "a"),
            answered(40, 0, "a1"),
            took(40, Record("a1")),
        ),
        text="the function is called with another object: 'a'",
    ),
)
