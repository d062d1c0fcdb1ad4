"""STAT: examples of operators whose statistics are read."""

from asyncwait.conformance.evidence import examples

EXAMPLES = examples("""
read-behind-one-slow-call: STAT-1, STAT-3, STAT-4, STAT-9, STAT-10
    While a takes 200 ms, two other records are held; at 240 nothing is in flight any more.
    0: a b c; a: 200 gives a1; b c: 40 gives *1; source_ends_at 280; figures_at 0 80 160 240
read-while-one-waits-for-room: STAT-1, STAT-2, STAT-9
    b waits for a, which takes 120 ms, and the watermark waits for b.
    capacity 1; 0: a b ~1; a b: 120 gives *1; figures_at 40 80 160 200
read-while-what-was-restored-waits: STAT-1, STAT-2
    Each of three restored records takes 80 ms; d is read behind them, and waits.
    capacity 1; restore |9(a+b+c); 0: d; a b c d: 80 gives *1; figures_at 40 120 200 280
read-with-fences-in-between: STAT-1, STAT-3, STAT-9
    A watermark takes room, and is neither in flight nor held.
    0: a ~1 b ~2; a: 200 gives a1; b: 40 gives b1; figures_at 80 160
read-while-two-are-called-at-two-times: STAT-10
    At 120 the older call has run for 120 ms, and the newer call for 40 ms.
    0: a; 80: b; a b: 160 gives *1; source_ends_at 400; figures_at 120 200
read-in-unordered-mode: STAT-1, STAT-3, STAT-10
    c is out at 40, and the watermark holds b back until a has come out.
    unordered; 0: a c ~1 b; a: 200 gives a1; b c: 40 gives *1; figures_at 80 160
read-while-the-consumer-pauses: STAT-1, STAT-3, STAT-9
    Two records, one of them without results, are decided at 40 and held until 200.
    0: a b; a: 40 gives a1 a2; b: 40 gives; source_ends_at 280; figures_at 80 160 240;
    sink pause 200
read-when-the-service-recovers: STAT-1, STAT-4, STAT-9, STAT-10
    Records are in flight twice, with nothing in flight in between.
    0: a b; 160: c; a b c: 80 gives *1; source_ends_at 320; figures_at 40 120 200 280
read-between-attempts: STAT-4, STAT-5, STAT-10
    a is called at 0, 120, 240 and 360, and counts as in flight all the time.
    retry max_attempts=4 initial=80 multiplier=1; 0: a; a: 3 times 40 raises, gives a1;
    source_ends_at 480; figures_at 80 200 320 440
read-while-attempts-take-too-long: STAT-5, STAT-6
    Each attempt may take 80 ms, and the record itself is late only at 400.
    timeout 400; handled; retry max_attempts=9 initial=80 multiplier=1 attempt_timeout=80; 0: a;
    a: never, late gives late; source_ends_at 480; figures_at 40 120 200 360 440
read-after-deadlines: STAT-1, STAT-6
    Two deadlines pass at 80; c answers in time.
    timeout 80; handled; 0: a b c; a: never, late gives late; b: never, late gives late later;
    c: 40 gives c1; source_ends_at 160; figures_at 40 120
read-after-handled-failures: STAT-7, STAT-3
    The failure handler has a result for a and no results for b, and both failures count.
    failures_handled; 0: c a b; a: 40 raises, failed gives sorry;
    b: 40 misreturns none, failed gives; c: 120 gives c1; source_ends_at 200; figures_at 80 160
read-after-deadlines-that-the-failure-handler-meets: STAT-6, STAT-7
    Without a timeout handler the deadline of a is a failure, which the failure handler handles.
    timeout 80; failures_handled; 0: a; a: never, failed gives sorry; source_ends_at 160;
    figures_at 40 120
read-while-a-call-runs-on: STAT-6, STAT-8
    a is cancelled at 40 and runs on until 440: its call is abandoned, and stays counted.
    timeout 40; handled; 0: a; a: outlives 400 a1, late gives late; source_ends_at 520;
    figures_at 120 320 480
read-after-an-attempt-that-runs-on: STAT-5, STAT-8
    The first attempt is cancelled at 80, and runs on while the second answers.
    retry attempt_timeout=80; 0: a; a: never with swallow clean_up=400, 40 gives a1;
    source_ends_at 560; figures_at 200 320
read-after-a-deadline-that-fails: STAT-6
    The handler has results for a at 80, and none for b, which fails the operator at 120.
    timeout 80; handled; 0: a; 40: b; a: never, late gives late; b: never, late none;
    figures_at 100 200; sink pause 240
read-after-a-failure: STAT-11
    b fails at 40, and the consumer gets the failure at 240; until then nothing is in flight.
    capacity 2; 0: a b c; a: never, late none; b: 40 raises; figures_at 0 120 200; sink pause 240
read-when-it-was-left: STAT-1, STAT-11
    The consumer leaves while a is called and b waits for room.
    capacity 1; 0: a b; a: never, late none; figures_at 40; sink pause 80, leave
read-when-too-many-calls-run-on: STAT-1
    The operator fails at 80, and the figures at 200 show its end; the consumer leaves later.
    capacity 2; timeout 40; handled; 0: a b c; a b c: outlives 400 *1, late gives *?;
    figures_at 20 200; sink read 1, pause 320, leave
read-while-markers-and-barriers-find-no-room: STAT-1, STAT-2, STAT-3
    Behind a, a marker and a barrier wait for the consumer, and another barrier waits for them; the
    figures count no marker and no barrier as in flight, held or waiting.
    capacity 1; 0: a !1 ^2 ^3 b; a: 200 gives a1; figures_at 40 120; sink pause 160
read-while-others-wait-for-their-key: STAT-10
    b is read at 0 and called at 120, when its age begins.
    key-ordered; 0: a/k b/k; a b: 120 gives *1; figures_at 80 200
""")
