"""CAP: witnesses of how much is taken in."""

from asyncwait.conformance.evidence import Witness, at, ends, finished, one_leg, replies
from asyncwait.spec import Barrier, LatencyMarker, Record, Snapshot, Watermark
from asyncwait.spec.scenario import Scenario, SinkStep

_TRACKED = Scenario(inputs=at(0, Record("a")), plans=(replies("a", 40, "a1"),), tracked=True)
_PAUSED = Scenario(
    capacity=1,
    inputs=at(0, Record("a"), Record("b")),
    plans=(replies("a", 40, "a1"), replies("b", 40, "b1")),
    sink=(SinkStep("pause", 80),),
)
_RESTORED = Scenario(
    capacity=1, plans=(replies("a", 40, "a1"),), restore=Snapshot(1, (Record("a"), Record("a")))
)
_THREE = Scenario(
    capacity=1,
    inputs=at(0, Record("a"), Record("b"), Record("c")),
    plans=(replies("a", 40, "a1"), replies("b", 40, "b1"), replies("c", 0, "c1")),
)
_ROOM_FOR_TWO = Scenario(
    capacity=2,
    inputs=at(0, Record("a")) + at(40, Record("b")),
    plans=(replies("a", 80, "a1"), replies("b", 40, "b1")),
)
_ROOM_FOR_ONE = Scenario(capacity=1, inputs=_ROOM_FOR_TWO.inputs, plans=_ROOM_FOR_TWO.plans)
_ONE_AFTER_THE_OTHER = (
    "0: waits, takes 0, calls a; "
    "40: takes 1; "
    "80: #0 gives a1, out a1, calls b; "
    "120: #1 gives b1, out b1"
)
_WATERMARKS = Scenario(
    capacity=1,
    inputs=at(0, Record("a"), Watermark(1), Watermark(2)),
    plans=(replies("a", 40, "a1"),),
)
_ALL_OUT = "40: #0 gives a1, out a1 ~1"
_MARKERS = Scenario(
    capacity=1,
    inputs=at(0, LatencyMarker(1), Barrier(2), LatencyMarker(3)),
    sink=(SinkStep("pause", 80),),
)
_FIRST_TWO_OUT = "80: out !1 |2"

WITNESSES: tuple[Witness, ...] = (
    Witness(
        "CAP-1",
        finished(
            _PAUSED,
            "0: takes 0 1, calls a; 40: #0 gives a1, calls b; 80: waits, #1 gives b1",
            "80: out a1 b1",
        ),
        finished(
            _PAUSED,
            "0: takes 0 1, calls a; 40: #0 gives a1; 80: waits, out a1, calls b",
            "120: #1 gives b1, out b1",
        ),
        "2 records in flight, capacity 1",
    ),
    Witness(
        "CAP-2",
        finished(_RESTORED, "0: waits, calls a a; 40: #0 gives a1, #1 gives a1, out a1 a1"),
        finished(
            _RESTORED,
            "0: waits, calls a; 40: #0 gives a1, out a1, calls a; 80: #1 gives a1, out a1",
        ),
        "2 undecided calls, capacity 1",
    ),
    Witness(
        "CAP-3",
        finished(
            _THREE,
            "0: waits, takes 0 1 2, calls a; 40: #0 gives a1, out a1, calls b",
            "80: #1 gives b1, out b1, calls c, #2 gives c1, out c1",
        ),
        finished(
            _THREE,
            "0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1, takes 2, calls b",
            "80: #1 gives b1, out b1, calls c, #2 gives c1, out c1",
        ),
        "Record 'c' (input 2) was taken though Record 'b' (input 1) waits for room",
    ),
    Witness(
        "CAP-4",
        finished(_ROOM_FOR_TWO, _ONE_AFTER_THE_OTHER),
        finished(_ROOM_FOR_ONE, _ONE_AFTER_THE_OTHER),
        "Record 'b' (input 1) is not called though there is room",
    ),
    Witness(
        "CAP-5",
        finished(_WATERMARKS, "0: waits, takes 0 1 2, calls a", _ALL_OUT, "40: out ~2"),
        finished(_WATERMARKS, "0: waits, takes 0 1, calls a", _ALL_OUT, "40: takes 2, out ~2"),
        "3 elements are inside, capacity 1",
    ),
    Witness(
        "CAP-6",
        finished(_MARKERS, "0: takes 0 1 2; 80: waits", _FIRST_TWO_OUT, "80: out !3"),
        finished(_MARKERS, "0: takes 0 1; 80: waits", _FIRST_TWO_OUT, "80: takes 2, out !3"),
        "3 markers and snapshots wait, capacity 1",
    ),
    Witness(
        "CAP-7",
        violating=one_leg(
            _TRACKED,
            ends("finished", 40),
            "0: waits, takes 0, calls a; 40: #0 gives a1, out a1, end",
            kept=65,
        ),
        legal=one_leg(
            _TRACKED,
            ends("finished", 40),
            "0: waits, takes 0, calls a; 40: #0 gives a1, out a1, end",
            kept=64,
        ),
        text="65 values and results are kept of a stream of 1",
    ),
)
