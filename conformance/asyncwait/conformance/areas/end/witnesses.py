"""END: runs that break a rule about endings, and their legal neighbours."""

from msgspec.structs import replace

from asyncwait.conformance.evidence import (
    NearMiss,
    Witness,
    at,
    ends,
    never,
    one_leg,
    raises,
    replies,
    took,
)
from asyncwait.spec import Record
from asyncwait.spec.scenario import (
    Blocked,
    Closed,
    Handler,
    Misuse,
    Plan,
    Scenario,
    SinkIntruded,
    SinkLeft,
    SinkStep,
    SourceAsked,
    Step,
)

A, B = Record("a"), Record("b")
A1 = Record("a1")

_ONE = Scenario(inputs=at(0, A), plans=(replies("a", 40, "a1"),))
_SILENT = Scenario(inputs=at(0, A), plans=(replies("a", 40),))
_LATE_END = Scenario(inputs=at(0, A), plans=(replies("a", 40, "a1"),), source_ends_at=80)
# The call takes 40 to clean up; the consumer is cancelled at 40.
_CLEANS_UP = Scenario(
    inputs=at(0, A), plans=(Plan("a", (Step("never", clean_up=40),)),), cancel_at=40
)
_HOOKS = Scenario(inputs=at(0, A), plans=(replies("a", 40),), hooks="plain")
_DEADLINE = Scenario(timeout=80, inputs=at(0, A), plans=(never("a"),))
_GIVES_UP = Scenario(
    inputs=at(0, A), plans=(replies("a", 40, "a1"),), sink=(SinkStep("give_up", 40),)
)
_ONE_SLOT = Scenario(
    capacity=1,
    inputs=at(0, A, B),
    plans=(replies("a", 40, "a1"), replies("b", 40, "b1")),
    cancel_at=40,
)

_SILENT_SOURCE = Scenario(
    inputs=at(0, A) + at(4_000, B), plans=(replies("a", 40, "a1"),), cancel_at=80
)
_CANNOT_OPEN = Scenario(inputs=at(0, A), hooks="plain", hook_error="open")
_CANNOT_CLOSE = Scenario(inputs=at(0, A), plans=(replies("a", 40),), close_error=True)
_INTRUDED = Scenario(inputs=at(0, A), plans=(replies("a", 40, "a1"),), sink=(SinkStep("intrude"),))
_BESIDE = Scenario(inputs=at(0, A), plans=(replies("a", 40),), company="beside")
_CANCELLED = Scenario(
    inputs=at(0, A), plans=(Plan("a", (Step("never", clean_up=40),)),), cancel_at=40
)
_LEFT_AND_CLEANED_UP = "40: left, closes, #0 told; 80: #0 ends"
_WRONG_INPUT = Scenario(inputs=at(0, A), wrong_argument="elements")
_WITH_A_SCOPE = Scenario(inputs=at(0, A), plans=(replies("a", 40),), source="scope")

_RAISES = Scenario(
    inputs=at(0, A), plans=(replies("a", 40, "a1"),), sink=(SinkStep("read", 1), SinkStep("raise"))
)

_BEGINS = "0: waits, takes 0, calls a"
_CLOSED = "40: closes, closed"


