"""REST: runs that break a rule about restoring, and their legal neighbours."""

from asyncwait.conformance.evidence import (
    NearMiss,
    Witness,
    at,
    ends,
    leg,
    never,
    one_leg,
    replies,
    run,
)
from asyncwait.spec import Barrier, Record, Snapshot, Watermark
from asyncwait.spec.scenario import Crash, Plan, Scenario, Step

A, B = Record("a"), Record("b")
HELD = Snapshot(1, (A,))
NOTHING = Snapshot(1)

_STORED_A = Scenario(
    mode="unordered",
    inputs=at(0, B),
    plans=(replies("a", 40, "a1"), replies("b", 40, "b1")),
    restore=HELD,
)
_STORED_LATE = Scenario(
    timeout=80, plans=(never("a", "a-late"),), handled=True, restore=Snapshot(1, (A, A))
)
_STORED_LATE_ONE_SLOT = Scenario(
    capacity=1, timeout=80, plans=(never("a"),), restore=Snapshot(1, (A, A))
)
_STORED_WATERMARK = Scenario(inputs=at(0, Watermark(9)), restore=Snapshot(1, (Watermark(9),)))
# a comes out at 40; then the leg goes on to its crash at 80.
_CRASH = Scenario(
    inputs=at(0, A, Barrier(1)),
    plans=(replies("a", 40, "a1"),),
    source_ends_at=120,
    crashes=(Crash(80),),
)
# The snapshot comes at 40, when a may be in it or not.
_CRASH_TIE = Scenario(
    inputs=at(0, A) + at(40, Barrier(1)),
    plans=(replies("a", 40, "a1"),),
    source_ends_at=120,
    crashes=(Crash(80),),
)
_IN_ORDER = Scenario(
    inputs=at(0, A, B, Barrier(1)),
    plans=(replies("a", 120, "a1"), replies("b", 120, "b1")),
    crashes=(Crash(80),),
)
_ANY_ORDER = Scenario(
    mode="unordered",
    inputs=at(0, A, B, Barrier(1)),
    plans=(replies("a", 120, "a1"), replies("b", 120, "b1")),
    crashes=(Crash(80),),
)
_CRASHED = ends("crashed", 80)
_STOPPED = "80: left"


