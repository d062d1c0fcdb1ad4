"""LIMIT: examples of calls that wait for their permits."""

from asyncwait.conformance.evidence import examples

EXAMPLES = examples("""
two-calls-in-a-window: LIMIT-1, LIMIT-4
    Two calls begin at 0, two more at 200, and the last one at 400.
    capacity 8; limits window 2 200; 0: a b c d e; a b c d e: 40 gives *1
the-service-counts-a-call-later: LIMIT-1, LIMIT-4
    The service may get a call 80 ms after its start, so that the next call begins at 280.
    capacity 8; limits window 1 200 latency=80; 0: a b c; a b c: 160 gives *1
a-call-that-ends-has-reached-the-service: LIMIT-1, LIMIT-4
    The service has got the first call when it ends at 40, so that the next call begins at 240.
    capacity 8; limits window 1 200 latency=80; 0: a b; a b: 40 gives *1
calls-that-come-one-by-one: LIMIT-1, LIMIT-4
    The window slides: c begins at 240, as a counts no more, and d waits for b until 360.
    capacity 8; limits window 2 200; 0: a; 160: b; 240: c; 280: d; a b c d: 40 gives *1
cost-in-a-window: LIMIT-2, LIMIT-4
    The calls for a and b cost 3 together, and c has to wait.
    capacity 8; limits window 4 200 costs=true; 0: a b c; a: 40 gives a1; b c: 40 gives *1, costs 2
a-call-tells-what-it-cost: LIMIT-2, LIMIT-4
    The first call costs 1 instead of the estimated 4, so that the second call begins at 40.
    capacity 8; limits window 4 200 costs=true; 0: a b; a: 40 gives a1 with used=1, costs 4;
    b: 40 gives b1, costs 2
a-call-without-cost: LIMIT-2
    The call for c costs nothing, and still waits behind b.
    unordered; capacity 8; limits window 2 200 costs=true; 0: a b; 40: c; a: 40 gives a1, costs 2;
    b: 40 gives b1, costs 1; c: 40 gives c1, costs 0
two-calls-at-a-time: LIMIT-3, LIMIT-4
    The call for c begins when the call for a has ended.
    capacity 8; limits in-flight 2; 0: a b c; a: 40 gives a1; b: 120 gives b1; c: 40 gives c1
calls-with-weights: LIMIT-3, LIMIT-8
    The call for c would fit beside a, but b waits in front of it.
    unordered; capacity 8; limits in-flight 4 costs=true; 0: a b c; a: 80 gives a1, costs 2;
    b: 40 gives b1, costs 3; c: 40 gives c1, costs 1
a-call-that-cleans-up-still-runs: LIMIT-3, TIME-5
    The deadline cancels the first call at 80, but the call ends at 160, and b begins then.
    unordered; capacity 8; timeout 80; handled; limits in-flight 1; 0: a b;
    a: never with clean_up=80, late gives a?; b: 40 gives b1
two-limits: LIMIT-1, LIMIT-3, LIMIT-4
    One call runs at a time, and two calls begin in any 240 ms.
    capacity 8; limits window 2 240, in-flight 1; 0: a b c; a b c: 80 gives *1
calls-in-callback-form: LIMIT-1, LIMIT-3
    Calls in callback form wait for their permits as all other calls do.
    capacity 8; form callback; limits window 2 200, in-flight 1; 0: a b c; a b c: 40 gives *1
a-batch-is-one-call: LIMIT-1
    Each batch counts as one call: the batches begin at 0, at 200 and at 400.
    capacity 8; batch max_size=2 max_wait=0; limits window 1 200; 0: a b c d e;
    a b c d e: 40 gives *1
a-batch-that-fits: LIMIT-2
    Three records would cost 6 together, so that the first batch holds two records.
    capacity 8; batch max_size=3 max_wait=0; limits window 4 200 costs=true; 0: a b c;
    a b c: 40 gives *1, costs 2
one-after-the-other-in-a-window: LIMIT-1, LIMIT-4
    The operator admits one record at a time, and the window allows two calls in 200 ms.
    capacity 1; limits window 2 200; 0: a b c; a b c: 40 gives *1
records-that-wait-for-their-key: LIMIT-5
    The records b and c wait for their key, so that x gets the second permit, and y the next one.
    key-ordered; capacity 8; limits in-flight 2; 0: a/k b/k c/k x/m y/n;
    a b c x y: 80 gives *1
a-record-that-backs-off: LIMIT-5
    The record a holds no permit during its back-off, and b begins at 40.
    capacity 8; retry initial=120; limits in-flight 1; 0: a b c; a: 40 raises, 40 gives a2;
    b c: 40 gives *1
a-deadline-while-a-retry-waits: LIMIT-6
    The deadline decides a at 120, before its second call, so that c begins at 200.
    unordered; capacity 8; timeout 120; handled; retry initial=40; limits window 2 200;
    0: a b; 40: c d; a: 40 raises, late gives a?; b c d: 40 gives *1
a-retry-is-a-call: LIMIT-7, LIMIT-4
    Both calls of a fill the window, and b waits.
    unordered; capacity 8; retry initial=40; limits window 2 240; 0: a; 120: b;
    a: 40 raises, 40 gives a2; b: 40 gives b1
retries-go-first: LIMIT-7
    The second call of a begins at 200, although b has waited for longer.
    unordered; capacity 8; retry initial=40; limits window 1 200; 0: a b; a: 40 raises, 40 gives a2;
    b: 40 gives b1
retries-among-calls-at-a-time: LIMIT-7
    The second call of a begins before the calls of c and d.
    unordered; capacity 8; retry initial=40; limits in-flight 1; 0: a b c d;
    a: 40 raises, 40 gives a2; b c d: 80 gives *1
small-calls-behind-a-large-one: LIMIT-8, LIMIT-4
    The call for b needs all the room, and c and d, which would fit beside a, wait behind it.
    unordered; capacity 8; limits in-flight 4 costs=true; 0: a b; 40: c d; a: 120 gives a1;
    b: 40 gives b1, costs 4; c d: 40 gives *1
a-large-call-in-a-window: LIMIT-8
    The call for c would fit into the window at once, and waits behind b.
    unordered; capacity 8; limits window 4 200 costs=true; 0: a b c; a: 40 gives a1, costs 3;
    b: 40 gives b1, costs 2; c: 40 gives c1
the-deadline-of-a-record-that-waits: LIMIT-9, LIMIT-1
    The record b waits for its permit until 200, and its deadline passes at 280.
    capacity 8; timeout 80; handled; limits window 1 200; 0: a b; a: 40 gives a1;
    b: never, late gives b?; source_ends_at 480
many-records-wait-for-longer-than-a-deadline: LIMIT-9, LIMIT-4
    Each record has its full time from its first call on.
    capacity 8; timeout 80; limits in-flight 1; 0: a b c d; a b c d: 40 gives *1
each-key-has-its-room: LIMIT-10
    The call for c begins at once, although b waits for the room of its own key.
    unordered; capacity 8; limits in-flight 1 by=true; 0: a b c; a b: 80 gives *1, of g;
    c: 40 gives c1, of h
each-key-has-its-window: LIMIT-10
    Each key has one call in 200 ms.
    unordered; capacity 8; limits window 1 200 by=true; 0: a b c d; a c: 40 gives *1, of g;
    b d: 40 gives *1, of h
a-key-and-a-limit-for-all: LIMIT-10
    The record b waits for the room of its key, and c, of the other key, begins at once.
    unordered; capacity 8; limits in-flight 1 by=true, in-flight 2; 0: a b; 40: c d;
    a b: 160 gives *1, of g; c d: 40 gives *1, of h
calls-at-an-even-pace: LIMIT-11, LIMIT-4
    The limit allows four calls in 320 ms, and its burst allows one call in 80 ms.
    capacity 8; limits window 4 320 burst=1; 0: a b c d e; a b c d e: 40 gives *1
a-burst-behind-a-pause: LIMIT-11
    After a pause b and c begin together, and d waits.
    capacity 8; limits window 4 320 burst=2; 0: a; 200: b c d; a b c d: 40 gives *1
records-wait-for-a-window: LIMIT-12
    Two records wait from 0 to 200, and one record waits until 400.
    capacity 8; limits window 1 200; 0: a b c; a b c: 40 gives *1; figures_at 60 220 420;
    source_ends_at 520
records-wait-for-one-of-two-limits: LIMIT-12
    The second limit has room for all calls, so that no record waits for it.
    capacity 8; limits in-flight 1, in-flight 4; 0: a b c; a b c: 80 gives *1;
    figures_at 20 100 180; source_ends_at 400
a-call-that-exceeds-its-limit: LIMIT-13
    The record b fails at once, and the call for c begins.
    unordered; capacity 8; failures_handled; limits window 4 200 costs=true; 0: a b c;
    a: 40 gives a1; b: 40 gives b1, costs 5, failed gives b!; c: 40 gives c1
a-call-that-exceeds-its-limit-fails-the-stream: LIMIT-13, FAIL-1
    The error of the stream names the record b.
    capacity 8; limits in-flight 2 costs=true; 0: a; 80: b; a: 40 gives a1;
    b: 40 gives b1, costs 3
a-budget-of-calls: LIMIT-14, LIMIT-15
    The budget pays for two calls, and then the stream fails.
    capacity 8; limits budget 2; 0: a b c d; a b c d: 40 gives *1
a-budget-that-is-no-failure: LIMIT-15
    The budget pays for two calls, and then the stream ends without an error.
    capacity 8; limits budget 2 then=stop; 0: a b c d; a b c d: 40 gives *1
estimates-are-corrected: LIMIT-14
    Each call costs 1 instead of the estimated 3, so that the budget pays for all four calls.
    capacity 8; limits budget 6 costs=true; 0: a b c d;
    a b c d: 40 gives *1 with used=1, costs 3
costs-that-only-calls-tell: LIMIT-14, LIMIT-15
    The first call runs alone, and its cost of 2 is the estimate for the next calls.
    capacity 8; limits budget 6 told=true; 0: a b c d; a b c d: 40 gives *1, costs 2
a-budget-in-the-middle: LIMIT-15
    The budget pays for no second call of a, which fails, as it is in front of b.
    unordered; capacity 8; failures_handled; retry initial=80; limits budget 2; 0: a b c;
    a: 40 raises, failed gives a!; b c: 40 gives *1
a-breaker-opens: LIMIT-16
    Two failures open the breaker, and no call begins from 40 to 280.
    capacity 8; retry initial=40 on_error=any; limits breaker 2 400 rest=240; 0: a b; 80: c d;
    a b: 40 raises own, 40 gives *2; c d: 40 gives *1; source_ends_at 600
records-that-wait-too-long: LIMIT-17
    The records c and d fail at 160, because the window has no room for them before 200.
    unordered; capacity 8; failures_handled; limits window 2 200 max_wait=160; 0: a b c d;
    a b: 40 gives *1; c d: 40 gives *1, failed gives *!
a-wait-that-is-short-enough: LIMIT-17
    The record b waits for 80 ms, and c fails after 120 ms.
    unordered; capacity 8; failures_handled; limits in-flight 1 max_wait=120; 0: a b c;
    a b c: 80 gives *1, failed gives *!
a-breaker-opens-before-the-last-record: LIMIT-16
    The operator admits two records, whose calls fail, and the call for c begins at 280.
    capacity 2; failures_handled; limits breaker 2 400 rest=240; 0: a b c;
    a b: 40 raises own, failed gives *!; c: 40 gives c1
records-wait-between-two-calls: LIMIT-12
    Two records wait at 120, and one record waits at 360.
    capacity 8; limits window 1 240; 0: a b c; a b c: 40 gives *1; figures_at 120 360;
    source_ends_at 600
a-deadline-while-a-retry-waits-in-order: LIMIT-6
    The deadline decides a at 120, before its second call, so that c begins at 200.
    capacity 8; timeout 120; handled; retry initial=40; limits window 2 200;
    0: a b; 40: c d; a: 40 raises, late gives a?; b c d: 40 gives *1
records-that-wait-too-long-in-order: LIMIT-17
    The record c fails after it has waited for 120 ms.
    capacity 8; failures_handled; limits in-flight 1 max_wait=120; 0: a b c;
    a b c: 80 gives *1, failed gives *!
batch-too-large-while-a-batch-runs: LIMIT-13, END-8
    A value whose call no window ever admits comes during the call of the batch before it.
    unordered; batch in_flight=1; limits window 2 200 costs=true; 0: a; 80: b; a: 80 gives a1;
    b: gives b1, costs 3
""")