WITNESSES: tuple[Witness, ...] = (
    Witness(
        "END-1",
        violating=one_leg(_ONE, ends("finished", 0), _BEGINS, "0: end, #0 cancelled"),
        # a is decided when the stream ends, and has nothing to put out.
        legal=one_leg(_SILENT, ends("finished", 40), _BEGINS, "0: end; 40: #0 gives"),
        text="the stream ended while Record 'a' (input 0) was undecided",
    ),
    Witness(
        "END-2",
        violating=one_leg(
            _LATE_END, ends("finished", 81), _BEGINS, "40: #0 gives a1, out a1; 80: end"
        ),
        legal=one_leg(_LATE_END, ends("finished", 80), _BEGINS, "40: #0 gives a1, out a1; 80: end"),
        text="the source has ended and everything came out, but the stream goes on",
    ),
    Witness(
        "END-3",
        # The context is left while the call cleans up.
        violating=one_leg(
            _CLEANS_UP, ends("left", 40), _BEGINS, "40: left, #0 told, closes, closed; 80: #0 ends"
        ),
        legal=one_leg(
            _CLEANS_UP, ends("left", 40), _BEGINS, "40: left, #0 told, closes; 80: #0 ends, closed"
        ),
        text="call 0 of 'a' still ran after leaving",
    ),
    Witness(
        "END-4",
        violating=one_leg(
            _SILENT, ends("finished", 40), _BEGINS, "0: end; 40: #0 gives", timers_left=1
        ),
        legal=one_leg(_SILENT, ends("finished", 40), _BEGINS, "0: end; 40: #0 gives"),
        text="1 timer is left",
    ),
    Witness(
        "END-5",
        # It is closed, but only after the operator has said that it is gone.
        violating=one_leg(
            _SILENT, ends("finished", 40), _BEGINS, "0: end; 40: #0 gives, closed, closes"
        ),
        legal=one_leg(_SILENT, ends("finished", 40), _BEGINS, "0: end; 40: #0 gives", _CLOSED),
        text="the operator is gone, and its source is not closed",
    ),
    Witness(
        "END-6",
        # The first call begins before the function is open.
        violating=one_leg(
            _HOOKS,
            ends("finished", 40),
            _BEGINS,
            "0: hook open, end; 40: #0 gives, closes, hook close, closed",
        ),
        legal=one_leg(
            _HOOKS,
            ends("finished", 40),
            "0: hook open",
            _BEGINS,
            "0: end; 40: #0 gives, closes, hook close, closed",
        ),
        text="a call ran before open or after close",
    ),
    Witness(
        "END-7",
        violating=one_leg(
            _SILENT,
            ends("finished", 40, again="stop", after="raised ClosedResourceError"),
            _BEGINS,
            "0: end; 40: #0 gives",
        ),
        legal=one_leg(
            _SILENT,
            ends("finished", 40, again="stop", after="stop"),
            _BEGINS,
            "0: end; 40: #0 gives",
        ),
        text="after leaving, a further read raised ClosedResourceError",
    ),
    Witness(
        "END-8",
        violating=one_leg(_DEADLINE, ends("hung", 2600), _BEGINS, "0: end"),
        # The call never answers either, but its deadline ends the leg.
        legal=one_leg(
            _DEADLINE,
            ends("failed", 80, error="CallTimedOut", record=A),
            _BEGINS,
            "0: end; 80: #0 cancelled",
        ),
        text="nothing happens any more",
    ),
    Witness(
        "END-9",
        # a1 was on its way into the wait that was given up in the same instant.
        violating=one_leg(
            _GIVES_UP, ends("finished", 40), _BEGINS, "0: end; 40: #0 gives a1, gives up, waits"
        ),
        legal=one_leg(
            _GIVES_UP,
            ends("finished", 40),
            _BEGINS,
            "0: end; 40: #0 gives a1, gives up, waits, out a1",
        ),
        text="Record 'a' (input 0) was lost with a wait that was given up at 40",
    ),
    Witness(
        "END-10",
        # The slot that a frees by its clean-up is filled again.
        violating=one_leg(
            Scenario(
                capacity=1,
                inputs=at(0, A, B),
                plans=(Plan("a", (Step("never", clean_up=40),)),),
                cancel_at=40,
            ),
            ends("left", 40),
            "0: waits, takes 0 1, calls a; 40: left, #0 told; 80: #0 ends, calls b",
            "80: #1 cancelled",
        ),
        # b is called in the very instant of leaving, when a has answered.
        legal=one_leg(
            _ONE_SLOT,
            ends("left", 40),
            "0: waits, takes 0 1, calls a; 40: #0 gives a1",
            (*took(40, A1), SinkLeft(40)),
            "40: calls b, #1 cancelled",
        ),
        text="call 1 of 'b' began after leaving",
    ),
    Witness(
        "END-11",
        # The operator is left when the source gives its next element.
        violating=one_leg(
            _SILENT_SOURCE,
            ends("left", 80, after="stop"),
            _BEGINS,
            "40: #0 gives a1, out a1; 80: left; 4000: closes, closed",
        ),
        legal=one_leg(
            _SILENT_SOURCE,
            ends("left", 80, after="stop"),
            _BEGINS,
            "40: #0 gives a1, out a1; 80: left, closes, closed",
        ),
        text="leaving took 3920 ms, and nothing had to be cleaned up for longer than 0 ms",
    ),
    Witness(
        "END-12",
        violating=one_leg(
            _CANNOT_OPEN,
            ends("finished", 0, again="stop", after="stop"),
            "0: hook open",
            _BEGINS,
            "0: end, #0 gives a, out a, closes, hook close, closed",
        ),
        legal=one_leg(
            _CANNOT_OPEN,
            ends("failed", 0, error="Planned", unchanged=True),
            "0: hook open, closes, closed",
        ),
        text="open raised, and the leg finished",
    ),
    Witness(
        "END-13",
        violating=one_leg(
            _CANNOT_CLOSE,
            ends("finished", 40, again="stop", after="stop"),
            _BEGINS,
            "0: end; 40: #0 gives",
            _CLOSED,
        ),
        legal=one_leg(
            _CANNOT_CLOSE,
            ends("failed", 40, error="PlannedSourceError", unchanged=True),
            _BEGINS,
            "0: end; 40: #0 gives",
            _CLOSED,
        ),
        text="closing raised, and leaving did not",
    ),
    Witness(
        "END-14",
        violating=one_leg(
            _INTRUDED,
            ends("finished", 40),
            _BEGINS,
            "0: end; 40: #0 gives a1, out a1",
            (SinkIntruded(40, "waits"),),
        ),
        legal=one_leg(
            _INTRUDED,
            ends("finished", 40),
            _BEGINS,
            "0: end",
            (SinkIntruded(0, "raised RuntimeError"),),
            "40: #0 gives a1, out a1",
        ),
        text="a second task that read while the consumer waited got no error: it waits",
    ),
    Witness(
        "END-15",
        violating=one_leg(
            _BESIDE,
            ends("finished", 40),
            _BEGINS,
            "0: end; 40: #0 gives",
            company="another operator on the loop gave [], expected 6 records",
        ),
        legal=one_leg(_BESIDE, ends("finished", 40), _BEGINS, "0: end; 40: #0 gives"),
        text="another operator on the loop gave [], expected 6 records",
    ),
    Witness(
        "END-16",
        violating=one_leg(
            _WITH_A_SCOPE,
            ends("failed", 0, error="RuntimeError", detail="in another task"),
            _BEGINS,
            "0: #0 gives",
        ),
        legal=one_leg(
            _WITH_A_SCOPE, ends("finished", 40), _BEGINS, "0: end; 40: #0 gives", _CLOSED
        ),
        text="the source can't be read or closed like this: RuntimeError in another task",
    ),
    Witness(
        "END-17",
        violating=one_leg(
            _LATE_END,
            ends("finished", 80),
            _BEGINS,
            "0: reads; 40: #0 gives a1, out a1",
            (Misuse(60, "interrupted", "the read of the source"), SourceAsked(60)),
            "80: end",
        ),
        legal=one_leg(
            _SILENT_SOURCE,
            ends("left", 80),
            _BEGINS,
            "0: reads; 40: #0 gives a1, out a1",
            (SinkLeft(80), Misuse(80, "interrupted", "the read of the source")),
            "80: closes, closed",
        ),
        text="the read of the source was interrupted while the operator ran",
    ),
    Witness(
        "END-18",
        violating=one_leg(
            _RAISES,
            ends("failed", 40, error="ExceptionGroup"),
            _BEGINS,
            "40: #0 gives a1, out a1",
            (SinkLeft(40, raising=True),),
            _CLOSED,
        ),
        legal=one_leg(
            _RAISES,
            ends("left", 40, unchanged=True),
            _BEGINS,
            "40: #0 gives a1, out a1",
            (SinkLeft(40, raising=True),),
            _CLOSED,
        ),
        text="the body raised, and the leg failed with ExceptionGroup",
    ),
    Witness(
        "END-19",
        # A text is no input, and fails where it is read.
        violating=one_leg(
            _WRONG_INPUT, ends("failed", 0, error="AttributeError"), "0: waits, closed"
        ),
        legal=one_leg(_WRONG_INPUT, ends("failed", 0, error="InvalidConfig"), "0: closed"),
        text="expected InvalidConfig, as `elements` is a text, and the leg failed with "
        "AttributeError",
    ),
    Witness(
        "END-20",
        violating=one_leg(
            _CANCELLED,
            ends("left", 40, after="stop"),
            _BEGINS,
            _LEFT_AND_CLEANED_UP,
            (Closed(80), Misuse(80, "swallowed", "leaving let it go on")),
        ),
        legal=one_leg(
            _CANCELLED, ends("left", 40, after="stop"), _BEGINS, _LEFT_AND_CLEANED_UP, "80: closed"
        ),
        text="the consumer was cancelled, and leaving let it go on",
    ),
)

