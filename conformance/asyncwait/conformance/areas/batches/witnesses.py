"""BAT: runs in which batches start, hold or answer wrongly, and their legal neighbours."""

from asyncwait.conformance.evidence import near_misses, witnesses

WITNESSES = witnesses("""
BAT-1: 2 records gather, and a batch holds 2
    plan: batch max_size=2 max_wait=400; 0: a b; a b: 40 gives *1; source_ends_at 80
    breaks: 0: waits, takes 0 1; 80: end, batch a b; 120: #0 gives a1, #1 gives b1, out a1 b1,
        ends finished
    keeps: 0: waits, takes 0 1, batch a b; 40: #0 gives a1, #1 gives b1, out a1 b1; 80: end,
        ends finished
BAT-2: Record 'a' (input 0) gathers since 0, and did not go
    plan: batch max_size=2 max_wait=40; 0: a; a: 40 gives a1; source_ends_at 120
    breaks: 0: waits, takes 0; 120: end, batch a; 160: #0 gives a1, out a1, ends finished
    keeps: 0: waits, takes 0; 40: batch a; 80: #0 gives a1, out a1; 120: end, ends finished
BAT-3: Record 'a' (input 0) gathers, and the input has ended
    plan: batch max_size=2 max_wait=80; 0: a; a: 40 gives a1
    breaks: 0: waits, takes 0, end; 80: batch a; 120: #0 gives a1, out a1, ends finished
    keeps: 0: waits, takes 0, end, batch a; 40: #0 gives a1, out a1, ends finished
BAT-4: a batch of 1 of 2 records went 40 ms after the first came
    plan: batch max_size=2 max_wait=80; 0: a; a: 40 gives a1; source_ends_at 200
    breaks: 0: waits, takes 0; 40: batch a; 80: #0 gives a1, out a1; 200: end, ends finished
    keeps: 0: waits, takes 0; 80: batch a; 120: #0 gives a1, out a1; 200: end, ends finished
BAT-5: a batch holds 2 records, at most 1
    plan: batch max_size=1; 0: a b; a b: 40 gives *1
    breaks: 0: waits, takes 0 1, end, batch a b; 40: #0 gives a1, #1 gives b1, out a1 b1,
        ends finished
    keeps: 0: waits, takes 0 1, end, batch a, batch b; 40: #0 gives a1, #1 gives b1, out a1 b1,
        ends finished
BAT-6: 2 batches run, at most 1
    plan: batch max_size=1 in_flight=1; 0: a b; a b: 40 gives *1
    breaks: 0: waits, takes 0 1, end, batch a, batch b; 40: #0 gives a1, #1 gives b1, out a1 b1,
        ends finished
    keeps: 0: waits, takes 0 1, end, batch a; 40: #0 gives a1, out a1, batch b; 80: #1 gives b1,
        out b1, ends finished
BAT-7: Record 'b' (input 1) was left behind by a batch of 1
    plan: batch max_size=3 max_wait=80; 0: a; 40: b; a b: 40 gives *1; source_ends_at 200
    breaks: 0: waits, takes 0; 40: takes 1; 80: batch a; 120: #0 gives a1, out a1, batch b;
        160: #1 gives b1, out b1; 200: end, ends finished
    keeps: 0: waits, takes 0; 40: takes 1; 80: batch a b; 120: #0 gives a1, #1 gives b1, out a1 b1;
        200: end, ends finished
BAT-8: Record 'b1' @ 1 came out, which its batch gave for Record 'b' @ 2 (input 1)
    plan: batch max_size=2; 0: a@1 b@2; a b: 40 gives *1
    breaks: 0: waits, takes 0 1, end, batch a b; 40: #0 gives a1, #1 gives b1, out b1@1 a1@2,
        ends finished
    keeps: 0: waits, takes 0 1, end, batch a b; 40: #0 gives a1, #1 gives b1, out a1@1 b1@2,
        ends finished
BAT-9: the failure handler was asked for Record 'a' (input 0), which its batch answered
    plan: failures_handled; batch max_size=2; 0: a b; a: 40 gives a1, failed gives a!;
        b: 40 raises, failed gives b!
    breaks: 0: waits, takes 0 1, end, batch a b; 40: #0 gives a1, #1 raises,
        asks a about CallFailed cause=ValueError, asks b about CallFailed cause=ValueError,
        out a! b!, ends finished
    keeps: 0: waits, takes 0 1, end, batch a b; 40: #0 gives a1, #1 raises,
        asks b about CallFailed cause=ValueError, out a1 b!, ends finished
BAT-10: the batch of Record 'a' (input 0) failed, and that was lost
    plan: batch max_size=2; 0: a b; a: 40 raises with whole; b: 40 gives b1
    breaks: 0: waits, takes 0 1, end, batch a b; 40: #0 raises, #1 raises; 80: ends finished
    keeps: 0: waits, takes 0 1, end, batch a b; 40: #0 raises, #1 raises,
        ends failed CallFailed record=a cause=ValueError
BAT-11: expected InvalidResult, got CallFailed: no answer
    plan: batch max_size=2; 0: a b; a: 40 gives a1; b: 40 gives with whole
    breaks: 0: waits, takes 0 1, end, batch a b; 40: #0 misreturns, #1 misreturns,
        ends failed CallFailed record=a detail=no_answer
    keeps: 0: waits, takes 0 1, end, batch a b; 40: #0 misreturns, #1 misreturns,
        ends failed InvalidResult record=a
BAT-12: a batch was cancelled at 160, and others wait for it
    plan: timeout 120; handled; retry initial=40; batch max_size=2 max_wait=40; 0: a; 80: b;
        a: raises own, 80 gives a1, late gives a?; b: 120 gives b1, late gives b?
    breaks: 0: waits, takes 0; 40: batch a, #0 raises; 80: takes 1, end, batch a b;
        160: asks a, out a?, #1 cancelled, #2 cancelled; 200: asks b, out b?, ends finished
    keeps: 0: waits, takes 0; 40: batch a, #0 raises; 80: takes 1, end, batch a b;
        160: asks a, out a?; 200: #1 gives a1, #2 gives b1, out b1, ends finished
BAT-13: all have left a batch, and it was not cancelled
    plan: timeout 80; handled; batch max_size=2; 0: a b; a b: 120 gives *1, late gives *?;
        source_ends_at 200
    breaks: 0: waits, takes 0 1, batch a b; 80: asks a, asks b, out a? b?;
        120: #0 gives a1, #1 gives b1; 200: end, ends finished
    keeps: 0: waits, takes 0 1, batch a b; 80: asks a, asks b, #0 cancelled, #1 cancelled,
        out a? b?;
        200: end, ends finished
BAT-14: Record 'a' (input 0) shares call 2 with 2, at most 1
    plan: retry initial=40; batch max_size=2 split; 0: a b; a: 40 raises with whole, 40 gives a1;
        b: 40 gives b1
    breaks: 0: waits, takes 0 1, end, batch a b; 40: #0 raises, #1 raises; 80: batch a b;
        120: #2 gives a1, #3 gives b1, out a1 b1, ends finished
    keeps: 0: waits, takes 0 1, end, batch a b; 40: #0 raises, #1 raises; 80: batch a, batch b;
        120: #2 gives a1, #3 gives b1, out a1 b1, ends finished
BAT-15: two records of a batch have the same key
    plan: key-ordered; batch max_size=2; 0: a/x b/x; a b: 40 gives *1
    breaks: 0: waits, takes 0 1, end, batch a b; 40: #0 gives a1, #1 gives b1, out a1/x b1/x,
        ends finished
    keeps: 0: waits, takes 0 1, end, batch a; 40: #0 gives a1, out a1/x, batch b; 80: #1 gives b1,
        out b1/x, ends finished
BAT-16: batches is 2, expected 1
    plan: batch max_size=2; 0: a b; a b: 80 gives *1; figures_at 40
    breaks: 0: waits, takes 0 1, end, batch a b;
        40: figures in_flight=2 calls=2 batches=2 max_in_flight=2 oldest=40;
        80: #0 gives a1, #1 gives b1, out a1 b1, ends finished
    keeps: 0: waits, takes 0 1, end, batch a b;
        40: figures in_flight=2 calls=2 batches=1 max_in_flight=2 oldest=40;
        80: #0 gives a1, #1 gives b1, out a1 b1, ends finished
""")

