"""ELEM: witnesses of what comes out."""

from asyncwait.conformance.evidence import (
    NearMiss,
    Witness,
    at,
    ends,
    finished,
    handler,
    one_leg,
    outlives,
    replies,
)
from asyncwait.spec import LatencyMarker, Record, Snapshot
from asyncwait.spec.scenario import Blocked, Handler, Misuse, Plan, Scenario, SinkStep, Step

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

_TWO_RESULTS = Scenario(
    inputs=at(0, Record("a", 5)), plans=(Plan("a", (Step(results=("a1", "a2")),)),)
)
_GIVEN = "0: waits, takes 0, calls a, #0 gives a1 a2"
_TORN = finished(_TWO_RESULTS, _GIVEN, "0: out a1@5 |1 a2@5")

NEAR_MISSES: tuple[NearMiss, ...] = (
    # The second result has a timestamp to carry like the first.
    NearMiss(
        "ELEM-1",
        finished(_TWO_RESULTS, _GIVEN, "0: out a1@5 a2"),
        "expected timestamp 5 of Record 'a' @ 5 (input 0), got Record 'a2'",
    ),
    # All of the three have answered at their deadline, while the loop was blocked again and again;
    # the second gave its own result, the others the handler's.
    NearMiss(
        "ELEM-1",
        one_leg(
            Scenario(
                mode="unordered",
                timeout=80,
                inputs=at(0, Record("a", 0), Record("a", 1), Record("a", 2)),
                plans=(
                    Plan(
                        "a",
                        (Step(after=80, results=("a1",)),),
                        Handler("reply", ("late",), blocks=40),
                    ),
                ),
                handled=True,
            ),
            ends("finished", 160),
            "0: waits, takes 0 1 2, end, calls a a a",
            "80: #0 gives a1, #1 gives a1, #2 gives a1, asks a",
            (Blocked(80, 120),),
            "120: asks a",
            (Blocked(120, 160),),
            "160: out a1@1 late@0 late@2",
        ),
    ),
    NearMiss(
        "ELEM-5",
        finished(_TWO_RESULTS, _GIVEN, "0: out a2@5 a1@5"),
        "expected 'a1' of Record 'a' @ 5 (input 0) first, got Record 'a2' @ 5",
        also="ELEM-4 RES-1",
    ),
    # What comes of a record after it was torn apart still belongs to it: it is not repeated.
    NearMiss(
        "ELEM-5",
        _TORN,
        f"expected 'a2' of Record 'a' @ 5 (input 0) next, got {Snapshot(1)}",
        also="SNAP-1 SNAP-6",
    ),
    # The whole of a record's results a second time are as many repetitions.
    NearMiss(
        "ELEM-4",
        finished(_TWO_RESULTS, _GIVEN, "0: out a1@5 a2@5 a1@5"),
        "Record 'a1' @ 5 came out once more than records gave it",
    ),
    # A consumer that is gone can't take the rest.
    NearMiss(
        "ELEM-5", one_leg(_TWO_RESULTS, ends("crashed", 40), _GIVEN, "0: out a1@5"), also="ORD-2"
    ),
)
