"""REST: runs that break a rule about restoring, and their legal neighbours."""

from asyncwait.conformance.evidence import (
    Events,
    Witness,
    answered,
    asked,
    at,
    called,
    cancelled,
    ends,
    input_ended,
    leg,
    never,
    replies,
    run,
    taken,
    took,
    waits,
)
from asyncwait.spec import Barrier, Record, Snapshot, Watermark
from asyncwait.spec.scenario import Crash, Plan, Scenario, SinkLeft, Step

A, B = Record("a"), Record("b")
A1, B1 = Record("a1"), Record("b1")
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
_STOPPED: Events = (SinkLeft(80),)


WITNESSES: tuple[Witness, ...] = (
    Witness(
        "REST-1",
        violating=run(
            _STORED_A,
            leg(
                ends("finished", 40),
                waits(0),
                taken(0, 0),
                called(0, "b", "a"),
                input_ended(0),
                answered(40, 0, "b1"),
                answered(40, 1, "a1"),
                took(40, B1, A1),
            ),
        ),
        # The new record is called in the same instant and comes out first.
        legal=run(
            _STORED_A,
            leg(
                ends("finished", 40),
                waits(0),
                taken(0, 0),
                called(0, "a", "b"),
                input_ended(0),
                answered(40, 0, "a1"),
                answered(40, 1, "b1"),
                took(40, B1, A1),
            ),
        ),
        text="Record 'a' (restored) was called after a new record",
    ),
    Witness(
        "REST-2",
        # The second of two equal records has half of its time when the handler is asked.
        violating=run(
            _STORED_LATE,
            leg(
                ends("finished", 120),
                waits(0),
                called(0, "a"),
                called(40, "a", first=1),
                asked(80, "a"),
                cancelled(80, 0),
                took(80, Record("a-late")),
                asked(80, "a"),
                cancelled(80, 1),
                took(80, Record("a-late")),
                input_ended(120),
            ),
        ),
        # The error at 80 is that of the first, though it is equal to the second.
        legal=run(
            _STORED_LATE_ONE_SLOT,
            leg(
                ends("failed", 80, error="CallTimedOut", record=A),
                waits(0),
                called(0, "a"),
                cancelled(80, 0),
                called(80, "a", first=1),
                cancelled(80, 1),
            ),
        ),
        text="Record 'a' (restored) timed out at 80, its call began at 40",
    ),
    Witness(
        "REST-3",
        # The one that was stored and the one that is read make two.
        violating=run(
            _STORED_WATERMARK,
            leg(
                ends("finished", 0),
                waits(0),
                taken(0, 0),
                took(0, Watermark(9), Watermark(9), Watermark(9)),
                input_ended(0),
            ),
        ),
        legal=run(
            _STORED_WATERMARK,
            leg(
                ends("finished", 0),
                waits(0),
                taken(0, 0),
                took(0, Watermark(9), Watermark(9)),
                input_ended(0),
            ),
        ),
        text="Watermark(timestamp=9) was not stored: it came out before",
    ),
    Witness(
        "REST-4",
        violating=run(
            Scenario(capacity=2, plans=(replies("a", 40),), restore=Snapshot(1, (A, A, A))),
            leg(
                ends("finished", 40),
                waits(0),
                called(0, "a", "a", "a"),
                answered(40, 0),
                answered(40, 1),
                answered(40, 2),
                input_ended(40),
            ),
        ),
        # In one instant, three calls; but the first is over when the third begins.
        legal=run(
            Scenario(
                capacity=2,
                plans=(Plan("a", (Step(), Step(after=40))),),
                restore=Snapshot(1, (A, A, A)),
            ),
            leg(
                ends("finished", 40),
                waits(0),
                called(0, "a", "a"),
                answered(0, 0),
                called(0, "a", first=2),
                answered(40, 1),
                answered(40, 2),
                input_ended(40),
            ),
        ),
        text="3 restored calls, capacity 2",
    ),
    Witness(
        "REST-5",
        # a1 came out behind the snapshot, so it is dropped; and a is not in the snapshot.
        violating=run(
            _CRASH,
            leg(
                _CRASHED,
                waits(0),
                taken(0, 0, 1),
                called(0, "a"),
                took(0, NOTHING),
                answered(40, 0, "a1"),
                took(40, A1),
                _STOPPED,
            ),
            leg(
                ends("finished", 40),
                waits(0),
                input_ended(40),
                first_index=2,
                restored=NOTHING,
            ),
        ),
        # a1 came out in front of the snapshot, in the same instant.
        legal=run(
            _CRASH_TIE,
            leg(
                _CRASHED,
                waits(0),
                taken(0, 0),
                called(0, "a"),
                answered(40, 0, "a1"),
                taken(40, 1),
                took(40, A1, NOTHING),
                _STOPPED,
            ),
            leg(
                ends("finished", 40),
                waits(0),
                input_ended(40),
                first_index=2,
                restored=NOTHING,
            ),
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
                waits(0),
                taken(0, 0),
                called(0, "a"),
                answered(40, 0, "a1"),
                taken(40, 1),
                took(40, A1, HELD),
                _STOPPED,
            ),
            leg(
                ends("finished", 40),
                waits(0),
                called(0, "a"),
                answered(40, 0, "a1"),
                took(40, A1),
                input_ended(40),
                first_index=2,
                restored=HELD,
            ),
        ),
        # a1 came out twice, but the first time behind the snapshot: that one is dropped.
        legal=run(
            _CRASH_TIE,
            leg(
                _CRASHED,
                waits(0),
                taken(0, 0),
                called(0, "a"),
                answered(40, 0, "a1"),
                taken(40, 1),
                took(40, HELD, A1),
                _STOPPED,
            ),
            leg(
                ends("finished", 40),
                waits(0),
                called(0, "a"),
                answered(40, 0, "a1"),
                took(40, A1),
                input_ended(40),
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
            leg(
                _CRASHED,
                waits(0),
                taken(0, 0, 1, 2),
                called(0, "a", "b"),
                took(0, Snapshot(1, (B, A))),
                _STOPPED,
            ),
            leg(
                ends("finished", 120),
                waits(0),
                called(0, "b", "a"),
                input_ended(0),
                answered(120, 0, "b1"),
                answered(120, 1, "a1"),
                took(120, B1, A1),
                first_index=3,
                restored=Snapshot(1, (B, A)),
            ),
        ),
        # Unordered, b may come out first.
        legal=run(
            _ANY_ORDER,
            leg(
                _CRASHED,
                waits(0),
                taken(0, 0, 1, 2),
                called(0, "a", "b"),
                took(0, Snapshot(1, (A, B))),
                _STOPPED,
            ),
            leg(
                ends("finished", 120),
                waits(0),
                called(0, "a", "b"),
                input_ended(0),
                answered(120, 0, "a1"),
                answered(120, 1, "b1"),
                took(120, B1, A1),
                first_index=3,
                restored=Snapshot(1, (A, B)),
            ),
        ),
        text="Record 'a1' came out behind something later",
    ),
)
