"""TIME: runs that break a rule about deadlines, and their legal neighbours."""

from asyncwait.conformance.evidence import (
    NearMiss,
    Witness,
    at,
    ends,
    leg,
    never,
    one_leg,
    outlives,
    replies,
    run,
)
from asyncwait.spec import Record
from asyncwait.spec.scenario import Crash, Handler, Plan, Scenario, SinkStep, Step

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
_BEGINS = "0: waits, takes 0, calls a"


WITNESSES: tuple[Witness, ...] = (
    Witness(
        "TIME-1",
        # a was decided at 80 by its answer's coming 40 before: the timer is a stale one.
        violating=one_leg(
            Scenario(timeout=80, inputs=at(0, A), plans=(replies("a", 40, "a1"),), handled=True),
            ends("finished", 80),
            _BEGINS,
            "40: #0 gives a1; 80: asks a",
        ),
        # The answer comes in the very instant of the deadline, and the deadline wins.
        legal=one_leg(
            _TIE, ends("finished", 80), _BEGINS, "80: #0 gives a1, asks a, out a-late, end"
        ),
        text="the handler was asked for 'a', no record of which is due",
    ),
    Witness(
        "TIME-2",
        violating=one_leg(
            _NO_HANDLER,
            ends("failed", 120, error="CallTimedOut", record=A),
            _BEGINS,
            "80: #0 cancelled",
        ),
        # Two deadlines in one instant: the one that fails the operator is enough.
        legal=one_leg(
            _NO_HANDLER,
            ends("failed", 80, error="CallTimedOut", record=B),
            "0: waits, takes 0 1, calls a b; 80: #0 cancelled, #1 cancelled",
        ),
        text="Record 'a' (input 0) passed its deadline and the operator did not fail",
    ),
    Witness(
        "TIME-3",
        violating=one_leg(_LATE, ends("finished", 80), _BEGINS, "80: asks a, #0 cancelled"),
        legal=one_leg(
            _LATE, ends("finished", 80), _BEGINS, "80: asks a, #0 cancelled, out a-late, end"
        ),
        text="Record 'a' (input 0): the handler's ('a-late',) did not come out",
    ),
    Witness(
        "TIME-4",
        violating=one_leg(
            _NO_HANDLER,
            ends("failed", 80, error="TimeoutError", detail="80 ms are over"),
            "0: waits, takes 0, calls a; 80: #0 cancelled",
        ),
        # Of two that are due, the error may name the second.
        legal=one_leg(
            _NO_HANDLER,
            ends("failed", 80, error="CallTimedOut", record=B),
            "0: waits, takes 0 1, calls a b; 80: #0 cancelled, #1 cancelled",
        ),
        text="expected CallTimedOut, got TimeoutError: 80 ms are over",
    ),
    Witness(
        "TIME-5",
        # The call is left alone, and ends by itself 40 later.
        violating=one_leg(
            Scenario(timeout=80, inputs=at(0, A), plans=(_LATE_A,), handled=True),
            ends("finished", 120),
            _BEGINS,
            "80: asks a, out a-late; 120: #0 gives a1",
        ),
        # It is told, and takes 40 to clean up.
        legal=one_leg(
            Scenario(
                timeout=80,
                inputs=at(0, A),
                plans=(outlives("a", 40, "a1", "a-late"),),
                handled=True,
                source_ends_at=120,
            ),
            ends("finished", 120),
            _BEGINS,
            "80: asks a, #0 told, out a-late; 120: #0 gives a1, end",
            abandoned=1,
        ),
        text="Record 'a' (input 0): its call was not cancelled at its deadline",
    ),
    Witness(
        "TIME-6",
        violating=one_leg(
            _STUBBORN,
            ends("finished", 200),
            _BEGINS,
            "80: asks a, #0 told, out a-late; 160: #0 gives a1, out a1",
        ),
        legal=one_leg(
            _STUBBORN,
            ends("finished", 200),
            _BEGINS,
            "80: asks a, #0 told, out a-late; 160: #0 gives a1; 200: end",
            abandoned=1,
        ),
        text="Record 'a1' is a late result: Record 'a' (input 0) was decided at its deadline",
    ),
    Witness(
        "TIME-7",
        # b was read at 0 and called at 40: its deadline is at 120.
        violating=one_leg(
            _ONE_SLOT,
            ends("finished", 80),
            "0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1, calls b; 80: asks b",
            "80: #1 cancelled",
        ),
        legal=one_leg(
            _ONE_SLOT,
            ends("finished", 120),
            "0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1, calls b; 120: asks b",
            "120: #1 cancelled, out b-late, end",
        ),
        text="Record 'b' (input 1) timed out before its time since its call",
    ),
    Witness(
        "TIME-8",
        # The call runs on from 80 to 160.
        violating=one_leg(
            _STUBBORN, ends("finished", 200), _BEGINS, "80: asks a, #0 told; 160: #0 gives a1"
        ),
        # The leg is over in the instant of the cancellation of b, so only a must be counted.
        legal=one_leg(
            _TWO_STUBBORN,
            ends("left", 160),
            _BEGINS,
            "80: asks a, #0 told, out a-late, takes 1, calls b; 160: #0 gives a1, asks b",
            "160: left, #1 told; 320: #1 gives b1",
            abandoned=1,
        ),
        text="1 call outlived its record, statistics say 0",
    ),
    Witness(
        "TIME-9",
        violating=one_leg(
            _TWO_STUBBORN,
            ends("failed", 160, error="TooManyAbandonedCalls"),
            _BEGINS,
            "80: asks a, #0 told, out a-late, takes 1, calls b",
            # The call of a has ended when that of b is told to.
            "120: #0 gives a1; 160: asks b, #1 told; 320: #1 gives b1",
        ),
        legal=one_leg(
            _TWO_STUBBORN,
            ends("finished", 320),
            _BEGINS,
            "80: asks a, #0 told, out a-late, takes 1, calls b; 160: #0 gives a1, asks b",
            "160: #1 told, out b-late; 320: #1 gives b1, end",
            abandoned=2,
        ),
        text="failed with TooManyAbandonedCalls, and never more than 1 ran on",
    ),
    Witness(
        "TIME-10",
        # The consumer is away until 120; the answer of a came 40 before the deadline.
        violating=one_leg(
            Scenario(
                timeout=80,
                inputs=at(0, A),
                plans=(replies("a", 40, "a1"),),
                sink=(SinkStep("pause", 120),),
            ),
            ends("failed", 120, error="CallTimedOut", record=A),
            "0: takes 0, calls a; 40: #0 gives a1; 120: waits",
        ),
        # There is an equal record, which did time out.
        legal=one_leg(
            Scenario(
                timeout=80,
                inputs=at(0, A, A),
                plans=(Plan("a", (Step(after=40, results=("a1",)), Step("never"))),),
                sink=(SinkStep("pause", 120),),
            ),
            ends("failed", 120, error="CallTimedOut", record=A),
            "0: takes 0 1, calls a a; 40: #0 gives a1; 80: #1 cancelled; 120: waits",
        ),
        text="Record 'a' (input 0) answered at 40, before its deadline",
    ),
)

