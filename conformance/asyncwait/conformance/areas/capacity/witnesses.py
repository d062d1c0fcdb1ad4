"""CAP: witnesses of how much is taken in."""

from asyncwait.conformance.evidence import NearMiss, Witness, at, ends, finished, one_leg, replies
from asyncwait.spec import Barrier, LatencyMarker, Record, Snapshot, Watermark
from asyncwait.spec.scenario import Plan, Scenario, SinkStep

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

_LATE_B = Scenario(inputs=at(0, Record("a")) + at(40, Record("b")), plans=(replies("a", 80, "a"),))
_QUEUED = Scenario(
    capacity=1,
    inputs=at(0, Watermark(1), Watermark(2)),
    plans=(replies("a", 80, "a"),),
    restore=Snapshot(1, (Record("a"), Watermark(0), Watermark(0), Record("a"))),
)
_OVERTAKERS = Scenario(
    capacity=1,
    inputs=at(0, LatencyMarker(1), Barrier(2), LatencyMarker(3), Barrier(4)),
    sink=(SinkStep("pause", 40), SinkStep("read", 2), SinkStep("pause", 40)),
)
_SILENT = Scenario(
    mode="unordered",
    capacity=1,
    inputs=at(0, Record("a"), Record("b")),
    plans=(Plan("a"), replies("b", 40)),
)
_CRASHED = ends("crashed", 40)

NEAR_MISSES: tuple[NearMiss, ...] = (
    # Nothing happened at 40, so the last moment of rest before it is the one at 0.
    NearMiss(
        "CAP-4",
        finished(
            _LATE_B,
            "0: waits, takes 0, calls a; 80: #0 gives a, out a, takes 1, calls b",
            "80: #1 gives b, out b",
        ),
    ),
    # At 40 there is room for b, and the source has it.
    NearMiss(
        "CAP-4",
        one_leg(_LATE_B, ends("hung", 400), "0: waits, takes 0, calls a; 40: waits"),
        "the source has an element, there is room, and nobody takes it",
        also="END-8",
    ),
    # While restored records wait for room, one element is read ahead and not two.
    NearMiss("CAP-3", one_leg(_QUEUED, _CRASHED, "0: waits, calls a, takes 0")),
    NearMiss(
        "CAP-3",
        one_leg(_QUEUED, _CRASHED, "0: waits, calls a, takes 0 1"),
        "Watermark(timestamp=2) (input 1) was taken though Record 'a' (restored) waits for room",
    ),
    # Restored watermarks are inside from the start: that says nothing of the slots they take.
    NearMiss("CAP-5", one_leg(_QUEUED, _CRASHED, "0: waits, calls a, takes 0"), applies=False),
    # Nobody can see when a record without results gives its slot back.
    NearMiss("CAP-1", one_leg(_SILENT, _CRASHED, "0: takes 0 1, calls a, #0 gives, calls b")),
    # Two that were read are legal; how many are requested is up to whoever asks.
    NearMiss("CAP-6", one_leg(_OVERTAKERS, _CRASHED, "0: takes 0 1, wants 7, wants 8, wants 9")),
    # Four were read before the second pause, and two of them are out.
    NearMiss(
        "CAP-6",
        one_leg(
            _OVERTAKERS,
            ends("crashed", 120),
            "0: takes 0 1; 40: waits, out !1 |2, takes 2 3; 80: gives up",
        ),
        also="ELEM-6 END-2 SNAP-5",
    ),
    # A Snapshot is made when its barrier is read, or when it is taken: nobody can tell.
    NearMiss(
        "CAP-6",
        one_leg(_OVERTAKERS, _CRASHED, "0: takes 0 1 2 3"),
        "4 markers and snapshots wait, capacity 1",
    ),
)