_CLOSING = Scenario(inputs=at(0, A), close_takes=40, sink=(SinkStep("leave"),))
_LATE_FAILURE = Scenario(inputs=at(0, A), plans=(raises("a", 80),), cancel_at=40)
_TOLD_LATE = ends("left", 40, after="raised CallFailed")
_BOTH_STUBBORN = Scenario(
    capacity=1,
    timeout=40,
    inputs=at(0, A, B),
    plans=tuple(Plan(v, (Step("never", swallow=True),), Handler("reply")) for v in "ab"),
    handled=True,
    close_error=True,
)

NEAR_MISSES: tuple[NearMiss, ...] = (
    # In floats, 40 ms behind 23.112 ms is a little earlier than 63.112 ms.
    NearMiss("END-11", one_leg(_CLOSING, ends("left", 23.112), "63.112: closes, closed")),
    NearMiss(
        "END-11",
        one_leg(_CLOSING, ends("left", 23.112), "63.115: closes, closed"),
        "leaving took 40.003 ms, and nothing had to be cleaned up for longer than 40 ms",
    ),
    NearMiss(
        "END-6",
        one_leg(_HOOKS, ends("finished", 0), "0: takes 0, calls a, end, #0 gives, closes, closed"),
        "expected open, then close, got none",
    ),
    # It was not given what the scenario says, so what it makes of it speaks of no other rule.
    *(
        NearMiss(
            "END-19",
            one_leg(
                Scenario(inputs=at(0, A), hooks="plain", wrong_argument=argument),
                ends("hung", 0),
                "0: waits",
            ),
            f"expected InvalidConfig, as `{argument}` is a text, and the leg hung",
        )
        for argument in ("config", "fn", "elements", "restore")
    ),
    # A task that was started before the refusal is one too many.
    NearMiss(
        "END-4",
        one_leg(
            Scenario(inputs=at(0, A), wrong_argument="fn"),
            ends("failed", 0, error="InvalidConfig"),
            "0: closed",
            tasks_left=1,
        ),
        "1 task is left",
    ),
    # Even if whoever asks again after leaving waits for ever: that is for other rules.
    NearMiss(
        "END-17",
        one_leg(
            Scenario(inputs=at(0, A), sink=(SinkStep("leave"),)),
            ends("hung", 80),
            "0: reads, left",
            (Misuse(0, "interrupted", "the read of the source"),),
            "0: closes, closed",
        ),
        also="END-8",
    ),
    # The answer of the call blocked the loop in the instant of the deadline, and came late.
    NearMiss(
        "END-17",
        one_leg(
            Scenario(
                timeout=80,
                inputs=at(0, A),
                plans=(Plan("a", (Step("raise", 80, error="ValueError", blocks=40),)),),
                source_ends_at=400,
            ),
            ends("failed", 120, error="CallTimedOut", record=A, again="same", after="same"),
            "0: waits, reads, takes 0, reads, calls a",
            (Misuse(80, "interrupted", "the read of the source"), Blocked(80, 120)),
            "120: #0 raises",
        ),
    ),
    # It was cancelled at 40, and leaves when its wait is over; an operator may work until then.
    NearMiss(
        "END-7",
        one_leg(
            replace(_LATE_FAILURE, shields=True),
            _TOLD_LATE,
            "0: takes 0, calls a, waits; 40: left; 80: #0 raises, closes, closed",
        ),
    ),
    NearMiss(
        "END-7",
        one_leg(
            _LATE_FAILURE,
            _TOLD_LATE,
            "0: takes 0, calls a, waits; 40: left; 80: #0 raises, closes, closed",
        ),
        "after leaving, a further read raised CallFailed",
        also="END-3",
    ),
    # The call raises at 40, when the consumer leaves, who learns it by reading once more.
    NearMiss(
        "END-7",
        one_leg(
            Scenario(inputs=at(0, A), plans=(raises("a", 40),), cancel_at=40, source_ends_at=400),
            _TOLD_LATE,
            _BEGINS,
            "40: #0 raises, left",
        ),
    ),
    # Where a call never answers and has no deadline, waiting for ever is all there is to do.
    NearMiss(
        "END-8",
        one_leg(
            Scenario(inputs=at(0, A), plans=(never("a"),)), ends("hung", 1000), _BEGINS, "0: end"
        ),
        applies=False,
    ),
    # The answer of the first call blocked the loop before anybody could be told to leave.
    NearMiss(
        "END-10",
        one_leg(
            Scenario(
                inputs=at(0, A) + at(40, B),
                plans=(Plan("a", (Step(after=40, blocks=40),)), never("b")),
                cancel_at=40,
            ),
            ends("left", 40),
            _BEGINS,
            "40: left, takes 1",
            (Blocked(40, 80),),
            "80: #0 gives, calls b, #1 cancelled",
        ),
    ),
    # The operator has failed when its source is closed; what that raises is a note on it.
    NearMiss(
        "END-13",
        one_leg(
            _BOTH_STUBBORN,
            ends("failed", 85, error="TooManyAbandonedCalls"),
            _BEGINS,
            "40: asks a, #0 told, takes 1, calls b; 80: asks b, #1 told; 85: closes, closed",
        ),
        also="END-2 END-3 TIME-8",
    ),
)
