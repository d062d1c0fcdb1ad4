"""SNAP: runs that break a rule about snapshots, and their legal neighbours."""

from asyncwait.conformance.evidence import NearMiss, Witness, at, ends, one_leg, replies, took
from asyncwait.spec import Barrier, LatencyMarker, Record, Snapshot, Watermark
from asyncwait.spec.scenario import Plan, Scenario, SinkStep, SnapshotRequest, Step

A, B = Record("a"), Record("b")

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
        violating=one_leg(
            _ONE,
            ends("finished", 40),
            "0: waits, takes 0 1, calls a, out |1(a) |1(a), end; 40: #0 gives a1, out a1",
        ),
        legal=one_leg(
            _ONE,
            ends("finished", 40),
            "0: waits, takes 0 1, calls a, out |1(a), end; 40: #0 gives a1, out a1",
        ),
        text="snapshot 1 came out twice",
    ),
    Witness(
        "SNAP-2",
        # Two equal records are two.
        violating=one_leg(
            _EQUAL,
            ends("finished", 40),
            "0: waits, takes 0 1 2, calls a a, out |1(a), end; 40: #0 gives a1",
            "40: #1 gives a1, out a1 a1",
        ),
        # One of them came out before the snapshot, in the same instant.
        legal=one_leg(
            _EQUAL_AT_ONCE,
            ends("finished", 40),
            "0: waits, takes 0 1 2, calls a a, #0 gives a1, out a1 |1(a), end",
            "40: #1 gives a1, out a1",
        ),
        text="Record 'a' is in flight and not in the snapshot",
    ),
    Witness(
        "SNAP-3",
        # The results of a have just been taken.
        violating=one_leg(
            _EQUAL_AT_ONCE,
            ends("finished", 40),
            "0: waits, takes 0 1 2, calls a a, #0 gives a1, out a1 |1(a+a), end",
            "40: #1 gives a1, out a1",
        ),
        # Nothing came out for a, which has no results: it may be stored, or not.
        legal=one_leg(
            _WITHOUT_RESULTS,
            ends("finished", 40),
            "0: waits, takes 0, calls a, #0 gives, takes 1, out |1(a), takes 2, calls b",
            "0: end; 40: #1 gives b1, out b1",
        ),
        text="Record 'a' is in the snapshot and should not be",
    ),
    Witness(
        "SNAP-4",
        violating=one_leg(
            _TWO,
            ends("finished", 40),
            "0: waits, takes 0 1 2, calls a b, out |1(b+a), end; 40: #1 gives b1",
            "40: #0 gives a1, out b1 a1",
        ),
        # The outputs are in another order than the input; the snapshot is not.
        legal=one_leg(
            _TWO,
            ends("finished", 40),
            "0: waits, takes 0 1 2, calls a b, out |1(a+b), end; 40: #1 gives b1",
            "40: #0 gives a1, out b1 a1",
        ),
        text="stored in the order Record 'b', Record 'a'",
    ),
    Witness(
        "SNAP-5",
        # The operator drains first.
        violating=one_leg(
            _ONE,
            ends("finished", 40),
            "0: waits, takes 0 1, calls a, end; 40: #0 gives a1, out a1 |1",
        ),
        # The barrier is behind b, which waits for room until 40, and is not read before.
        legal=one_leg(
            Scenario(
                capacity=1,
                inputs=at(0, A, B, Barrier(1)),
                plans=(replies("a", 40, "a1"), replies("b", 40, "b1")),
            ),
            ends("finished", 80),
            "0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1, calls b, takes 2",
            "40: out |1(b), end; 80: #1 gives b1, out b1",
        ),
        text="Barrier(checkpoint_id=1) (input 1) was read, "
        "but the waiting consumer got no snapshot",
    ),
    Witness(
        "SNAP-6",
        violating=one_leg(
            _IN_THE_MIDDLE,
            ends("finished", 120),
            "0: waits, takes 0, calls a; 40: #0 gives a1 a2, gets a1; 80: takes 1, end",
            "120: waits, out |1 a2",
        ),
        legal=one_leg(
            _IN_THE_MIDDLE,
            ends("finished", 120),
            "0: waits, takes 0, calls a; 40: #0 gives a1 a2, gets a1; 80: takes 1, end",
            "120: waits, out a2 |1",
        ),
        text="Snapshot(checkpoint_id=1, in_flight=(), read=None, upstream=None) came between two "
        "results of one record",
    ),
    Witness(
        "SNAP-7",
        # Of two equal records the one behind the barrier is done at once, the one before it later.
        violating=one_leg(
            _BEHIND,
            ends("finished", 40),
            "0: waits, takes 0 1 2, calls a a, #1 gives a1, out a1 |1(a), end",
            "40: #0 gives a1, out a1",
        ),
        legal=one_leg(
            _BEHIND,
            ends("finished", 40),
            "0: waits, takes 0 1 2, calls a a, #1 gives a1, out |1(a) a1, end",
            "40: #0 gives a1, out a1",
        ),
        text="Record 'a' (input 2) came out before snapshot 1",
    ),
    Witness(
        "SNAP-8",
        violating=one_leg(
            _ON_DEMAND,
            ends("finished", 120),
            "0: takes 0, calls a, end; 40: #0 gives a1; 80: wants 7; 120: waits",
            "120: out a1 |7=1",
        ),
        # The consumer comes back in the very instant of the request: a1 was on its way.
        legal=one_leg(
            _ON_DEMAND_TIE,
            ends("finished", 120),
            "0: takes 0, calls a; 40: #0 gives a1; 80: wants 7, waits, out a1 |7=1",
            "120: end",
        ),
        text="Record 'a1' came before snapshot 7",
    ),
    Witness(
        "SNAP-9",
        # The watermark was read long before the request.
        violating=one_leg(
            _READ,
            ends("finished", 80),
            "0: waits, takes 0, out ~9; 40: takes 1, calls a, wants 7, out |7=0, end",
            "80: #0 gives a1, out a1",
        ),
        # The record came in the very instant of the request, which need not have seen it.
        legal=one_leg(
            _READ,
            ends("finished", 80),
            "0: waits, takes 0, out ~9; 40: takes 1, calls a, wants 7, out |7=1, end",
            "80: #0 gives a1, out a1",
        ),
        text="expected read between 1 and 2, got 0",
    ),
    Witness(
        "SNAP-10",
        violating=one_leg(
            _CHAIN,
            ends("finished", 40),
            "0: waits, takes 0 1, calls a",
            took(0, Snapshot(1, (A,), upstream=Snapshot(1))),
            "0: end; 40: #0 gives a1, out a1",
        ),
        legal=one_leg(
            _CHAIN,
            ends("finished", 40),
            "0: waits, takes 0 1, calls a",
            took(0, Snapshot(1, (A,), upstream=_CHAINED)),
            "0: end; 40: #0 gives a1, out a1",
        ),
        text=f"expected upstream {_CHAINED}, got {Snapshot(1)}",
    ),
    Witness(
        "SNAP-11",
        violating=one_leg(
            _REQUESTS,
            ends("left", 80),
            "0: takes 0, calls a, wants 7; 40: wants 5; 80: waits, out |5(a)=1 |7(a)=1",
        ),
        legal=one_leg(
            _REQUESTS,
            ends("left", 80),
            "0: takes 0, calls a, wants 7; 40: wants 5; 80: waits, out |7(a)=1 |5(a)=1",
        ),
        text="snapshot 5 came out before 7, asked for first",
    ),
)

NEAR_MISSES: tuple[NearMiss, ...] = (
    # A marker and a snapshot overtake what is queued, and a marker is in no snapshot.
    NearMiss(
        "SNAP-8",
        one_leg(
            Scenario(
                inputs=at(0, A) + at(40, LatencyMarker(3)),
                plans=(replies("a", 200, "a1"),),
                sink=(SinkStep("pause", 120),),
                requests=(SnapshotRequest(80, 7),),
            ),
            ends("finished", 200),
            "0: takes 0, calls a; 40: takes 1, end; 80: wants 7",
            "120: waits, out !3 |7(a)=2; 200: #0 gives a1, out a1",
        ),
    ),
)
