"""FAIL: runs that break a rule about failures, and their legal neighbours."""

from asyncwait.conformance.evidence import near_misses, witnesses

WITNESSES = witnesses("""
FAIL-1: expected the record Record 'a' in the error, got None
    plan: 0: a b; a b: 40 raises
    breaks: 0: waits, takes 0 1, calls a b;
        40: #0 raises, #1 raises, ends failed CallFailed cause=ValueError
    # The error may name either record.
    keeps: 0: waits, takes 0 1, calls a b;
        40: #0 raises, #1 raises, ends failed CallFailed record=b cause=ValueError
FAIL-2: Record 'b' (input 1) failed, but the waiting consumer was not told
    # b fails at 40, a is undecided until 80.
    plan: 0: a b; a: 80 gives a1; b: 40 raises
    # The failure waits behind a.
    breaks: 0: waits, takes 0 1, calls a b; 40: #1 raises;
        80: #0 gives a1, out a1, ends failed CallFailed record=b cause=ValueError
    # Both have a result or an error at 40.
    # In one instant, a1 may come out before the failure.
    plan: 0: a b; a: 40 gives a1; b: 40 raises
    keeps: 0: waits, takes 0 1, calls a b;
        40: #1 raises, #0 gives a1, out a1, ends failed CallFailed record=b cause=ValueError
FAIL-3: Record 'a1' came out after the failure at 40
    plan: 0: a b; a: gives a1; b: 40 raises; sink pause 80
    # The consumer comes back at 80, takes a finished result and only then gets the error.
    breaks: 0: takes 0 1, calls a b, #0 gives a1; 40: #1 raises;
        80: waits, out a1, ends failed CallFailed record=b cause=ValueError
    # The consumer comes back in the very instant of the failure.
    plan: 0: a b; a: gives a1; b: 40 raises; sink pause 40
    keeps: 0: takes 0 1, calls a b, #0 gives a1;
        40: #1 raises, waits, out a1, ends failed CallFailed record=b cause=ValueError
FAIL-4: Record 'b' failed first, the error names Record 'a'
    # a fails at 120 and b at 40; the consumer is away until 200.
    plan: 0: a b; a: 120 raises; b: 40 raises; sink pause 200
    # The error of a is the first in the order of the input, and the second in time.
    breaks: 0: takes 0 1, calls a b; 40: #1 raises; 120: #0 raises;
        200: waits, ends failed CallFailed record=a cause=ValueError
    # A correct operator cancels a before it raises.
    keeps: 0: takes 0 1, calls a b; 40: #1 raises, #0 cancelled;
        200: waits, ends failed CallFailed record=b cause=ValueError
FAIL-5: expected CallFailed, the leg finished
    plan: 0: a; a: 40 raises StopAsyncIteration
    # The user's StopAsyncIteration has become the end of the stream.
    breaks: 0: waits, takes 0, calls a; 40: #0 raises, ends finished
    keeps: 0: waits, takes 0, calls a;
        40: #0 raises, ends failed CallFailed record=a cause=StopAsyncIteration
FAIL-6: after leaving, a further read raised CallFailed, not the same error
    plan: 0: a b; a: 80 gives a1; b: 40 raises
    # A further read raises the error again, but as a copy.
    breaks: 0: waits, takes 0 1, calls a b; 40: #1 raises, #0 cancelled,
        ends failed CallFailed record=b cause=ValueError again=same after=raised_CallFailed
    keeps: 0: waits, takes 0 1, calls a b; 40: #1 raises, #0 cancelled,
        ends failed CallFailed record=b cause=ValueError again=same after=same
FAIL-7: the source's error came before Record 'a' (input 0)
    plan: 0: a ^1; a: 40 gives; source_error own
    # a is still undecided when the error of the source comes out.
    breaks: 0: waits, takes 0, calls a, takes 1, out |1(a), end raised, #0 cancelled,
        ends failed PlannedSourceError unchanged
    # a is decided, and has no results.
    keeps: 0: waits, takes 0, calls a, takes 1, out |1(a), end raised;
        40: #0 gives, ends failed PlannedSourceError unchanged
FAIL-8: nothing failed that explains CallTimedOut: no result
    plan: timeout 40; 0: a; a: never
    # The deadline of a would be at 40.
    breaks: 0: waits, takes 0, calls a;
        39: #0 cancelled, ends failed CallTimedOut record=a detail=no_result
    keeps: 0: waits, takes 0, calls a;
        40: #0 cancelled, ends failed CallTimedOut record=a detail=no_result
FAIL-9: expected the plain error, got 2 sub-exceptions
    plan: 0: a b; a b: 40 raises
    breaks: 0: waits, takes 0 1, calls a b;
        40: #0 raises, #1 raises, ends failed ExceptionGroup detail=2_sub-exceptions
    keeps: 0: waits, takes 0 1, calls a b;
        40: #0 raises, #1 raises, ends failed CallFailed record=b cause=ValueError
FAIL-10: expected ValueError as the cause, got InvalidStateError
    plan: 0: a b; a: 80 gives a1; b: 40 raises
    # The user sees an error of the operator's internals.
    breaks: 0: waits, takes 0 1, calls a b;
        40: #1 raises, #0 cancelled, ends failed CallFailed record=b cause=InvalidStateError
    # Python itself makes a RuntimeError of a StopIteration that leaves a coroutine.
    plan: 0: a; a: 40 raises StopIteration
    keeps: 0: waits, takes 0, calls a;
        40: #0 raises, ends failed CallFailed record=a cause=RuntimeError
FAIL-11: expected KeyboardInterrupt to end the loop, the leg failed CallFailed
    plan: 0: a; a: 40 raises KeyboardInterrupt
    breaks: 0: waits, takes 0, calls a;
        40: #0 raises, closes, ends failed CallFailed record=a cause=KeyboardInterrupt
    keeps: 0: waits, takes 0, calls a; 40: #0 raises, closes, ends interrupted KeyboardInterrupt
""")

