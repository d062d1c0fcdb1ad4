"""TIME: runs that break a rule about deadlines, and their legal neighbours."""

from asyncwait.conformance.evidence import (
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
    outlives,
    replies,
    run,
    taken,
    took,
    waits,
)
from asyncwait.spec import Record
from asyncwait.spec.scenario import (
    CallCancelled,
    Handler,
    Plan,
    Scenario,
    SinkLeft,
    SinkStep,
    Step,
)

A, B = Record("a"), Record("b")

_LATE_A = Plan("a", (Step(after=120, results=("a1",)),), Handler("reply", ("a-late",)))

# One record, which its deadline finds undecided.
_LATE = Scenario(timeout=80, inputs=at(0, A), plans=(never("a", "a-late"),), handled=True)
# The same with an answer in the very instant of the deadline.
_TIE = Scenario(
    timeout=80,
    inputs=at(0, A),
    plans=(Plan("a", (Step(after=80, results=("a1",)),), Handler("reply", ("a-late",))),),
    handled=True,
)
_NO_HANDLER = Scenario(timeout=80, inputs=at(0, A, B), plans=(never("a"), never("b")))
_STUBBORN = Scenario(
    timeout=80,
    inputs=at(0, A),
    plans=(outlives("a", 80, "a1", "a-late"),),
    handled=True,
    source_ends_at=200,
)
_ONE_SLOT = Scenario(
    capacity=1,
    timeout=80,
    inputs=at(0, A, B),
    plans=(replies("a", 40, "a1"), never("b", "b-late")),
    handled=True,
)
_TWO_STUBBORN = Scenario(
    capacity=1,
    timeout=80,
    inputs=at(0, A, B),
    plans=(outlives("a", 80, "a1", "a-late"), outlives("b", 160, "b1", "b-late")),
    handled=True,
    source_ends_at=320,
)
_BEGINS = (waits(0), taken(0, 0), called(0, "a"))


