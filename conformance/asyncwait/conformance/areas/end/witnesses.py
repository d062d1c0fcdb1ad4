"""END: runs that break a rule about endings, and their legal neighbours."""

from asyncwait.conformance.evidence import (
    Events,
    Witness,
    answered,
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
from asyncwait.spec import Record
from asyncwait.spec.scenario import (
    CallCancelled,
    CallEnded,
    Closed,
    HookRun,
    Misuse,
    Plan,
    Scenario,
    SinkGaveUp,
    SinkIntruded,
    SinkLeft,
    SinkStep,
    SourceAsked,
    SourceClosed,
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
_LEFT_AND_CLEANED_UP = (
    SinkLeft(40),
    SourceClosed(40),
    CallCancelled(40, 0),
    CallEnded(80, 0, "cancelled"),
)
_WRONG_INPUT = Scenario(inputs=at(0, A), wrong_argument="elements")
_WITH_A_SCOPE = Scenario(inputs=at(0, A), plans=(replies("a", 40),), source="scope")

_RAISES = Scenario(
    inputs=at(0, A), plans=(replies("a", 40, "a1"),), sink=(SinkStep("read", 1), SinkStep("raise"))
)

_BEGINS: Events = (*waits(0), *taken(0, 0), *called(0, "a"))
_CLOSED: Events = (SourceClosed(40), Closed(40))


WITNESSES: tuple[Witness, ...] = (
    Witness(
        "END-1",
        violating=run(
            _ONE,
            leg(ends("finished", 0), _BEGINS, input_ended(0), cancelled(0, 0)),
        ),
        # a is decided when the stream ends, and has nothing to put out.
        legal=run(
            _SILENT,
            leg(ends("finished", 40), _BEGINS, input_ended(0), answered(40, 0)),
        ),
        text="the stream ended while Record 'a' (input 0) was undecided",
    ),
    Witness(
        "END-2",
        violating=run(
            _LATE_END,
            leg(
                ends("finished", 81),
                _BEGINS,
                answered(40, 0, "a1"),
                took(40, A1),
                input_ended(80),
            ),
        ),
        legal=run(
            _LATE_END,
            leg(
                ends("finished", 80),
                _BEGINS,
                answered(40, 0, "a1"),
                took(40, A1),
                input_ended(80),
            ),
        ),
        text="the source has ended and everything came out, but the stream goes on",
    ),
    Witness(
        "END-3",
        # The context is left while the call cleans up.
        violating=run(
            _CLEANS_UP,
            leg(
                ends("left", 40),
                _BEGINS,
                (SinkLeft(40), CallCancelled(40, 0), SourceClosed(40), Closed(40)),
                (CallEnded(80, 0, "cancelled"),),
            ),
        ),
        legal=run(
            _CLEANS_UP,
            leg(
                ends("left", 40),
                _BEGINS,
                (SinkLeft(40), CallCancelled(40, 0), SourceClosed(40)),
                (CallEnded(80, 0, "cancelled"), Closed(80)),
            ),
        ),
        text="call 0 of 'a' still ran after leaving",
    ),
    Witness(
        "END-4",
        violating=run(
            _SILENT,
            leg(ends("finished", 40), _BEGINS, input_ended(0), answered(40, 0), timers_left=1),
        ),
        legal=run(
            _SILENT,
            leg(ends("finished", 40), _BEGINS, input_ended(0), answered(40, 0)),
        ),
        text="1 timer is left",
    ),
    Witness(
        "END-5",
        # It is closed, but only after the operator has said that it is gone.
        violating=run(
            _SILENT,
            leg(
                ends("finished", 40),
                _BEGINS,
                input_ended(0),
                answered(40, 0),
                (Closed(40), SourceClosed(40)),
            ),
        ),
        legal=run(
            _SILENT,
            leg(ends("finished", 40), _BEGINS, input_ended(0), answered(40, 0), _CLOSED),
        ),
        text="the operator is gone, and its source is not closed",
    ),
    Witness(
        "END-6",
        # The first call begins before the function is open.
        violating=run(
            _HOOKS,
            leg(
                ends("finished", 40),
                _BEGINS,
                (HookRun(0, "open"),),
                input_ended(0),
                answered(40, 0),
                (SourceClosed(40), HookRun(40, "close"), Closed(40)),
            ),
        ),
        legal=run(
            _HOOKS,
            leg(
                ends("finished", 40),
                (HookRun(0, "open"),),
                _BEGINS,
                input_ended(0),
                answered(40, 0),
                (SourceClosed(40), HookRun(40, "close"), Closed(40)),
            ),
        ),
        text="a call ran before open or after close",
    ),
    Witness(
        "END-7",
        violating=run(
            _SILENT,
            leg(
                ends("finished", 40, again="stop", after="raised ClosedResourceError"),
                _BEGINS,
                input_ended(0),
                answered(40, 0),
            ),
        ),
        legal=run(
            _SILENT,
            leg(
                ends("finished", 40, again="stop", after="stop"),
                _BEGINS,
                input_ended(0),
                answered(40, 0),
            ),
        ),
        text="after leaving, a further read raised ClosedResourceError",
    ),
    Witness(
        "END-8",
        violating=run(
            _DEADLINE,
            leg(ends("hung", 2600), _BEGINS, input_ended(0)),
        ),
        # The call never answers either, but its deadline ends the leg.
        legal=run(
            _DEADLINE,
            leg(
                ends("failed", 80, error="CallTimedOut", record=A),
                _BEGINS,
                input_ended(0),
                cancelled(80, 0),
            ),
        ),
        text="nothing happens any more",
    ),
    Witness(
        "END-9",
        # a1 was on its way into the wait that was given up in the same instant.
        violating=run(
            _GIVES_UP,
            leg(
                ends("finished", 40),
                _BEGINS,
                input_ended(0),
                answered(40, 0, "a1"),
                (SinkGaveUp(40),),
                waits(40),
            ),
        ),
        legal=run(
            _GIVES_UP,
            leg(
                ends("finished", 40),
                _BEGINS,
                input_ended(0),
                answered(40, 0, "a1"),
                (SinkGaveUp(40),),
                waits(40),
                took(40, A1),
            ),
        ),
        text="Record 'a' (input 0) was lost with a wait that was given up at 40",
    ),
    Witness(
        "END-10",
        # The slot that a frees by its clean-up is filled again.
        violating=run(
            Scenario(
                capacity=1,
                inputs=at(0, A, B),
                plans=(Plan("a", (Step("never", clean_up=40),)),),
                cancel_at=40,
            ),
            leg(
                ends("left", 40),
                waits(0),
                taken(0, 0, 1),
                called(0, "a"),
                (SinkLeft(40), CallCancelled(40, 0), CallEnded(80, 0, "cancelled")),
                called(80, "b", first=1),
                cancelled(80, 1),
            ),
        ),
        # b is called in the very instant of leaving, when a has answered.
        legal=run(
            _ONE_SLOT,
            leg(
                ends("left", 40),
                waits(0),
                taken(0, 0, 1),
                called(0, "a"),
                answered(40, 0, "a1"),
                (*took(40, A1), SinkLeft(40)),
                called(40, "b", first=1),
                cancelled(40, 1),
            ),
        ),
        text="call 1 of 'b' began after leaving",
    ),
    Witness(
        "END-11",
        # The operator is left when the source gives its next element.
        violating=run(
            _SILENT_SOURCE,
            leg(
                ends("left", 80, after="stop"),
                _BEGINS,
                answered(40, 0, "a1"),
                took(40, Record("a1")),
                (SinkLeft(80), SourceClosed(4_000), Closed(4_000)),
            ),
        ),
        legal=run(
            _SILENT_SOURCE,
            leg(
                ends("left", 80, after="stop"),
                _BEGINS,
                answered(40, 0, "a1"),
                took(40, Record("a1")),
                (SinkLeft(80), SourceClosed(80), Closed(80)),
            ),
        ),
        text="leaving took 3920 ms, and nothing had to be cleaned up for longer than 0 ms",
    ),
    Witness(
        "END-12",
        violating=run(
            _CANNOT_OPEN,
            leg(
                ends("finished", 0, again="stop", after="stop"),
                (HookRun(0, "open"),),
                _BEGINS,
                input_ended(0),
                answered(0, 0, "a"),
                took(0, Record("a")),
                (SourceClosed(0), HookRun(0, "close"), Closed(0)),
            ),
        ),
        legal=run(
            _CANNOT_OPEN,
            leg(
                ends("failed", 0, error="Planned", unchanged=True),
                (HookRun(0, "open"), SourceClosed(0), Closed(0)),
            ),
        ),
        text="open raised, and the leg finished",
    ),
    Witness(
        "END-13",
        violating=run(
            _CANNOT_CLOSE,
            leg(
                ends("finished", 40, again="stop", after="stop"),
                _BEGINS,
                input_ended(0),
                answered(40, 0),
                _CLOSED,
            ),
        ),
        legal=run(
            _CANNOT_CLOSE,
            leg(
                ends("failed", 40, error="PlannedSourceError", unchanged=True),
                _BEGINS,
                input_ended(0),
                answered(40, 0),
                _CLOSED,
            ),
        ),
        text="closing raised, and leaving did not",
    ),
    Witness(
        "END-14",
        violating=run(
            _INTRUDED,
            leg(
                ends("finished", 40),
                _BEGINS,
                input_ended(0),
                answered(40, 0, "a1"),
                took(40, Record("a1")),
                (SinkIntruded(40, "waits"),),
            ),
        ),
        legal=run(
            _INTRUDED,
            leg(
                ends("finished", 40),
                _BEGINS,
                input_ended(0),
                (SinkIntruded(0, "raised RuntimeError"),),
                answered(40, 0, "a1"),
                took(40, Record("a1")),
            ),
        ),
        text="a second task that read while the consumer waited got no error: it waits",
    ),
    Witness(
        "END-15",
        violating=run(
            _BESIDE,
            leg(
                ends("finished", 40),
                _BEGINS,
                input_ended(0),
                answered(40, 0),
                company="another operator on the loop gave [], expected 6 records",
            ),
        ),
        legal=run(
            _BESIDE,
            leg(ends("finished", 40), _BEGINS, input_ended(0), answered(40, 0)),
        ),
        text="another operator on the loop gave [], expected 6 records",
    ),
    Witness(
        "END-16",
        violating=run(
            _WITH_A_SCOPE,
            leg(
                ends("failed", 0, error="RuntimeError", detail="in another task"),
                _BEGINS,
                answered(0, 0),
            ),
        ),
        legal=run(
            _WITH_A_SCOPE,
            leg(ends("finished", 40), _BEGINS, input_ended(0), answered(40, 0), _CLOSED),
        ),
        text="the source can't be read or closed like this: RuntimeError in another task",
    ),
    Witness(
        "END-17",
        violating=run(
            _LATE_END,
            leg(
                ends("finished", 80),
                _BEGINS,
                (SourceAsked(0),),
                answered(40, 0, "a1"),
                took(40, Record("a1")),
                (Misuse(60, "interrupted", "the read of the source"), SourceAsked(60)),
                input_ended(80),
            ),
        ),
        legal=run(
            _SILENT_SOURCE,
            leg(
                ends("left", 80),
                _BEGINS,
                (SourceAsked(0),),
                answered(40, 0, "a1"),
                took(40, Record("a1")),
                (SinkLeft(80), Misuse(80, "interrupted", "the read of the source")),
                (SourceClosed(80), Closed(80)),
            ),
        ),
        text="the read of the source was interrupted while the operator ran",
    ),
    Witness(
        "END-18",
        violating=run(
            _RAISES,
            leg(
                ends("failed", 40, error="ExceptionGroup"),
                _BEGINS,
                answered(40, 0, "a1"),
                took(40, A1),
                (SinkLeft(40, raising=True),),
                _CLOSED,
            ),
        ),
        legal=run(
            _RAISES,
            leg(
                ends("left", 40, unchanged=True),
                _BEGINS,
                answered(40, 0, "a1"),
                took(40, A1),
                (SinkLeft(40, raising=True),),
                _CLOSED,
            ),
        ),
        text="the body raised, and the leg failed with ExceptionGroup",
    ),
    Witness(
        "END-19",
        # A text is no input, and fails where it is read.
        violating=run(
            _WRONG_INPUT,
            leg(ends("failed", 0, error="AttributeError"), waits(0), (Closed(0),)),
        ),
        legal=run(_WRONG_INPUT, leg(ends("failed", 0, error="InvalidConfig"), (Closed(0),))),
        text="expected InvalidConfig, as `elements` is a text, and the leg failed with "
        "AttributeError",
    ),
    Witness(
        "END-20",
        violating=run(
            _CANCELLED,
            leg(
                ends("left", 40, after="stop"),
                _BEGINS,
                _LEFT_AND_CLEANED_UP,
                (Closed(80), Misuse(80, "swallowed", "leaving let it go on")),
            ),
        ),
        legal=run(
            _CANCELLED,
            leg(
                ends("left", 40, after="stop"),
                _BEGINS,
                _LEFT_AND_CLEANED_UP,
                (Closed(80),),
            ),
        ),
        text="the consumer was cancelled, and leaving let it go on",
    ),
)
