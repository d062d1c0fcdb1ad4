"""END: runs that break a rule about endings, and their legal neighbours."""

from asyncwait.conformance.evidence import near_misses, witnesses

WITNESSES = witnesses("""
END-1: the stream ended while Record 'a' (input 0) was undecided
    plan: 0: a; a: 40 gives a1
    breaks: 0: waits, takes 0, calls a, end, #0 cancelled, ends finished
    # a is decided when the stream ends, and has no results.
    plan: 0: a; a: 40 gives
    keeps: 0: waits, takes 0, calls a, end; 40: #0 gives, ends finished
END-2: the source has ended and everything came out, but the stream goes on
    plan: 0: a; a: 40 gives a1; source_ends_at 80
    breaks: 0: waits, takes 0, calls a; 40: #0 gives a1, out a1; 80: end; 81: ends finished
    keeps: 0: waits, takes 0, calls a; 40: #0 gives a1, out a1; 80: end, ends finished
END-3: call 0 of 'a' still ran after leaving
    # The call takes 40 to clean up; the consumer is cancelled at 40.
    plan: 0: a; a: never with clean_up=40; cancel_at 40
    # The context is left while the call cleans up.
    breaks: 0: waits, takes 0, calls a; 40: left, #0 told, closes, closed, ends left; 80: #0 ends
    keeps: 0: waits, takes 0, calls a; 40: left, #0 told, closes, ends left; 80: #0 ends, closed
END-4: 1 timer is left
    plan: 0: a; a: 40 gives
    breaks: 0: waits, takes 0, calls a, end; 40: #0 gives, ends finished timers_left=1
    keeps: 0: waits, takes 0, calls a, end; 40: #0 gives, ends finished
END-5: the operator is gone, and its source is not closed
    plan: 0: a; a: 40 gives
    # The operator closes the source only after it has reported its own end.
    breaks: 0: waits, takes 0, calls a, end; 40: #0 gives, closed, closes, ends finished
    keeps: 0: waits, takes 0, calls a, end; 40: #0 gives, closes, closed, ends finished
END-6: a call ran before open or after close
    plan: 0: a; a: 40 gives; hooks plain
    # The first call begins before the function is open.
    breaks: 0: waits, takes 0, calls a, hook open, end;
        40: #0 gives, closes, hook close, closed, ends finished
    keeps: 0: hook open, waits, takes 0, calls a, end;
        40: #0 gives, closes, hook close, closed, ends finished
END-7: after leaving, a further read raised ClosedResourceError
    plan: 0: a; a: 40 gives
    breaks: 0: waits, takes 0, calls a, end;
        40: #0 gives, ends finished again=stop after=raised_ClosedResourceError
    keeps: 0: waits, takes 0, calls a, end; 40: #0 gives, ends finished again=stop after=stop
END-8: nothing happens any more
    plan: timeout 80; 0: a; a: never
    breaks: 0: waits, takes 0, calls a, end; 2600: ends hung
    # The call never answers, but its deadline ends the leg.
    keeps: 0: waits, takes 0, calls a, end; 80: #0 cancelled, ends failed CallTimedOut record=a
END-9: Record 'a' (input 0) was lost with a wait that was given up at 40
    plan: 0: a; a: 40 gives a1; sink give_up 40
    # a1 was on its way into the wait that was given up in the same instant.
    breaks: 0: waits, takes 0, calls a, end; 40: #0 gives a1, gives up, waits, ends finished
    keeps: 0: waits, takes 0, calls a, end; 40: #0 gives a1, gives up, waits, out a1, ends finished
END-10: call 1 of 'b' began after leaving
    plan: capacity 1; 0: a b; a: never with clean_up=40; cancel_at 40
    # The slot that a frees by its clean-up is filled again.
    breaks: 0: waits, takes 0 1, calls a; 40: left, #0 told, ends left;
        80: #0 ends, calls b, #1 cancelled
    # b is called in the very instant of leaving, when a has answered.
    plan: capacity 1; 0: a b; a b: 40 gives *1; cancel_at 40
    keeps: 0: waits, takes 0 1, calls a;
        40: #0 gives a1, out a1, left, calls b, #1 cancelled, ends left
END-11: leaving took 3920 ms, and nothing had to be cleaned up for longer than 0 ms
    plan: 0: a; 4000: b; a: 40 gives a1; cancel_at 80
    # The operator is left when the source gives its next element.
    breaks: 0: waits, takes 0, calls a; 40: #0 gives a1, out a1; 80: left, ends left after=stop;
        4000: closes, closed
    keeps: 0: waits, takes 0, calls a; 40: #0 gives a1, out a1;
        80: left, closes, closed, ends left after=stop
END-12: open raised, and the leg finished
    plan: 0: a; hooks plain; hook_error open
    breaks: 0: hook open, waits, takes 0, calls a, end, #0 gives a, out a, closes, hook close,
        closed, ends finished again=stop after=stop
    keeps: 0: hook open, closes, closed, ends failed Planned unchanged
END-13: closing raised, and leaving did not
    plan: 0: a; a: 40 gives; close_error
    breaks: 0: waits, takes 0, calls a, end;
        40: #0 gives, closes, closed, ends finished again=stop after=stop
    keeps: 0: waits, takes 0, calls a, end;
        40: #0 gives, closes, closed, ends failed PlannedSourceError unchanged
END-17: the read of the source was interrupted while the operator ran
    plan: 0: a; a: 40 gives a1; source_ends_at 80
    breaks: 0: waits, takes 0, calls a, reads; 40: #0 gives a1, out a1;
        60: misuse interrupted the read of the source, reads; 80: end, ends finished
    plan: 0: a; 4000: b; a: 40 gives a1; cancel_at 80
    keeps: 0: waits, takes 0, calls a, reads; 40: #0 gives a1, out a1;
        80: left, misuse interrupted the read of the source, closes, closed, ends left
END-18: the body raised, and the leg failed with ExceptionGroup
    plan: 0: a; a: 40 gives a1; sink read 1, raise
    breaks: 0: waits, takes 0, calls a;
        40: #0 gives a1, out a1, left raising, closes, closed, ends failed ExceptionGroup
    keeps: 0: waits, takes 0, calls a;
        40: #0 gives a1, out a1, left raising, closes, closed, ends left unchanged
END-20: the consumer was cancelled, and leaving let it go on
    plan: 0: a; a: never with clean_up=40; cancel_at 40
    breaks: 0: waits, takes 0, calls a; 40: left, closes, #0 told, ends left after=stop;
        80: #0 ends, closed, misuse swallowed leaving let it go on
    keeps: 0: waits, takes 0, calls a; 40: left, closes, #0 told, ends left after=stop;
        80: #0 ends, closed
END-21: refused, with ordered, timeouts declared; declare what the operator lacks: timeout
    plan: timeout 40; 0: a; a: gives
    breaks: 0: closed, ends failed InvalidConfig detail=timeout
    keeps: 0: reads, waits, takes 0, calls a, end, #0 gives, closes, closed, ends finished
END-23: the loop woke 3600 times while nothing happened
    plan: 0: a; a: 40 gives
    breaks: 0: waits, takes 0, calls a, end; 40: #0 gives, closes, closed,
        misuse restless the loop woke 3600 times while nothing happened, ends finished
    keeps: 0: waits, takes 0, calls a, end; 40: #0 gives, closes, closed, ends finished
""")