WITNESSES: tuple[Witness, ...] = (
    Witness(
        "REST-1",
        violating=one_leg(
            _STORED_A,
            ends("finished", 40),
            "0: waits, takes 0, calls b a, end; 40: #0 gives b1, #1 gives a1, out b1 a1",
        ),
        # The new record is called in the same instant and comes out first.
        legal=one_leg(
            _STORED_A,
            ends("finished", 40),
            "0: waits, takes 0, calls a b, end; 40: #0 gives a1, #1 gives b1, out b1 a1",
        ),
        text="Record 'a' (restored) was called after a new record",
    ),
    Witness(
        "REST-2",
        # The second of two equal records has half of its time when the handler is asked.
        violating=one_leg(
            _STORED_LATE,
            ends("finished", 120),
            "0: waits, calls a; 40: calls a; 80: asks a, #0 cancelled, out a-late, asks a",
            "80: #1 cancelled, out a-late; 120: end",
        ),
        # The error at 80 is that of the first, though it is equal to the second.
        legal=one_leg(
            _STORED_LATE_ONE_SLOT,
            ends("failed", 80, error="CallTimedOut", record=A),
            "0: waits, calls a; 80: #0 cancelled, calls a, #1 cancelled",
        ),
        text="Record 'a' (restored) timed out at 80, its call began at 40",
    ),
    Witness(
        "REST-3",
        # The one that was stored and the one that is read make two.
        violating=one_leg(
            _STORED_WATERMARK, ends("finished", 0), "0: waits, takes 0, out ~9 ~9 ~9, end"
        ),
        legal=one_leg(_STORED_WATERMARK, ends("finished", 0), "0: waits, takes 0, out ~9 ~9, end"),
        text="Watermark(timestamp=9) was not stored: it came out before",
    ),
    Witness(
        "REST-4",
        violating=one_leg(
            Scenario(capacity=2, plans=(replies("a", 40),), restore=Snapshot(1, (A, A, A))),
            ends("finished", 40),
            "0: waits, calls a a a; 40: #0 gives, #1 gives, #2 gives, end",
        ),
        # In one instant, three calls; but the first is over when the third begins.
        legal=one_leg(
            Scenario(
                capacity=2,
                plans=(Plan("a", (Step(), Step(after=40))),),
                restore=Snapshot(1, (A, A, A)),
            ),
            ends("finished", 40),
            "0: waits, calls a a, #0 gives, calls a; 40: #1 gives, #2 gives, end",
        ),
        text="3 restored calls, capacity 2",
    ),
    Witness(
        "REST-5",
        # a1 came out behind the snapshot, so it is dropped; and a is not in the snapshot.
        violating=run(
            _CRASH,
            leg(
                _CRASHED, "0: waits, takes 0 1, calls a, out |1; 40: #0 gives a1, out a1", _STOPPED
            ),
            leg(ends("finished", 40), "0: waits; 40: end", first_index=2, restored=NOTHING),
        ),
        # a1 came out in front of the snapshot, in the same instant.
        legal=run(
            _CRASH_TIE,
            leg(
                _CRASHED,
                "0: waits, takes 0, calls a; 40: #0 gives a1, takes 1, out a1 |1",
                _STOPPED,
            ),
            leg(ends("finished", 40), "0: waits; 40: end", first_index=2, restored=NOTHING),
        ),
        text="Record 'a' has no output in any leg",
    ),
    Witness(
        "REST-6",
        # a1 came out in front of the snapshot, and a is in it.
        violating=run(
            _CRASH_TIE,
            leg(
                _CRASHED,
                "0: waits, takes 0, calls a; 40: #0 gives a1, takes 1, out a1 |1(a)",
                _STOPPED,
            ),
            leg(
                ends("finished", 40),
                "0: waits, calls a; 40: #0 gives a1, out a1, end",
                first_index=2,
                restored=HELD,
            ),
        ),
        # a1 came out twice, but the first time behind the snapshot: that one is dropped.
        legal=run(
            _CRASH_TIE,
            leg(
                _CRASHED,
                "0: waits, takes 0, calls a; 40: #0 gives a1, takes 1, out |1(a) a1",
                _STOPPED,
            ),
            leg(
                ends("finished", 40),
                "0: waits, calls a; 40: #0 gives a1, out a1, end",
                first_index=2,
                restored=HELD,
            ),
        ),
        text="Record 'a' has outputs in two legs",
    ),
    Witness(
        "REST-7",
        # The snapshot has lost the order, and so the second leg is in order by itself.
        violating=run(
            _IN_ORDER,
            leg(_CRASHED, "0: waits, takes 0 1 2, calls a b, out |1(b+a)", _STOPPED),
            leg(
                ends("finished", 120),
                "0: waits, calls b a, end; 120: #0 gives b1, #1 gives a1, out b1 a1",
                first_index=3,
                restored=Snapshot(1, (B, A)),
            ),
        ),
        # Unordered, b may come out first.
        legal=run(
            _ANY_ORDER,
            leg(_CRASHED, "0: waits, takes 0 1 2, calls a b, out |1(a+b)", _STOPPED),
            leg(
                ends("finished", 120),
                "0: waits, calls a b, end; 120: #0 gives a1, #1 gives b1, out b1 a1",
                first_index=3,
                restored=Snapshot(1, (A, B)),
            ),
        ),
        text="Record 'a1' came out behind something later",
    ),
)

_ANSWERS = (Step(results=("a1",)), Step(), Step(after=120, results=("a1",)))

NEAR_MISSES: tuple[NearMiss, ...] = (
    # Of three equal records one came out, one was silent, and the one behind is restored.
    NearMiss(
        "REST-7",
        run(
            Scenario(
                inputs=at(0, A, A, Watermark(9), A, Barrier(1)),
                plans=(Plan("a", _ANSWERS),),
                source_ends_at=120,
                crashes=(Crash(80),),
            ),
            leg(
                ends("crashed", 80),
                "0: waits, takes 0 1 2, calls a a, #0 gives a1, #1 gives, out a1 ~9, takes 3 4",
                "0: calls a, out |1(a); 80: left, #2 cancelled",
            ),
            leg(
                ends("finished", 40),
                "0: waits, calls a, #0 gives a1, out a1; 40: end",
                first_index=5,
                restored=HELD,
            ),
        ),
    ),
)
