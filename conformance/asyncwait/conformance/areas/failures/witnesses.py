"""FAIL: runs that break a rule about failures, and their legal neighbours."""

from asyncwait.conformance.evidence import (
    NearMiss,
    Run,
    Witness,
    at,
    ends,
    failed,
    input_ended,
    never,
    one_leg,
    raises,
    replies,
)
from asyncwait.spec import Barrier, Record
from asyncwait.spec.scenario import Handler, Plan, Scenario, SinkStep, Step

A, B = Record("a"), Record("b")

# b fails at 40, a is undecided until 80.
_ONE_FAILS = Scenario(inputs=at(0, A, B), plans=(replies("a", 80, "a1"), raises("b", 40)))
# Both have a result or an error at 40.
_TIE = Scenario(inputs=at(0, A, B), plans=(replies("a", 40, "a1"), raises("b", 40)))
_ODD = Scenario(inputs=at(0, A), plans=(raises("a", 40, "StopAsyncIteration"),))
# a fails at 120 and b at 40; the consumer is away until 200.
_TWO_FAIL = Scenario(
    inputs=at(0, A, B), plans=(raises("a", 120), raises("b", 40)), sink=(SinkStep("pause", 200),)
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

_TWO_CALLS = "0: waits, takes 0 1, calls a b"
_FAILED_B = {"error": "CallFailed", "record": B, "cause": "ValueError"}
_AGAIN = {"again": "same", "after": "same"}


WITNESSES: tuple[Witness, ...] = (
    Witness(
        "FAIL-1",
        violating=one_leg(
            _BOTH_FAIL_AT_ONCE,
            ends("failed", 40, error="CallFailed", cause="ValueError"),
            _TWO_CALLS,
            "40: #0 raises, #1 raises",
        ),
        # Either of the two may be named.
        legal=one_leg(
            _BOTH_FAIL_AT_ONCE,
            ends("failed", 40, **_FAILED_B),
            _TWO_CALLS,
            "40: #0 raises, #1 raises",
        ),
        text="expected the record Record 'a' in the error, got None",
    ),
    Witness(
        "FAIL-2",
        # The failure waits for its turn behind a.
        violating=one_leg(
            _ONE_FAILS,
            ends("failed", 80, **_FAILED_B),
            _TWO_CALLS,
            "40: #1 raises; 80: #0 gives a1, out a1",
        ),
        # In one instant, a1 may come out before.
        legal=one_leg(
            _TIE, ends("failed", 40, **_FAILED_B), _TWO_CALLS, "40: #1 raises, #0 gives a1, out a1"
        ),
        text="Record 'b' (input 1) failed, but the waiting consumer was not told",
    ),
    Witness(
        "FAIL-3",
        # The consumer comes back at 80, takes a finished result and only then gets the error.
        violating=one_leg(
            Scenario(
                inputs=at(0, A, B),
                plans=(replies("a", 0, "a1"), raises("b", 40)),
                sink=(SinkStep("pause", 80),),
            ),
            ends("failed", 80, **_FAILED_B),
            "0: takes 0 1, calls a b, #0 gives a1; 40: #1 raises; 80: waits, out a1",
        ),
        # It comes back in the very instant of the failure.
        legal=one_leg(
            Scenario(
                inputs=at(0, A, B),
                plans=(replies("a", 0, "a1"), raises("b", 40)),
                sink=(SinkStep("pause", 40),),
            ),
            ends("failed", 40, **_FAILED_B),
            "0: takes 0 1, calls a b, #0 gives a1; 40: #1 raises, waits, out a1",
        ),
        text="Record 'a1' came out after the failure at 40",
    ),
    Witness(
        "FAIL-4",
        # The error of a is the first in the order of the input, and the second in time.
        violating=one_leg(
            _TWO_FAIL,
            ends("failed", 200, error="CallFailed", record=A, cause="ValueError"),
            "0: takes 0 1, calls a b; 40: #1 raises; 120: #0 raises; 200: waits",
        ),
        # A sound operator does not let a come so far.
        legal=one_leg(
            _TWO_FAIL,
            ends("failed", 200, **_FAILED_B),
            "0: takes 0 1, calls a b; 40: #1 raises, #0 cancelled; 200: waits",
        ),
        text="Record 'b' failed first, the error names Record 'a'",
    ),
    Witness(
        "FAIL-5",
        # The user's StopAsyncIteration has become the end of the stream.
        violating=one_leg(_ODD, ends("finished", 40), "0: waits, takes 0, calls a; 40: #0 raises"),
        legal=one_leg(
            _ODD,
            ends("failed", 40, error="CallFailed", record=A, cause="StopAsyncIteration"),
            "0: waits, takes 0, calls a; 40: #0 raises",
        ),
        text="expected CallFailed, the leg finished",
    ),
    Witness(
        "FAIL-6",
        # The error is there again, but it is a copy.
        violating=one_leg(
            _ONE_FAILS,
            ends("failed", 40, **_FAILED_B, again="same", after="raised CallFailed"),
            _TWO_CALLS,
            "40: #1 raises, #0 cancelled",
        ),
        legal=one_leg(
            _ONE_FAILS,
            ends("failed", 40, **_FAILED_B, **_AGAIN),
            _TWO_CALLS,
            "40: #1 raises, #0 cancelled",
        ),
        text="after leaving, a further read raised CallFailed, not the same error",
    ),
    Witness(
        "FAIL-7",
        # a is still undecided when the error of the source comes out.
        violating=one_leg(
            _SOURCE_RAISES,
            ends("failed", 0, error="PlannedSourceError", unchanged=True),
            "0: waits, takes 0, calls a, takes 1, out |1(a)",
            input_ended(0, raised=True),
            "0: #0 cancelled",
        ),
        # It is decided, and has no results.
        legal=one_leg(
            _SOURCE_RAISES,
            ends("failed", 40, error="PlannedSourceError", unchanged=True),
            "0: waits, takes 0, calls a, takes 1, out |1(a)",
            input_ended(0, raised=True),
            "40: #0 gives",
        ),
        text="the source's error came before Record 'a' (input 0)",
    ),
    Witness(
        "FAIL-8",
        # The deadline of a would be at 40.
        violating=one_leg(
            _OWN_DEADLINE,
            ends("failed", 39, error="CallTimedOut", record=A, detail="no result"),
            "0: waits, takes 0, calls a; 39: #0 cancelled",
        ),
        legal=one_leg(
            _OWN_DEADLINE,
            ends("failed", 40, error="CallTimedOut", record=A, detail="no result"),
            "0: waits, takes 0, calls a; 40: #0 cancelled",
        ),
        text="nothing failed that explains CallTimedOut: no result",
    ),
    Witness(
        "FAIL-9",
        violating=one_leg(
            _BOTH_FAIL_AT_ONCE,
            ends("failed", 40, error="ExceptionGroup", detail="2 sub-exceptions"),
            _TWO_CALLS,
            "40: #0 raises, #1 raises",
        ),
        legal=one_leg(
            _BOTH_FAIL_AT_ONCE,
            ends("failed", 40, **_FAILED_B),
            _TWO_CALLS,
            "40: #0 raises, #1 raises",
        ),
        text="expected the plain error, got 2 sub-exceptions",
    ),
    Witness(
        "FAIL-10",
        # What the user sees is an error of the operator's own machinery.
        violating=one_leg(
            _ONE_FAILS,
            ends("failed", 40, error="CallFailed", record=B, cause="InvalidStateError"),
            _TWO_CALLS,
            "40: #1 raises, #0 cancelled",
        ),
        # Python itself makes a RuntimeError of a StopIteration that leaves a coroutine.
        legal=one_leg(
            Scenario(inputs=at(0, A), plans=(raises("a", 40, "StopIteration"),)),
            ends("failed", 40, error="CallFailed", record=A, cause="RuntimeError"),
            "0: waits, takes 0, calls a; 40: #0 raises",
        ),
        text="expected ValueError as the cause, got InvalidStateError",
    ),
    Witness(
        "FAIL-11",
        violating=one_leg(
            _INTERRUPTED,
            ends("failed", 40, error="CallFailed", record=A, cause="KeyboardInterrupt"),
            "0: waits, takes 0, calls a; 40: #0 raises, closes",
        ),
        legal=one_leg(
            _INTERRUPTED,
            ends("interrupted", 40, error="KeyboardInterrupt"),
            "0: waits, takes 0, calls a; 40: #0 raises, closes",
        ),
        text="expected KeyboardInterrupt to end the loop, the leg failed CallFailed",
    ),
    Witness(
        "FAIL-12",
        violating=one_leg(
            _KEPT,
            ends("failed", 80, error="CallFailed", record=B, cause="CancelledError"),
            _TWO_CALLS,
            "40: #0 gives a1, out a1, waits; 80: #1 cancelled",
        ),
        legal=one_leg(
            _KEPT,
            ends("finished", 120),
            _TWO_CALLS,
            "0: end; 40: #0 gives a1, out a1, waits; 120: #1 gives b1, out b1, waits",
        ),
        text="the leg failed with CallFailed, for no other reason",
    ),
)

_RAISES = Scenario(inputs=at(0, A), plans=(raises("a", 40),))


def _unheard(closed: int) -> Run:
    """Its record was over at 40 and it was not cancelled; at 80 it ends the program."""
    return one_leg(
        Scenario(
            timeout=40,
            inputs=at(0, A),
            plans=(raises("a", 80, "SystemExit"),),
            close_takes=closed - 40,
        ),
        ends("failed", 40, error="CallTimedOut", record=A),
        f"0: waits, takes 0, calls a; 80: #0 raises; {closed}: closes, closed",
    )


def _late(handler: Handler, cause: str) -> Run:
    """The deadline passes, and the operator says why."""
    return failed(
        Scenario(
            timeout=80, handled=True, inputs=at(0, A), plans=(Plan("a", (Step("never"),), handler),)
        ),
        "0: waits, takes 0, calls a; 80: asks a, #0 cancelled",
        error="CallTimedOut",
        record=A,
        cause=cause,
    )


_HANDLER_RAISES, _HANDLER_IS_MUTE = Handler("raise", error="ValueError"), Handler("none")

NEAR_MISSES: tuple[NearMiss, ...] = (
    # A call raised in the very instant of the end, so there was no time to notice.
    NearMiss(
        "FAIL-1",
        one_leg(_RAISES, ends("finished", 40), "0: waits, takes 0, calls a; 40: #0 raises"),
        "expected CallFailed for Record 'a', and the stream just ended",
        also="END-1",
    ),
    # Both calls raise at 40; when one has failed the operator, nobody asks the other any more.
    NearMiss(
        "FAIL-11",
        one_leg(
            Scenario(
                form="callback",
                inputs=at(0, A, B),
                plans=(
                    Plan("a", (Step("raise", 40, error="KeyboardInterrupt", supplied=True),)),
                    raises("b", 40),
                ),
            ),
            ends("failed", 40, error="CallFailed", record=B, cause="ValueError", attempts=1),
            "0: waits, takes 0 1, calls a b; 40: #1 raises, #0 raises",
        ),
        applies=False,
    ),
    # A thread that nobody waits for ends the program unheard when all is closed.
    NearMiss("FAIL-11", _unheard(80), applies=False, also="END-3 TIME-5"),
    NearMiss(
        "FAIL-11",
        _unheard(120),
        "expected SystemExit to end the loop, the leg failed CallTimedOut",
        also="END-3 TIME-5",
    ),
    # Where the handler raised nothing, the operator may say that time was up.
    NearMiss("FAIL-10", _late(_HANDLER_RAISES, "ValueError")),
    NearMiss(
        "FAIL-10",
        _late(_HANDLER_RAISES, "TimeoutError"),
        "expected ValueError as the cause, got TimeoutError",
    ),
    NearMiss("FAIL-10", _late(_HANDLER_RAISES, ""), "expected ValueError as the cause, got none"),
    NearMiss("FAIL-10", _late(_HANDLER_IS_MUTE, "")),
    NearMiss("FAIL-10", _late(_HANDLER_IS_MUTE, "TimeoutError")),
    NearMiss(
        "FAIL-10",
        _late(_HANDLER_IS_MUTE, "ValueError"),
        "expected TimeoutError or none as the cause, got ValueError",
    ),
)