NEAR_MISSES = near_misses("""
BAT-1: 2 records gather, and a batch holds 2
    # A batch of these records may hold two, because the batch of all four has raised.
    plan: capacity 8; retry initial=40; batch max_size=4 max_wait=40 split; 0: a b c d;
        a: 40 raises with whole, 40 gives a1; b c d: 40 gives *1
    breaks: 0: waits, takes 0 1 2 3, end, batch a b c d;
        40: #0 raises, #1 raises, #2 raises, #3 raises; 80: batch a b;
        120: batch c d, #4 gives a1, #5 gives b1, out a1 b1; 160: #6 gives c1, #7 gives d1,
        out c1 d1, ends finished
BAT-3: Record 'c' (input 2) gathers, and the input has ended
    # From 200 on only a and b run, in their last attempts: neither record comes back.
    plan: capacity 8; retry max_attempts=2 initial=40; batch max_size=2 max_wait=400 in_flight=3;
        0: a b c d e f; a b: 40 raises own, 240 gives *1; c: 120 raises own, 40 gives c1;
        d: 120 gives d1; e f: 200 gives *1
    breaks: 0: waits, takes 0 1 2 3 4 5, end, batch a b, batch c d, batch e f;
        40: #0 raises, #1 raises; 80: batch a b; 120: #2 raises, #3 gives d1;
        200: #4 gives e1, #5 gives f1; 320: #6 gives a1, #7 gives b1, out a1 b1, batch c;
        360: #8 gives c1, out c1 d1 e1 f1, ends finished
BAT-3
    keeps: 0: waits, takes 0 1 2 3 4 5, end, batch a b, batch c d, batch e f;
        40: #0 raises, #1 raises; 80: batch a b; 120: #2 raises, #3 gives d1;
        200: #4 gives e1, #5 gives f1, batch c; 240: #8 gives c1;
        320: #6 gives a1, #7 gives b1, out a1 b1 c1 d1 e1 f1, ends finished
BAT-4: a batch of 1 of 2 records went 0 ms after the first came
    # At 80 the calls of c and d run, and may be repeated.
    plan: capacity 8; retry initial=40; batch max_size=2 max_wait=400; 0: a b c d;
        a: 40 raises own, 40 gives a1; b: 40 gives b1; c d: 120 gives *1
    breaks: 0: waits, takes 0 1 2 3, end, batch a b, batch c d; 40: #0 raises, #1 gives b1;
        80: batch a; 120: #4 gives a1, out a1 b1, #2 gives c1, #3 gives d1, out c1 d1,
        ends finished
BAT-4
    keeps: 0: waits, takes 0 1 2 3, end, batch a b, batch c d; 40: #0 raises, #1 gives b1;
        120: #2 gives c1, #3 gives d1, batch a; 160: #4 gives a1, out a1 b1 c1 d1, ends finished
BAT-4: a batch of 1 of 4 records went 0 ms after the first came
    # a and b have errors of their own: no batch has raised whose bound would let a go alone.
    plan: capacity 8; retry initial=40; batch max_size=4 max_wait=40 split; 0: a b c d;
        a b: 40 raises own, 40 gives *1; c d: 40 gives *1; source_ends_at 400
    breaks: 0: waits, takes 0 1 2 3, batch a b c d;
        40: #0 raises, #1 raises, #2 gives c1, #3 gives d1; 80: batch a;
        120: #4 gives a1, out a1, batch b; 160: #5 gives b1, out b1 c1 d1; 400: end, ends finished
BAT-14: Record 'a' (input 0) shares call 2 with 2, at most 1
    # The call hung until the limit of its attempts.
    plan: retry initial=40 attempt_timeout=80; batch max_size=2 split; 0: a b;
        a: never, 40 gives a1; b: 40 gives b1
    breaks: 0: waits, takes 0 1, end, batch a b; 80: #0 cancelled, #1 cancelled; 120: batch a b;
        160: #2 gives a1, #3 gives b1, out a1 b1, ends finished
BAT-14
    keeps: 0: waits, takes 0 1, end, batch a b; 80: #0 cancelled, #1 cancelled;
        120: batch a, batch b; 160: #2 gives a1, #3 gives b1, out a1 b1, ends finished
BAT-14: Record 'a' (input 0) shares call 2 with 2, at most 1
    # a and b have errors of their own, and their next attempts are the last.
    plan: retry max_attempts=2 initial=40; batch max_size=2 split; 0: a b;
        a b: 40 raises own, 40 gives *1
    breaks: 0: waits, takes 0 1, end, batch a b; 40: #0 raises, #1 raises; 80: batch a b;
        120: #2 gives a1, #3 gives b1, out a1 b1, ends finished
BAT-14
    # a and b have errors of their own, and their next attempts are not the last.
    plan: retry initial=40; batch max_size=2 split; 0: a b; a b: 40 raises own, 40 gives *1
    escapes: 0: waits, takes 0 1, end, batch a b; 40: #0 raises, #1 raises; 80: batch a b;
        120: #2 gives a1, #3 gives b1, out a1 b1, ends finished
""")