NEAR_MISSES = near_misses("""
END-11
    # In floats, 40 ms behind 23.112 ms is a little earlier than 63.112 ms.
    plan: 0: a; close_takes 40; sink leave
    keeps: 23.112: ends left; 63.112: closes, closed
END-11: leaving took 40.003 ms, and nothing had to be cleaned up for longer than 40 ms
    breaks: 23.112: ends left; 63.115: closes, closed
END-6: expected open, then close, got none
    plan: 0: a; a: 40 gives; hooks plain
    breaks: 0: takes 0, calls a, end, #0 gives, closes, closed, ends finished
END-17
    # A further read after leaving waits for ever, which other rules judge.
    also: END-8
    plan: 0: a; sink leave
    keeps: 0: reads, left, misuse interrupted the read of the source, closes, closed; 80: ends hung
END-7: after leaving, a further read raised CallFailed
    also: END-3
    plan: 0: a; a: 80 raises; cancel_at 40
    breaks: 0: takes 0, calls a, waits; 40: left, ends left after=raised_CallFailed;
        80: #0 raises, closes, closed
END-7
    # The call raises at 40, when the consumer leaves; a further read raises the error.
    plan: 0: a; a: 40 raises; source_ends_at 400; cancel_at 40
    keeps: 0: waits, takes 0, calls a; 40: #0 raises, left, ends left after=raised_CallFailed
END-8
    # A call that never answers and has no deadline makes the operator wait for ever.
    plan: 0: a; a: never
    escapes: 0: waits, takes 0, calls a, end; 1000: ends hung
END-13
    # The operator fails before its source is closed; the error of closing is a note on the failure.
    also: END-2 END-3 TIME-8
    plan: capacity 1; timeout 40; handled; 0: a b; a b: never with swallow, late gives; close_error
    keeps: 0: waits, takes 0, calls a; 40: asks a, #0 told, takes 1, calls b; 80: asks b, #1 told;
        85: closes, closed, ends failed TooManyAbandonedCalls
""")
