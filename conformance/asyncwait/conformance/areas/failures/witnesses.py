"""FAIL: runs that break a rule about failures, and their legal neighbours."""

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
    raised,
    raises,
    replies,
    run,
    taken,
    took,
    waits,
)
from asyncwait.spec import Barrier, Record, Snapshot
from asyncwait.spec.scenario import Plan, Scenario, SinkStep, SourceClosed, Step

A, B = Record("a"), Record("b")

# b fails at 40, a is undecided until 80.
_ONE_FAILS = Scenario(inputs=at(0, A, B), plans=(replies("a", 80, "a1"), raises("b", 40)))
# Both have a result or an error at 40.
_TIE = Scenario(inputs=at(0, A, B), plans=(replies("a", 40, "a1"), raises("b", 40)))
_ODD = Scenario(inputs=at(0, A), plans=(raises("a", 40, "StopAsyncIteration"),))
# a fails at 120 and b at 40; the consumer is away until 200.
_TWO_FAIL = Scenario(
    inputs=at(0, A, B),
    plans=(raises("a", 120), raises("b", 40)),
    sink=(SinkStep("pause", 200),),
)
_BOTH_FAIL_AT_ONCE = Scenario(inputs=at(0, A, B), plans=(raises("a", 40), raises("b", 40)))
_SOURCE_RAISES = Scenario(
    inputs=at(0, A, Barrier(1)), plans=(replies("a", 40),), source_error="own"
)
_INTERRUPTED = Scenario(inputs=at(0, A), plans=(raises("a", 40, "KeyboardInterrupt"),))
# a ends at 40, and somebody cancels the task of its call at 80.
_KEPT = Scenario(
    inputs=at(0, A, B),
    plans=(Plan("a", (Step(after=40, results=("a1",), after_end=40),)), replies("b", 120, "b1")),
)
_OWN_DEADLINE = Scenario(timeout=40, inputs=at(0, A), plans=(never("a"),))

_TWO_CALLS: Events = (*waits(0), *taken(0, 0, 1), *called(0, "a", "b"))
_FAILED_B = {"error": "CallFailed", "record": B, "cause": "ValueError"}
_AGAIN = {"again": "same", "after": "same"}