NEAR_MISSES = near_misses("""
FAIL-1: expected CallFailed for Record 'a', and the stream just ended
    # A call raised in the very instant of the end, so there was no time to notice.
    also: END-1
    plan: 0: a; a: 40 raises
    breaks: 0: waits, takes 0, calls a; 40: #0 raises, ends finished
FAIL-11
    # Both calls raise at 40; when b has failed the operator, it does not call the supplier of a.
    plan: form callback; 0: a b; a: 40 raises KeyboardInterrupt with supplied; b: 40 raises
    escapes: 0: waits, takes 0 1, calls a b;
        40: #1 raises, #0 raises, ends failed CallFailed record=b cause=ValueError attempts=1
FAIL-11
    # The operator does not wait for a thread, whose SystemExit is lost when everything is closed.
    # The record of the thread is late at 40, the call is not cancelled, and it exits at 80.
    also: END-3 TIME-5
    plan: timeout 40; 0: a; a: 80 raises SystemExit; close_takes 40
    escapes: 0: waits, takes 0, calls a; 40: ends failed CallTimedOut record=a;
        80: #0 raises, closes, closed
FAIL-11: expected SystemExit to end the loop, the leg failed CallTimedOut
    also: END-3 TIME-5
    plan: timeout 40; 0: a; a: 80 raises SystemExit; close_takes 80
    breaks: 0: waits, takes 0, calls a; 40: ends failed CallTimedOut record=a; 80: #0 raises;
        120: closes, closed
FAIL-10
    # If the handler raised nothing, the cause may be a TimeoutError.
    # The handler raises at the deadline, and its error is the cause.
    plan: timeout 80; handled; 0: a; a: never, late raises
    keeps: 0: waits, takes 0, calls a;
        80: asks a, #0 cancelled, ends failed CallTimedOut record=a cause=ValueError
FAIL-10: expected ValueError as the cause, got TimeoutError
    breaks: 0: waits, takes 0, calls a;
        80: asks a, #0 cancelled, ends failed CallTimedOut record=a cause=TimeoutError
FAIL-10: expected ValueError as the cause, got none
    breaks: 0: waits, takes 0, calls a; 80: asks a, #0 cancelled, ends failed CallTimedOut record=a
FAIL-10
    plan: timeout 80; handled; 0: a; a: never
    keeps: 0: waits, takes 0, calls a; 80: asks a, #0 cancelled, ends failed CallTimedOut record=a
FAIL-10
    keeps: 0: waits, takes 0, calls a;
        80: asks a, #0 cancelled, ends failed CallTimedOut record=a cause=TimeoutError
FAIL-10: expected TimeoutError or none as the cause, got ValueError
    breaks: 0: waits, takes 0, calls a;
        80: asks a, #0 cancelled, ends failed CallTimedOut record=a cause=ValueError
FAIL-7
    # The source raises a CallFailed, and too many calls have run on before.
    also: END-2
    plan: capacity 1; timeout 40; handled; 0: a b; a b: outlives 80 late, late gives;
        source_error contract
    escapes: 0: waits, takes 0, calls a; 40: asks a, #0 told, takes 1, calls b;
        80: asks b, #1 told, end raised; 85: ends failed TooManyAbandonedCalls again=same
        after=same abandoned=2; 120: #0 gives late; 160: #1 gives late
""")
