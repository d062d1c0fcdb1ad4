"""SNAP: runs that break a rule about snapshots, and their legal neighbours."""

from asyncwait.conformance.evidence import (
    Witness,
    answered,
    at,
    called,
    ends,
    input_ended,
    leg,
    replies,
    run,
    taken,
    took,
    waits,
)
from asyncwait.spec import Barrier, Record, Snapshot, Watermark
from asyncwait.spec.scenario import (
    Plan,
    Scenario,
    SinkStep,
    SnapshotAsked,
    SnapshotRequest,
    Step,
)

A, B = Record("a"), Record("b")
A1, A2, B1 = Record("a1"), Record("a2"), Record("b1")

_REQUESTS = Scenario(
    inputs=at(0, A),
    plans=(replies("a", 400, "a1"),),
    sink=(SinkStep("pause", 80),),
    cancel_at=80,
    requests=(SnapshotRequest(0, 7), SnapshotRequest(40, 5)),
)
_ONE = Scenario(inputs=at(0, A, Barrier(1)), plans=(replies("a", 40, "a1"),))
_EQUAL = Scenario(inputs=at(0, A, A, Barrier(1)), plans=(replies("a", 40, "a1"),))
_EQUAL_AT_ONCE = Scenario(
    mode="unordered",
    inputs=at(0, A, A, Barrier(1)),
    plans=(Plan("a", (Step(results=("a1",)), Step(after=40, results=("a1",)))),),
)
_TWO = Scenario(
    mode="unordered",
    inputs=at(0, A, B, Barrier(1)),
    plans=(replies("a", 40, "a1"), replies("b", 40, "b1")),
)
_WITHOUT_RESULTS = Scenario(
    mode="unordered",
    inputs=at(0, A, Barrier(1), B),
    plans=(replies("a", 0), replies("b", 40, "b1")),
)
# The consumer takes the first of two results and is away while the barrier is read.
_IN_THE_MIDDLE = Scenario(
    inputs=at(0, A) + at(80, Barrier(1)),
    plans=(replies("a", 40, "a1", "a2"),),
    sink=(SinkStep("read", 1), SinkStep("pause", 80)),
)
_BEHIND = Scenario(
    mode="unordered",
    inputs=at(0, A, Barrier(1), A),
    plans=(Plan("a", (Step(after=40, results=("a1",)), Step(results=("a1",)))),),
)
# a1 is there at 40, the request comes at 80, the consumer at 120.
_ON_DEMAND = Scenario(
    inputs=at(0, A),
    plans=(replies("a", 40, "a1"),),
    sink=(SinkStep("pause", 120),),
    requests=(SnapshotRequest(80, 7),),
)
_ON_DEMAND_TIE = Scenario(
    inputs=at(0, A),
    plans=(replies("a", 40, "a1"),),
    sink=(SinkStep("pause", 80),),
    requests=(SnapshotRequest(80, 7),),
    source_ends_at=120,
)
# The second element comes in the very instant of the request.
_READ = Scenario(
    inputs=at(0, Watermark(9)) + at(40, A),
    plans=(replies("a", 40, "a1"),),
    requests=(SnapshotRequest(40, 7),),
)
_CHAINED = Snapshot(1, (Record("x"),))
_CHAIN = Scenario(inputs=at(0, A, _CHAINED), plans=(replies("a", 40, "a1"),))