WITNESSES: tuple[Witness, ...] = (
    Witness(
        "TIME-1",
        # a was decided at 80 by its answer's coming 40 before: the timer is a stale one.
        violating=run(
            Scenario(timeout=80, inputs=at(0, A), plans=(replies("a", 40, "a1"),), handled=True),
            leg(ends("finished", 80), *_BEGINS, answered(40, 0, "a1"), asked(80, "a")),
        ),
        # The answer comes in the very instant of the deadline, and the deadline wins.
        legal=run(
            _TIE,
            leg(
                ends("finished", 80),
                *_BEGINS,
                answered(80, 0, "a1"),
                asked(80, "a"),
                took(80, Record("a-late")),
                input_ended(80),
            ),
        ),
        text="the handler was asked for 'a', no record of which is due",
    ),
    Witness(
        "TIME-2",
        violating=run(
            _NO_HANDLER,
            leg(
                ends("failed", 120, error="CallTimedOut", record=A),
                *_BEGINS,
                cancelled(80, 0),
            ),
        ),
        # Two deadlines in one instant: the one that fails the operator is enough.
        legal=run(
            _NO_HANDLER,
            leg(
                ends("failed", 80, error="CallTimedOut", record=B),
                waits(0),
                taken(0, 0, 1),
                called(0, "a", "b"),
                cancelled(80, 0),
                cancelled(80, 1),
            ),
        ),
        text="Record 'a' (input 0) passed its deadline and the operator did not fail",
    ),
    Witness(
        "TIME-3",
        violating=run(
            _LATE,
            leg(ends("finished", 80), *_BEGINS, asked(80, "a"), cancelled(80, 0)),
        ),
        legal=run(
            _LATE,
            leg(
                ends("finished", 80),
                *_BEGINS,
                asked(80, "a"),
                cancelled(80, 0),
                took(80, Record("a-late")),
                input_ended(80),
            ),
        ),
        text="Record 'a' (input 0): the handler's ('a-late',) did not come out",
    ),
    Witness(
        "TIME-4",
        violating=run(
            _NO_HANDLER,
            leg(
                ends("failed", 80, error="TimeoutError", detail="80 ms are over"),
                waits(0),
                taken(0, 0),
                called(0, "a"),
                cancelled(80, 0),
            ),
        ),
        # Of two that are due, the error may name the second.
        legal=run(
            _NO_HANDLER,
            leg(
                ends("failed", 80, error="CallTimedOut", record=B),
                waits(0),
                taken(0, 0, 1),
                called(0, "a", "b"),
                cancelled(80, 0),
                cancelled(80, 1),
            ),
        ),
        text="expected CallTimedOut, got TimeoutError: 80 ms are over",
    ),
    Witness(
        "TIME-5",
        # The call is left alone, and ends by itself 40 later.
        violating=run(
            Scenario(timeout=80, inputs=at(0, A), plans=(_LATE_A,), handled=True),
            leg(
                ends("finished", 120),
                *_BEGINS,
                asked(80, "a"),
                took(80, Record("a-late")),
                answered(120, 0, "a1"),
            ),
        ),
        # It is told, and takes 40 to clean up.
        legal=run(
            Scenario(
                timeout=80,
                inputs=at(0, A),
                plans=(outlives("a", 40, "a1", "a-late"),),
                handled=True,
                source_ends_at=120,
            ),
            leg(
                ends("finished", 120),
                *_BEGINS,
                asked(80, "a"),
                (CallCancelled(80, 0),),
                took(80, Record("a-late")),
                answered(120, 0, "a1"),
                input_ended(120),
                abandoned=1,
            ),
        ),
        text="Record 'a' (input 0): its call was not cancelled at its deadline",
    ),
    Witness(
        "TIME-6",
        violating=run(
            _STUBBORN,
            leg(
                ends("finished", 200),
                *_BEGINS,
                asked(80, "a"),
                (CallCancelled(80, 0),),
                took(80, Record("a-late")),
                answered(160, 0, "a1"),
                took(160, Record("a1")),
            ),
        ),
        legal=run(
            _STUBBORN,
            leg(
                ends("finished", 200),
                *_BEGINS,
                asked(80, "a"),
                (CallCancelled(80, 0),),
                took(80, Record("a-late")),
                answered(160, 0, "a1"),
                input_ended(200),
                abandoned=1,
            ),
        ),
        text="Record 'a1' is a late result: Record 'a' (input 0) was decided at its deadline",
    ),
    Witness(
        "TIME-7",
        # b was read at 0 and called at 40: its deadline is at 120.
        violating=run(
            _ONE_SLOT,
            leg(
                ends("finished", 80),
                waits(0),
                taken(0, 0, 1),
                called(0, "a"),
                answered(40, 0, "a1"),
                took(40, Record("a1")),
                called(40, "b", first=1),
                asked(80, "b"),
                cancelled(80, 1),
            ),
        ),
        legal=run(
            _ONE_SLOT,
            leg(
                ends("finished", 120),
                waits(0),
                taken(0, 0, 1),
                called(0, "a"),
                answered(40, 0, "a1"),
                took(40, Record("a1")),
                called(40, "b", first=1),
                asked(120, "b"),
                cancelled(120, 1),
                took(120, Record("b-late")),
                input_ended(120),
            ),
        ),
        text="Record 'b' (input 1) timed out before its time since its call",
    ),
    Witness(
        "TIME-8",
        # The call runs on from 80 to 160.
        violating=run(
            _STUBBORN,
            leg(
                ends("finished", 200),
                *_BEGINS,
                asked(80, "a"),
                (CallCancelled(80, 0),),
                answered(160, 0, "a1"),
            ),
        ),
        # The leg is over in the instant of the cancellation of b, so only a must be counted.
        legal=run(
            _TWO_STUBBORN,
            leg(
                ends("left", 160),
                *_BEGINS,
                asked(80, "a"),
                (CallCancelled(80, 0),),
                took(80, Record("a-late")),
                taken(80, 1),
                called(80, "b", first=1),
                answered(160, 0, "a1"),
                asked(160, "b"),
                (SinkLeft(160), CallCancelled(160, 1)),
                answered(320, 1, "b1"),
                abandoned=1,
            ),
        ),
        text="1 call outlived its record, statistics say 0",
    ),
    Witness(
        "TIME-9",
        violating=run(
            _TWO_STUBBORN,
            leg(
                ends("failed", 160, error="TooManyAbandonedCalls"),
                *_BEGINS,
                asked(80, "a"),
                (CallCancelled(80, 0),),
                took(80, Record("a-late")),
                taken(80, 1),
                called(80, "b", first=1),
                # The call of a has ended when that of b is told to.
                answered(120, 0, "a1"),
                asked(160, "b"),
                (CallCancelled(160, 1),),
                answered(320, 1, "b1"),
            ),
        ),
        legal=run(
            _TWO_STUBBORN,
            leg(
                ends("finished", 320),
                *_BEGINS,
                asked(80, "a"),
                (CallCancelled(80, 0),),
                took(80, Record("a-late")),
                taken(80, 1),
                called(80, "b", first=1),
                answered(160, 0, "a1"),
                asked(160, "b"),
                (CallCancelled(160, 1),),
                took(160, Record("b-late")),
                answered(320, 1, "b1"),
                input_ended(320),
                abandoned=2,
            ),
        ),
        text="failed with TooManyAbandonedCalls, and never more than 1 ran on",
    ),
    Witness(
        "TIME-10",
        # The consumer is away until 120; the answer of a came 40 before the deadline.
        violating=run(
            Scenario(
                timeout=80,
                inputs=at(0, A),
                plans=(replies("a", 40, "a1"),),
                sink=(SinkStep("pause", 120),),
            ),
            leg(
                ends("failed", 120, error="CallTimedOut", record=A),
                taken(0, 0),
                called(0, "a"),
                answered(40, 0, "a1"),
                waits(120),
            ),
        ),
        # There is an equal record, which did time out.
        legal=run(
            Scenario(
                timeout=80,
                inputs=at(0, A, A),
                plans=(Plan("a", (Step(after=40, results=("a1",)), Step("never"))),),
                sink=(SinkStep("pause", 120),),
            ),
            leg(
                ends("failed", 120, error="CallTimedOut", record=A),
                taken(0, 0, 1),
                called(0, "a", "a"),
                answered(40, 0, "a1"),
                cancelled(80, 1),
                waits(120),
            ),
        ),
        text="Record 'a' (input 0) answered at 40, before its deadline",
    ),
)
