"""CAP: witnesses of how much is taken in."""

from asyncwait.conformance.evidence import (
    Witness,
    answered,
    at,
    called,
    ends,
    finished,
    input_ended,
    leg,
    replies,
    run,
    taken,
    took,
    waits,
)
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
    capacity=1,
    plans=(replies("a", 40, "a1"),),
    restore=Snapshot(1, (Record("a"), Record("a"))),
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
    waits(0),
    taken(0, 0),
    called(0, "a"),
    taken(40, 1),
    answered(80, 0, "a1"),
    took(80, Record("a1")),
    called(80, "b", first=1),
    answered(120, 1, "b1"),
    took(120, Record("b1")),
)
_WATERMARKS = Scenario(
    capacity=1,
    inputs=at(0, Record("a"), Watermark(1), Watermark(2)),
    plans=(replies("a", 40, "a1"),),
)
_ALL_OUT = (answered(40, 0, "a1"), took(40, Record("a1"), Watermark(1)))
_MARKERS = Scenario(
    capacity=1,
    inputs=at(0, LatencyMarker(1), Barrier(2), LatencyMarker(3)),
    sink=(SinkStep("pause", 80),),
)
_FIRST_TWO_OUT = took(80, LatencyMarker(1), Snapshot(2))

WITNESSES: tuple[Witness, ...] = (
    Witness(
        "CAP-1",
        finished(
            _PAUSED,
            taken(0, 0, 1),
            called(0, "a"),
            answered(40, 0, "a1"),
            called(40, "b", first=1),
            waits(80),
            answered(80, 1, "b1"),
            took(80, Record("a1"), Record("b1")),
        ),
        finished(
            _PAUSED,
            taken(0, 0, 1),
            called(0, "a"),
            answered(40, 0, "a1"),
            waits(80),
            took(80, Record("a1")),
            called(80, "b", first=1),
            answered(120, 1, "b1"),
            took(120, Record("b1")),
        ),
        "2 records in flight, capacity 1",
    ),
    Witness(
        "CAP-2",
        finished(
            _RESTORED,
            waits(0),
            called(0, "a", "a"),
            answered(40, 0, "a1"),
            answered(40, 1, "a1"),
            took(40, Record("a1"), Record("a1")),
        ),
        finished(
            _RESTORED,
            waits(0),
            called(0, "a"),
            answered(40, 0, "a1"),
            took(40, Record("a1")),
            called(40, "a", first=1),
            answered(80, 1, "a1"),
            took(80, Record("a1")),
        ),
        "2 undecided calls, capacity 1",
    ),
    Witness(
        "CAP-3",
        finished(
            _THREE,
            waits(0),
            taken(0, 0, 1, 2),
            called(0, "a"),
            answered(40, 0, "a1"),
            took(40, Record("a1")),
            called(40, "b", first=1),
            answered(80, 1, "b1"),
            took(80, Record("b1")),
            called(80, "c", first=2),
            answered(80, 2, "c1"),
            took(80, Record("c1")),
        ),
        finished(
            _THREE,
            waits(0),
            taken(0, 0, 1),
            called(0, "a"),
            answered(40, 0, "a1"),
            took(40, Record("a1")),
            taken(40, 2),
            called(40, "b", first=1),
            answered(80, 1, "b1"),
            took(80, Record("b1")),
            called(80, "c", first=2),
            answered(80, 2, "c1"),
            took(80, Record("c1")),
        ),
        "Record 'c' (input 2) was taken though Record 'b' (input 1) waits for room",
    ),
    Witness(
        "CAP-4",
        finished(_ROOM_FOR_TWO, *_ONE_AFTER_THE_OTHER),
        finished(_ROOM_FOR_ONE, *_ONE_AFTER_THE_OTHER),
        "Record 'b' (input 1) is not called though there is room",
    ),
    Witness(
        "CAP-5",
        finished(
            _WATERMARKS,
            waits(0),
            taken(0, 0, 1, 2),
            called(0, "a"),
            *_ALL_OUT,
            took(40, Watermark(2)),
        ),
        finished(
            _WATERMARKS,
            waits(0),
            taken(0, 0, 1),
            called(0, "a"),
            *_ALL_OUT,
            taken(40, 2),
            took(40, Watermark(2)),
        ),
        "3 elements are inside, capacity 1",
    ),
    Witness(
        "CAP-6",
        finished(
            _MARKERS,
            taken(0, 0, 1, 2),
            waits(80),
            _FIRST_TWO_OUT,
            took(80, LatencyMarker(3)),
        ),
        finished(
            _MARKERS,
            taken(0, 0, 1),
            waits(80),
            _FIRST_TWO_OUT,
            taken(80, 2),
            took(80, LatencyMarker(3)),
        ),
        "3 markers and snapshots wait, capacity 1",
    ),
    Witness(
        "CAP-7",
        violating=run(
            _TRACKED,
            leg(
                ends("finished", 40),
                waits(0),
                taken(0, 0),
                called(0, "a"),
                answered(40, 0, "a1"),
                took(40, Record("a1")),
                input_ended(40),
                kept=65,
            ),
        ),
        legal=run(
            _TRACKED,
            leg(
                ends("finished", 40),
                waits(0),
                taken(0, 0),
                called(0, "a"),
                answered(40, 0, "a1"),
                took(40, Record("a1")),
                input_ended(40),
                kept=64,
            ),
        ),
        text="65 values and results are kept of a stream of 1",
    ),
)