WITNESSES: tuple[Witness, ...] = (
    Witness(
        "SNAP-1",
        violating=run(
            _ONE,
            leg(
                ends("finished", 40),
                waits(0),
                taken(0, 0, 1),
                called(0, "a"),
                took(0, Snapshot(1, (A,)), Snapshot(1, (A,))),
                input_ended(0),
                answered(40, 0, "a1"),
                took(40, A1),
            ),
        ),
        legal=run(
            _ONE,
            leg(
                ends("finished", 40),
                waits(0),
                taken(0, 0, 1),
                called(0, "a"),
                took(0, Snapshot(1, (A,))),
                input_ended(0),
                answered(40, 0, "a1"),
                took(40, A1),
            ),
        ),
        text="snapshot 1 came out twice",
    ),
    Witness(
        "SNAP-2",
        # Two equal records are two.
        violating=run(
            _EQUAL,
            leg(
                ends("finished", 40),
                waits(0),
                taken(0, 0, 1, 2),
                called(0, "a", "a"),
                took(0, Snapshot(1, (A,))),
                input_ended(0),
                answered(40, 0, "a1"),
                answered(40, 1, "a1"),
                took(40, A1, A1),
            ),
        ),
        # One of them came out before the snapshot, in the same instant.
        legal=run(
            _EQUAL_AT_ONCE,
            leg(
                ends("finished", 40),
                waits(0),
                taken(0, 0, 1, 2),
                called(0, "a", "a"),
                answered(0, 0, "a1"),
                took(0, A1, Snapshot(1, (A,))),
                input_ended(0),
                answered(40, 1, "a1"),
                took(40, A1),
            ),
        ),
        text="Record 'a' is in flight and not in the snapshot",
    ),
    Witness(
        "SNAP-3",
        # The results of a have just been taken.
        violating=run(
            _EQUAL_AT_ONCE,
            leg(
                ends("finished", 40),
                waits(0),
                taken(0, 0, 1, 2),
                called(0, "a", "a"),
                answered(0, 0, "a1"),
                took(0, A1, Snapshot(1, (A, A))),
                input_ended(0),
                answered(40, 1, "a1"),
                took(40, A1),
            ),
        ),
        # Nothing came out for a, which has no results: it may be stored, or not.
        legal=run(
            _WITHOUT_RESULTS,
            leg(
                ends("finished", 40),
                waits(0),
                taken(0, 0),
                called(0, "a"),
                answered(0, 0),
                taken(0, 1),
                took(0, Snapshot(1, (A,))),
                taken(0, 2),
                called(0, "b", first=1),
                input_ended(0),
                answered(40, 1, "b1"),
                took(40, B1),
            ),
        ),
        text="Record 'a' is in the snapshot and should not be",
    ),
    Witness(
        "SNAP-4",
        violating=run(
            _TWO,
            leg(
                ends("finished", 40),
                waits(0),
                taken(0, 0, 1, 2),
                called(0, "a", "b"),
                took(0, Snapshot(1, (B, A))),
                input_ended(0),
                answered(40, 1, "b1"),
                answered(40, 0, "a1"),
                took(40, B1, A1),
            ),
        ),
        # The outputs are in another order than the input; the snapshot is not.
        legal=run(
            _TWO,
            leg(
                ends("finished", 40),
                waits(0),
                taken(0, 0, 1, 2),
                called(0, "a", "b"),
                took(0, Snapshot(1, (A, B))),
                input_ended(0),
                answered(40, 1, "b1"),
                answered(40, 0, "a1"),
                took(40, B1, A1),
            ),
        ),
        text="stored in the order Record 'b', Record 'a'",
    ),
    Witness(
        "SNAP-5",
        # The operator drains first.
        violating=run(
            _ONE,
            leg(
                ends("finished", 40),
                waits(0),
                taken(0, 0, 1),
                called(0, "a"),
                input_ended(0),
                answered(40, 0, "a1"),
                took(40, A1, Snapshot(1)),
            ),
        ),
        # The barrier is behind b, which waits for room until 40, and is not read before.
        legal=run(
            Scenario(
                capacity=1,
                inputs=at(0, A, B, Barrier(1)),
                plans=(replies("a", 40, "a1"), replies("b", 40, "b1")),
            ),
            leg(
                ends("finished", 80),
                waits(0),
                taken(0, 0, 1),
                called(0, "a"),
                answered(40, 0, "a1"),
                took(40, A1),
                called(40, "b", first=1),
                taken(40, 2),
                took(40, Snapshot(1, (B,))),
                input_ended(40),
                answered(80, 1, "b1"),
                took(80, B1),
            ),
        ),
        text="Barrier(checkpoint_id=1) (input 1) was read, "
        "but the waiting consumer got no snapshot",
    ),
    Witness(
        "SNAP-6",
        violating=run(
            _IN_THE_MIDDLE,
            leg(
                ends("finished", 120),
                waits(0),
                taken(0, 0),
                called(0, "a"),
                answered(40, 0, "a1", "a2"),
                took(40, A1)[:1],
                taken(80, 1),
                input_ended(80),
                waits(120),
                took(120, Snapshot(1), A2),
            ),
        ),
        legal=run(
            _IN_THE_MIDDLE,
            leg(
                ends("finished", 120),
                waits(0),
                taken(0, 0),
                called(0, "a"),
                answered(40, 0, "a1", "a2"),
                took(40, A1)[:1],
                taken(80, 1),
                input_ended(80),
                waits(120),
                took(120, A2, Snapshot(1)),
            ),
        ),
        text="Snapshot(checkpoint_id=1, in_flight=(), read=None, upstream=None) came between two "
        "results of one record",
    ),
    Witness(
        "SNAP-7",
        # Of two equal records the one behind the barrier is done at once, the one before it later.
        violating=run(
            _BEHIND,
            leg(
                ends("finished", 40),
                waits(0),
                taken(0, 0, 1, 2),
                called(0, "a", "a"),
                answered(0, 1, "a1"),
                took(0, A1, Snapshot(1, (A,))),
                input_ended(0),
                answered(40, 0, "a1"),
                took(40, A1),
            ),
        ),
        legal=run(
            _BEHIND,
            leg(
                ends("finished", 40),
                waits(0),
                taken(0, 0, 1, 2),
                called(0, "a", "a"),
                answered(0, 1, "a1"),
                took(0, Snapshot(1, (A,)), A1),
                input_ended(0),
                answered(40, 0, "a1"),
                took(40, A1),
            ),
        ),
        text="Record 'a' (input 2) came out before snapshot 1",
    ),
    Witness(
        "SNAP-8",
        violating=run(
            _ON_DEMAND,
            leg(
                ends("finished", 120),
                taken(0, 0),
                called(0, "a"),
                input_ended(0),
                answered(40, 0, "a1"),
                (SnapshotAsked(80, 7),),
                waits(120),
                took(120, A1, Snapshot(7, (), read=1)),
            ),
        ),
        # The consumer comes back in the very instant of the request: a1 was on its way.
        legal=run(
            _ON_DEMAND_TIE,
            leg(
                ends("finished", 120),
                taken(0, 0),
                called(0, "a"),
                answered(40, 0, "a1"),
                (SnapshotAsked(80, 7),),
                waits(80),
                took(80, A1, Snapshot(7, (), read=1)),
                input_ended(120),
            ),
        ),
        text="Record 'a1' came before snapshot 7",
    ),
    Witness(
        "SNAP-9",
        # The watermark was read long before the request.
        violating=run(
            _READ,
            leg(
                ends("finished", 80),
                waits(0),
                taken(0, 0),
                took(0, Watermark(9)),
                taken(40, 1),
                called(40, "a"),
                (SnapshotAsked(40, 7),),
                took(40, Snapshot(7, (), read=0)),
                input_ended(40),
                answered(80, 0, "a1"),
                took(80, A1),
            ),
        ),
        # The record came in the very instant of the request, which need not have seen it.
        legal=run(
            _READ,
            leg(
                ends("finished", 80),
                waits(0),
                taken(0, 0),
                took(0, Watermark(9)),
                taken(40, 1),
                called(40, "a"),
                (SnapshotAsked(40, 7),),
                took(40, Snapshot(7, (), read=1)),
                input_ended(40),
                answered(80, 0, "a1"),
                took(80, A1),
            ),
        ),
        text="expected read between 1 and 2, got 0",
    ),
    Witness(
        "SNAP-10",
        violating=run(
            _CHAIN,
            leg(
                ends("finished", 40),
                waits(0),
                taken(0, 0, 1),
                called(0, "a"),
                took(0, Snapshot(1, (A,), upstream=Snapshot(1))),
                input_ended(0),
                answered(40, 0, "a1"),
                took(40, A1),
            ),
        ),
        legal=run(
            _CHAIN,
            leg(
                ends("finished", 40),
                waits(0),
                taken(0, 0, 1),
                called(0, "a"),
                took(0, Snapshot(1, (A,), upstream=_CHAINED)),
                input_ended(0),
                answered(40, 0, "a1"),
                took(40, A1),
            ),
        ),
        text=f"expected upstream {_CHAINED}, got {Snapshot(1)}",
    ),
    Witness(
        "SNAP-11",
        violating=run(
            _REQUESTS,
            leg(
                ends("left", 80),
                taken(0, 0),
                called(0, "a"),
                (SnapshotAsked(0, 7), SnapshotAsked(40, 5)),
                waits(80),
                took(80, Snapshot(5, (A,), 1), Snapshot(7, (A,), 1)),
            ),
        ),
        legal=run(
            _REQUESTS,
            leg(
                ends("left", 80),
                taken(0, 0),
                called(0, "a"),
                (SnapshotAsked(0, 7), SnapshotAsked(40, 5)),
                waits(80),
                took(80, Snapshot(7, (A,), 1), Snapshot(5, (A,), 1)),
            ),
        ),
        text="snapshot 5 came out before 7, asked for first",
    ),
)