C = Record("c")
_STUBBORN_STEP = (Step("never", results=("late",), swallow=True, clean_up=400),)

NEAR_MISSES: tuple[NearMiss, ...] = (
    # The operator failed at 160; that c was not decided at 240 is no fault of it.
    NearMiss(
        "TIME-9",
        one_leg(
            Scenario(
                mode="unordered",
                capacity=1,
                timeout=80,
                inputs=at(0, A, B, C),
                plans=(
                    Plan("a", _STUBBORN_STEP, Handler("reply")),
                    Plan("b", _STUBBORN_STEP, Handler("reply")),
                    never("c"),
                ),
                handled=True,
                sink=(SinkStep("pause", 400),),
            ),
            ends("failed", 400, error="TooManyAbandonedCalls", again="same", after="same"),
            "0: takes 0 1, calls a; 80: asks a, #0 told, calls b, takes 2",
            "160: asks b, #1 told, calls c; 161: #2 cancelled; 400: waits",
            "480: #0 gives late; 560: #1 gives late",
            abandoned=2,
        ),
    ),
    # a is there 120 ms after the scenario began, and 40 after its leg did: it has not waited.
    NearMiss(
        "TIME-7",
        run(
            Scenario(
                timeout=80, inputs=at(120, A), plans=(replies("a", 0, "a1"),), crashes=(Crash(80),)
            ),
            leg(ends("crashed", 80), "0: waits"),
            leg(ends("finished", 40), "0: waits; 40: takes 0, calls a, #0 gives a1, out a1, end"),
        ),
        applies=False,
    ),
)