WITNESSES: tuple[Witness, ...] = (
    Witness(
        "FAIL-1",
        violating=run(
            _BOTH_FAIL_AT_ONCE,
            leg(
                ends("failed", 40, error="CallFailed", cause="ValueError"),
                _TWO_CALLS,
                raised(40, 0),
                raised(40, 1),
            ),
        ),
        # Either of the two may be named.
        legal=run(
            _BOTH_FAIL_AT_ONCE,
            leg(ends("failed", 40, **_FAILED_B), _TWO_CALLS, raised(40, 0), raised(40, 1)),
        ),
        text="expected the record Record 'a' in the error, got None",
    ),
    Witness(
        "FAIL-2",
        # The failure waits for its turn behind a.
        violating=run(
            _ONE_FAILS,
            leg(
                ends("failed", 80, **_FAILED_B),
                _TWO_CALLS,
                raised(40, 1),
                answered(80, 0, "a1"),
                took(80, Record("a1")),
            ),
        ),
        # In one instant, a1 may come out before.
        legal=run(
            _TIE,
            leg(
                ends("failed", 40, **_FAILED_B),
                _TWO_CALLS,
                raised(40, 1),
                answered(40, 0, "a1"),
                took(40, Record("a1")),
            ),
        ),
        text="Record 'b' (input 1) failed, but the waiting consumer was not told",
    ),
    Witness(
        "FAIL-3",
        # The consumer comes back at 80, takes a finished result and only then gets the error.
        violating=run(
            Scenario(
                inputs=at(0, A, B),
                plans=(replies("a", 0, "a1"), raises("b", 40)),
                sink=(SinkStep("pause", 80),),
            ),
            leg(
                ends("failed", 80, **_FAILED_B),
                taken(0, 0, 1),
                called(0, "a", "b"),
                answered(0, 0, "a1"),
                raised(40, 1),
                waits(80),
                took(80, Record("a1")),
            ),
        ),
        # It comes back in the very instant of the failure.
        legal=run(
            Scenario(
                inputs=at(0, A, B),
                plans=(replies("a", 0, "a1"), raises("b", 40)),
                sink=(SinkStep("pause", 40),),
            ),
            leg(
                ends("failed", 40, **_FAILED_B),
                taken(0, 0, 1),
                called(0, "a", "b"),
                answered(0, 0, "a1"),
                raised(40, 1),
                waits(40),
                took(40, Record("a1")),
            ),
        ),
        text="Record 'a1' came out after the failure at 40",
    ),
    Witness(
        "FAIL-4",
        # The error of a is the first in the order of the input, and the second in time.
        violating=run(
            _TWO_FAIL,
            leg(
                ends("failed", 200, error="CallFailed", record=A, cause="ValueError"),
                taken(0, 0, 1),
                called(0, "a", "b"),
                raised(40, 1),
                raised(120, 0),
                waits(200),
            ),
        ),
        # A sound operator does not let a come so far.
        legal=run(
            _TWO_FAIL,
            leg(
                ends("failed", 200, **_FAILED_B),
                taken(0, 0, 1),
                called(0, "a", "b"),
                raised(40, 1),
                cancelled(40, 0),
                waits(200),
            ),
        ),
        text="Record 'b' failed first, the error names Record 'a'",
    ),
    Witness(
        "FAIL-5",
        # The user's StopAsyncIteration has become the end of the stream.
        violating=run(
            _ODD,
            leg(ends("finished", 40), waits(0), taken(0, 0), called(0, "a"), raised(40, 0)),
        ),
        legal=run(
            _ODD,
            leg(
                ends("failed", 40, error="CallFailed", record=A, cause="StopAsyncIteration"),
                waits(0),
                taken(0, 0),
                called(0, "a"),
                raised(40, 0),
            ),
        ),
        text="expected CallFailed, the leg finished",
    ),
    Witness(
        "FAIL-6",
        # The error is there again, but it is a copy.
        violating=run(
            _ONE_FAILS,
            leg(
                ends("failed", 40, **_FAILED_B, again="same", after="raised CallFailed"),
                _TWO_CALLS,
                raised(40, 1),
                cancelled(40, 0),
            ),
        ),
        legal=run(
            _ONE_FAILS,
            leg(
                ends("failed", 40, **_FAILED_B, **_AGAIN),
                _TWO_CALLS,
                raised(40, 1),
                cancelled(40, 0),
            ),
        ),
        text="after leaving, a further read raised CallFailed, not the same error",
    ),
    Witness(
        "FAIL-7",
        # a is still undecided when the error of the source comes out.
        violating=run(
            _SOURCE_RAISES,
            leg(
                ends("failed", 0, error="PlannedSourceError", unchanged=True),
                waits(0),
                taken(0, 0),
                called(0, "a"),
                taken(0, 1),
                took(0, Snapshot(1, (A,))),
                input_ended(0, raised=True),
                cancelled(0, 0),
            ),
        ),
        # It is decided, and has no results.
        legal=run(
            _SOURCE_RAISES,
            leg(
                ends("failed", 40, error="PlannedSourceError", unchanged=True),
                waits(0),
                taken(0, 0),
                called(0, "a"),
                taken(0, 1),
                took(0, Snapshot(1, (A,))),
                input_ended(0, raised=True),
                answered(40, 0),
            ),
        ),
        text="the source's error came before Record 'a' (input 0)",
    ),
    Witness(
        "FAIL-8",
        # The deadline of a would be at 40.
        violating=run(
            _OWN_DEADLINE,
            leg(
                ends("failed", 39, error="CallTimedOut", record=A, detail="no result"),
                waits(0),
                taken(0, 0),
                called(0, "a"),
                cancelled(39, 0),
            ),
        ),
        legal=run(
            _OWN_DEADLINE,
            leg(
                ends("failed", 40, error="CallTimedOut", record=A, detail="no result"),
                waits(0),
                taken(0, 0),
                called(0, "a"),
                cancelled(40, 0),
            ),
        ),
        text="nothing failed that explains CallTimedOut: no result",
    ),
    Witness(
        "FAIL-9",
        violating=run(
            _BOTH_FAIL_AT_ONCE,
            leg(
                ends("failed", 40, error="ExceptionGroup", detail="2 sub-exceptions"),
                _TWO_CALLS,
                raised(40, 0),
                raised(40, 1),
            ),
        ),
        legal=run(
            _BOTH_FAIL_AT_ONCE,
            leg(ends("failed", 40, **_FAILED_B), _TWO_CALLS, raised(40, 0), raised(40, 1)),
        ),
        text="expected the plain error, got 2 sub-exceptions",
    ),
    Witness(
        "FAIL-10",
        # What the user sees is an error of the operator's own machinery.
        violating=run(
            _ONE_FAILS,
            leg(
                ends("failed", 40, error="CallFailed", record=B, cause="InvalidStateError"),
                _TWO_CALLS,
                raised(40, 1),
                cancelled(40, 0),
            ),
        ),
        # Python itself makes a RuntimeError of a StopIteration that leaves a coroutine.
        legal=run(
            Scenario(inputs=at(0, A), plans=(raises("a", 40, "StopIteration"),)),
            leg(
                ends("failed", 40, error="CallFailed", record=A, cause="RuntimeError"),
                waits(0),
                taken(0, 0),
                called(0, "a"),
                raised(40, 0),
            ),
        ),
        text="expected ValueError as the cause, got InvalidStateError",
    ),
    Witness(
        "FAIL-11",
        violating=run(
            _INTERRUPTED,
            leg(
                ends("failed", 40, error="CallFailed", record=A, cause="KeyboardInterrupt"),
                waits(0),
                taken(0, 0),
                called(0, "a"),
                raised(40, 0),
                (SourceClosed(40),),
            ),
        ),
        legal=run(
            _INTERRUPTED,
            leg(
                ends("interrupted", 40, error="KeyboardInterrupt"),
                waits(0),
                taken(0, 0),
                called(0, "a"),
                raised(40, 0),
                (SourceClosed(40),),
            ),
        ),
        text="expected KeyboardInterrupt to end the loop, the leg failed CallFailed",
    ),
    Witness(
        "FAIL-12",
        violating=run(
            _KEPT,
            leg(
                ends("failed", 80, error="CallFailed", record=B, cause="CancelledError"),
                _TWO_CALLS,
                answered(40, 0, "a1"),
                took(40, Record("a1")),
                waits(40),
                cancelled(80, 1),
            ),
        ),
        legal=run(
            _KEPT,
            leg(
                ends("finished", 120),
                _TWO_CALLS,
                input_ended(0),
                answered(40, 0, "a1"),
                took(40, Record("a1")),
                waits(40),
                answered(120, 1, "b1"),
                took(120, Record("b1")),
                waits(120),
            ),
        ),
        text="the leg failed with CallFailed, for no other reason",
    ),
)
