"""ELEM: witnesses of what comes out."""

from asyncwait.conformance.evidence import Witness, at, finished, handler, outlives, replies
from asyncwait.spec import LatencyMarker, Record
from asyncwait.spec.scenario import Misuse, Plan, Scenario, SinkStep, Step

_TRACKED = Scenario(inputs=at(0, Record("a")), plans=(replies("a", 40, "a1"),), tracked=True)
_EQUAL_RESULTS = Scenario(
    mode="unordered",
    inputs=at(0, Record("a", 5, "k"), Record("b", 6, "m")),
    plans=(replies("a", 40, "x"), replies("b", 40, "x")),
)
_BOTH_ANSWERED = "0: waits, takes 0 1, calls a b; 40: #0 gives x, #1 gives x"
_EQUAL_RECORDS = Scenario(
    mode="unordered",
    inputs=at(0, Record("a"), Record("a")),
    plans=(Plan("a", (Step(after=40, results=("x",)), Step(after=80, results=("x",)))),),
)
_EQUAL_CALLS = "0: waits, takes 0 1, calls a a; 40: #0 gives x"
_SEVERAL_RESULTS = Scenario(
    mode="unordered",
    inputs=at(0, Record("a"), Record("b")),
    plans=(replies("a", 40, "a1", "a2"), replies("b", 40, "b1")),
)
_SEVERAL_ANSWERED = "0: waits, takes 0 1, calls a b; 40: #0 gives a1 a2, #1 gives b1"
_MARKED = Scenario(
    inputs=at(0, Record("a")) + at(40, LatencyMarker(1)), plans=(replies("a", 80, "a1"),)
)
_MARKED_AND_PAUSED = Scenario(
    inputs=_MARKED.inputs, plans=_MARKED.plans, sink=(SinkStep("pause", 80),)
)
_MARKER_LAST = "0: takes 0, calls a; 40: takes 1; 80: #0 gives a1"
_TWO_MARKERS = Scenario(inputs=at(0, LatencyMarker(1), LatencyMarker(1)))

WITNESSES: tuple[Witness, ...] = (
    Witness(
        "ELEM-1",
        finished(_EQUAL_RESULTS, _BOTH_ANSWERED, "40: out x@6/m x@6/k"),
        finished(_EQUAL_RESULTS, _BOTH_ANSWERED, "40: out x@6/m x@5/k"),
        "expected timestamp 5 of Record 'a' @ 5 (key 'k') (input 0), got Record 'x' @ 6 (key 'k')",
    ),
    Witness(
        "ELEM-2",
        finished(_EQUAL_RESULTS, _BOTH_ANSWERED, "40: out x@6/m x@5/m"),
        finished(_EQUAL_RESULTS, _BOTH_ANSWERED, "40: out x@6/m x@5/k"),
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
            "0: waits, takes 0, calls a; 80: asks a, #0 told, out a?; 120: #0 gives a1",
            "120: out a1",
        ),
        finished(
            Scenario(
                timeout=80,
                inputs=at(0, Record("a")),
                plans=(Plan("a", (Step(after=80, results=("a1",)),), handler("a?")),),
                handled=True,
            ),
            "0: waits, takes 0, calls a; 80: #0 gives a1, out a1",
        ),
        "Record 'a1' is no result of any decided record",
    ),
    Witness(
        "ELEM-4",
        finished(_EQUAL_RECORDS, _EQUAL_CALLS, "40: out x x; 80: #1 gives x"),
        finished(_EQUAL_RECORDS, _EQUAL_CALLS, "40: out x; 80: #1 gives x, out x"),
        "Record 'x' came out once more than records gave it",
    ),
    Witness(
        "ELEM-5",
        finished(_SEVERAL_RESULTS, _SEVERAL_ANSWERED, "40: out a1 b1 a2"),
        finished(_SEVERAL_RESULTS, _SEVERAL_ANSWERED, "40: out b1 a1 a2"),
        "expected 'a2' of Record 'a' (input 0) next, got Record 'b1'",
    ),
    Witness(
        "ELEM-6",
        finished(_MARKED, "0: waits", _MARKER_LAST, "80: out a1 !1"),
        finished(_MARKED_AND_PAUSED, _MARKER_LAST, "80: waits, out a1 !1"),
        "LatencyMarker(marked_at=1, source='') (input 1) has not been passed on while the consumer "
        "waits",
    ),
    Witness(
        "ELEM-7",
        finished(_TWO_MARKERS, "0: waits, takes 0 1, out !1"),
        finished(_TWO_MARKERS, "0: waits, takes 0 1, out !1 !1"),
        "LatencyMarker(marked_at=1, source='') (input 1) never came out",
    ),
    Witness(
        "ELEM-8",
        violating=finished(
            _TRACKED,
            "0: waits, takes 0",
            (Misuse(0, "copied", "the function is called with another object: 'a'"),),
            "0: calls a; 40: #0 gives a1, out a1",
        ),
        legal=finished(_TRACKED, "0: waits, takes 0, calls a; 40: #0 gives a1, out a1"),
        text="the function is called with another object: 'a'",
    ),
)
