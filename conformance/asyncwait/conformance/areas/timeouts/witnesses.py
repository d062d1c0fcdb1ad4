"""TIME: runs that break a rule about deadlines, and their legal neighbours."""

from asyncwait.conformance.evidence import near_misses, witnesses

WITNESSES = witnesses("""
TIME-1: the handler was asked for 'a', no record of which is due
    plan: timeout 80; handled; 0: a; a: 40 gives a1
    # a answered at 40, so the timer at 80 is stale.
    breaks: 0: waits, takes 0, calls a; 40: #0 gives a1; 80: asks a, ends finished
    # The answer comes in the very instant of the deadline, and the deadline wins.
    plan: timeout 80; handled; 0: a; a: 80 gives a1, late gives a-late
    keeps: 0: waits, takes 0, calls a; 80: #0 gives a1, asks a, out a-late
TIME-2: Record 'a' (input 0) passed its deadline and the operator did not fail
    plan: timeout 80; 0: a b; a b: never
    breaks: 0: waits, takes 0, calls a; 80: #0 cancelled; 120: ends failed CallTimedOut record=a
    # Of two deadlines in one instant, only one has to fail the operator.
    keeps: 0: waits, takes 0 1, calls a b;
        80: #0 cancelled, #1 cancelled, ends failed CallTimedOut record=b
TIME-3: Record 'a' (input 0): the handler's ('a-late',) did not come out
    # The record is undecided at its deadline.
    plan: timeout 80; handled; 0: a; a: never, late gives a-late
    breaks: 0: waits, takes 0, calls a; 80: asks a, #0 cancelled, ends finished
    keeps: 0: waits, takes 0, calls a; 80: asks a, #0 cancelled, out a-late
TIME-4: expected CallTimedOut, got TimeoutError: 80 ms are over
    plan: timeout 80; 0: a b; a b: never
    breaks: 0: waits, takes 0, calls a;
        80: #0 cancelled, ends failed TimeoutError detail=80_ms_are_over
    # Two records are due, and the error may name the second.
    keeps: 0: waits, takes 0 1, calls a b;
        80: #0 cancelled, #1 cancelled, ends failed CallTimedOut record=b
TIME-5: Record 'a' (input 0): its call was not cancelled at its deadline
    plan: timeout 80; handled; 0: a; a: 120 gives a1, late gives a-late
    # The operator does not cancel the call, which ends by itself 40 ms later.
    breaks: 0: waits, takes 0, calls a; 80: asks a, out a-late; 120: #0 gives a1, ends finished
    # The call is cancelled, and takes 40 ms to clean up.
    plan: timeout 80; handled; 0: a; a: outlives 40 a1, late gives a-late; source_ends_at 120
    keeps: 0: waits, takes 0, calls a; 80: asks a, #0 told, out a-late;
        120: #0 gives a1, end, ends finished abandoned=1
TIME-6: Record 'a1' is a late result: Record 'a' (input 0) was decided at its deadline
    plan: timeout 80; handled; 0: a; a: outlives 80 a1, late gives a-late; source_ends_at 200
    breaks: 0: waits, takes 0, calls a; 80: asks a, #0 told, out a-late; 160: #0 gives a1, out a1;
        200: ends finished
    keeps: 0: waits, takes 0, calls a; 80: asks a, #0 told, out a-late; 160: #0 gives a1;
        200: end, ends finished abandoned=1
TIME-8: 1 call outlived its record, statistics say 0
    plan: timeout 80; handled; 0: a; a: outlives 80 a1, late gives a-late; source_ends_at 200
    # The call runs on from 80 to 160.
    breaks: 0: waits, takes 0, calls a; 80: asks a, #0 told; 160: #0 gives a1; 200: ends finished
    # The leg is over in the instant of the cancellation of b, so only a must be counted.
    plan: capacity 1; timeout 80; handled; 0: a b; a: outlives 80 a1, late gives a-late;
        b: outlives 160 b1, late gives b-late; source_ends_at 320
    keeps: 0: waits, takes 0, calls a; 80: asks a, #0 told, out a-late, takes 1, calls b;
        160: #0 gives a1, asks b, left, #1 told, ends left abandoned=1; 320: #1 gives b1
TIME-9: failed with TooManyAbandonedCalls, and never more than 1 ran on
    plan: capacity 1; timeout 80; handled; 0: a b; a: outlives 80 a1, late gives a-late;
        b: outlives 160 b1, late gives b-late; source_ends_at 320
    # The call of a has ended when the call of b is cancelled.
    breaks: 0: waits, takes 0, calls a; 80: asks a, #0 told, out a-late, takes 1, calls b;
        120: #0 gives a1; 160: asks b, #1 told, ends failed TooManyAbandonedCalls; 320: #1 gives b1
    keeps: 0: waits, takes 0, calls a; 80: asks a, #0 told, out a-late, takes 1, calls b;
        160: #0 gives a1, asks b, #1 told, out b-late;
        320: #1 gives b1, end, ends finished abandoned=2
TIME-10: Record 'a' (input 0) answered at 40, before its deadline
    plan: timeout 80; 0: a; a: 40 gives a1; sink pause 120
    # The consumer is away until 120; the answer of a came 40 before the deadline.
    breaks: 0: takes 0, calls a; 40: #0 gives a1; 120: waits, ends failed CallTimedOut record=a
    # The second of two equal records did time out.
    plan: timeout 80; 0: a a; a: 40 gives a1, never; sink pause 120
    keeps: 0: takes 0 1, calls a a; 40: #0 gives a1; 80: #1 cancelled;
        120: waits, ends failed CallTimedOut record=a
""")

NEAR_MISSES = near_misses("""
TIME-9: 2 abandoned calls, at most 1 may run, and no failure
    # The operator has room for four records, but only one batch may run.
    plan: timeout 80; handled; batch max_size=2 in_flight=1; 0: a b c d;
        a b c d: outlives 400 late, late gives; source_ends_at 600
    breaks: 0: waits, takes 0 1 2 3, batch a b; 80: asks a, asks b, #0 told, #1 told, batch c d;
        160: asks c, asks d, #2 told, #3 told; 480: #0 gives late, #1 gives late;
        560: #2 gives late, #3 gives late; 600: end, ends finished abandoned=2
TIME-9
    # The operator failed at 160, so it need not decide c at 240.
    plan: unordered; capacity 1; timeout 80; handled; 0: a b c; a b: outlives 400 late, late gives;
        c: never; sink pause 400
    keeps: 0: takes 0 1, calls a; 80: asks a, #0 told, calls b, takes 2;
        160: asks b, #1 told, calls c; 161: #2 cancelled;
        400: waits, ends failed TooManyAbandonedCalls again=same after=same abandoned=2;
        480: #0 gives late; 560: #1 gives late
TIME-9
    # c gives None as it is cancelled, in the instant in which two abandoned calls are too many.
    plan: capacity 1; timeout 40; handled; 0: a b c; a b: outlives 80 late, late gives;
        c: never with swallow
    keeps: 0: waits, takes 0, calls a, takes 1; 40: asks a, #0 told, calls b, takes 2;
        80: asks b, #1 told, calls c, #2 told, #2 misreturns,
        ends failed TooManyAbandonedCalls again=same after=same abandoned=2;
        120: #0 gives late; 160: #1 gives late
""")
