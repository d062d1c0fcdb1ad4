"""LIMIT: runs that break a rule, and runs that nearly do."""

from asyncwait.conformance.evidence import witnesses

WITNESSES = witnesses("""
LIMIT-1: call 1 of 'b' makes calls of 2, at most 1 start in 200 ms
    plan: capacity 8; limits window 1 200; 0: a b; a b: 40 gives *1
    breaks: 0: waits, takes 0 1, end, calls a#0; 40: #0 gives a1, out a1; 160: calls b#1;
        200: #1 gives b1, out b1, ends finished
    keeps: 0: waits, takes 0 1, end, calls a#0; 40: #0 gives a1, out a1; 200: calls b#1;
        240: #1 gives b1, out b1, ends finished
LIMIT-2: call 1 of 'b' makes cost of 5, at most 4 start in 200 ms
    plan: capacity 8; limits window 4 200 costs=true; 0: a b; a: 40 gives a1, costs 3;
        b: 40 gives b1, costs 2
    breaks: 0: waits, takes 0 1, end, calls a#0 b#1; 40: #0 gives a1, #1 gives b1, out a1 b1,
        ends finished
    keeps: 0: waits, takes 0 1, end, calls a#0; 40: #0 gives a1, out a1; 200: calls b#1;
        240: #1 gives b1, out b1, ends finished
LIMIT-3: call 1 of 'b' makes calls of 2, at most 1 run
    plan: capacity 8; limits in-flight 1; 0: a b; a: 80 gives a1; b: 40 gives b1
    breaks: 0: waits, takes 0 1, end, calls a#0; 40: calls b#1; 80: #0 gives a1, #1 gives b1,
        out a1 b1, ends finished
    keeps: 0: waits, takes 0 1, end, calls a#0; 80: #0 gives a1, out a1, calls b#1;
        120: #1 gives b1, out b1, ends finished
LIMIT-4: Record 'b' (input 1) is not called, and all limits have room
    plan: capacity 8; limits window 1 200; 0: a b; a b: 40 gives *1
    breaks: 0: waits, takes 0 1, end, calls a#0; 40: #0 gives a1, out a1; 240: calls b#1;
        280: #1 gives b1, out b1, ends finished
    keeps: 0: waits, takes 0 1, end, calls a#0; 40: #0 gives a1, out a1; 200: calls b#1;
        240: #1 gives b1, out b1, ends finished
LIMIT-5: Record 'x' (key 'm') (input 2) is not called, and all limits have room
    plan: key-ordered; capacity 8; limits in-flight 2; 0: a/k b/k x/m y/n; a b x y: 80 gives *1
    breaks: 0: waits, takes 0 1 2 3, end, calls a#0; 80: #0 gives a1, out a1, calls b#1 x#2;
        160: #1 gives b1, #2 gives x1, out b1 x1, calls y#3; 240: #3 gives y1, out y1, ends finished
    keeps: 0: waits, takes 0 1 2 3, end, calls a#0 x#2; 80: #0 gives a1, out a1/k, calls b#1,
        #1 gives x1, out x1/m, calls y#3; 160: #2 gives b1, #3 gives y1, out b1/k y1/n,
        ends finished
LIMIT-6: Record 'c' (input 2) is not called, and all limits have room
    plan: unordered; capacity 8; timeout 120; handled; retry initial=40; limits window 2 200;
        0: a b; 40: c; a: 40 raises, late gives a?; b c: 40 gives *1
    breaks: 0: waits, takes 0 1, calls a#0 b#1; 40: #0 raises, #1 gives b1, out b1, takes 2, end;
        120: asks a#0, out a?; 240: calls c#2; 280: #2 gives c1, out c1, ends finished
    keeps: 0: waits, takes 0 1, calls a#0 b#1; 40: #0 raises, #1 gives b1, out b1, takes 2, end;
        120: asks a#0, out a?; 200: calls c#2; 240: #2 gives c1, out c1, ends finished
LIMIT-7: call 1 of 'b' began while Record 'a' (input 0) waited to be called again
    plan: unordered; capacity 8; retry initial=40; limits window 1 200; 0: a b;
        a: 40 raises, 40 gives a2; b: 40 gives b1
    breaks: 0: waits, takes 0 1, end, calls a#0; 40: #0 raises; 200: calls b#1;
        240: #1 gives b1, out b1; 400: calls a#0; 440: #2 gives a2, out a2, ends finished
    keeps: 0: waits, takes 0 1, end, calls a#0; 40: #0 raises; 200: calls a#0;
        240: #1 gives a2, out a2; 400: calls b#1; 440: #2 gives b1, out b1, ends finished
LIMIT-8: Record 'c' (input 2) was called before Record 'b' (input 1), which waited
    plan: unordered; capacity 8; limits in-flight 4 costs=true; 0: a b; 40: c; a: 120 gives a1;
        b: 40 gives b1, costs 4; c: 40 gives c1
    breaks: 0: waits, takes 0 1, calls a#0; 40: takes 2, end, calls c#2; 80: #1 gives c1, out c1;
        120: #0 gives a1, out a1, calls b#1; 160: #2 gives b1, out b1, ends finished
    keeps: 0: waits, takes 0 1, calls a#0; 40: takes 2, end; 120: #0 gives a1, out a1, calls b#1;
        160: #1 gives b1, out b1, calls c#2; 200: #2 gives c1, out c1, ends finished
LIMIT-9: Record 'b' (input 1) timed out before its time since its call
    plan: capacity 8; timeout 80; handled; limits window 1 200; 0: a b; a: 40 gives a1;
        b: never, late gives b?
    breaks: 0: waits, takes 0 1, end, calls a#0; 40: #0 gives a1, out a1; 80: asks b#1, out b?,
        ends finished
    keeps: 0: waits, takes 0 1, end, calls a#0; 40: #0 gives a1, out a1; 200: calls b#1;
        280: asks b#1, #1 cancelled, out b?, ends finished
LIMIT-10: Record 'c' (input 2) is not called, and all limits have room
    plan: unordered; capacity 8; limits in-flight 1 by=true; 0: a b c; a b: 80 gives *1, of g;
        c: 40 gives c1, of h
    breaks: 0: waits, takes 0 1 2, end, calls a#0; 80: #0 gives a1, out a1, calls b#1 c#2;
        120: #2 gives c1, out c1; 160: #1 gives b1, out b1, ends finished
    keeps: 0: waits, takes 0 1 2, end, calls a#0 c#2; 40: #1 gives c1, out c1;
        80: #0 gives a1, out a1, calls b#1; 160: #2 gives b1, out b1, ends finished
LIMIT-11: call 1 of 'b' makes calls of 2, at most 1 start in 80 ms
    plan: capacity 8; limits window 4 320 burst=1; 0: a b; a b: 40 gives *1
    breaks: 0: waits, takes 0 1, end, calls a#0 b#1; 40: #0 gives a1, #1 gives b1, out a1 b1,
        ends finished
    keeps: 0: waits, takes 0 1, end, calls a#0; 40: #0 gives a1, out a1; 80: calls b#1;
        120: #1 gives b1, out b1, ends finished
LIMIT-12: waiting_for_permits is (1,), expected 2 records
    plan: capacity 8; limits window 1 200; 0: a b c; a b c: gives *1; figures_at 60
    breaks: 0: waits, takes 0 1 2, end, calls a#0, #0 gives a1, out a1;
        60: figures in_flight=2 calls=1 max_in_flight=3 waiting_for_permits=1; 200: calls b#1,
        #1 gives b1, out b1; 400: calls c#2, #2 gives c1, out c1, ends finished
    keeps: 0: waits, takes 0 1 2, end, calls a#0, #0 gives a1, out a1;
        60: figures in_flight=2 calls=1 max_in_flight=3 waiting_for_permits=2; 200: calls b#1,
        #1 gives b1, out b1; 400: calls c#2, #2 gives c1, out c1, ends finished
LIMIT-13: Record 'b' (input 1) waits, and its cost exceeds a limit
    plan: unordered; capacity 8; failures_handled; limits in-flight 2 costs=true; 0: a b;
        a: 40 gives a1; b: 40 gives b1, costs 3, failed gives b!
    breaks: 0: waits, takes 0 1, end, calls a#0; 40: #0 gives a1, out a1,
        asks b#1 about CallFailed cause=CostTooLarge, out b!, ends finished
    keeps: 0: waits, takes 0 1, end, calls a#0, asks b#1 about CallFailed cause=CostTooLarge,
        out b!; 40: #0 gives a1, out a1, ends finished
LIMIT-14: call 2 of 'c' makes 3 of a budget of 2
    plan: capacity 8; limits budget 2 then=stop; 0: a b c; a b c: 40 gives *1
    breaks: 0: waits, takes 0 1 2, end, calls a#0 b#1 c#2; 40: #0 gives a1, #1 gives b1,
        #2 gives c1, out a1 b1 c1, ends finished
    keeps: 0: waits, takes 0 1 2, end, calls a#0 b#1; 40: #0 gives a1, #1 gives b1, out a1 b1,
        ends finished
LIMIT-15: Record 'a' (input 0) was called before, and is left out
    plan: unordered; capacity 8; failures_handled; retry initial=80; limits budget 2 then=stop;
        0: a b c; a: 40 raises, failed gives a!; b c: 40 gives *1
    breaks: 0: waits, takes 0 1 2, calls a#0 b#1; 40: #0 raises, #1 gives b1, out b1;
        120: ends finished
    keeps: 0: waits, takes 0 1 2, calls a#0 b#1; 40: #0 raises, #1 gives b1, out b1;
        120: asks a#0 about CallFailed cause=BudgetSpent, out a!, ends finished
LIMIT-16: call 2 of 'c' begins, though 2 calls had failed by 40
    plan: capacity 8; failures_handled; limits breaker 2 400 rest=240; 0: a b; 80: c;
        a b: 40 raises own, failed gives *!; c: 40 gives c1
    breaks: 0: waits, takes 0 1, calls a#0 b#1; 40: #0 raises, #1 raises,
        asks a#0 about CallFailed cause=Planned, asks b#1 about CallFailed cause=Planned,
        out a! b!; 80: takes 2, end, calls c#2; 120: #2 gives c1, out c1, ends finished
    keeps: 0: waits, takes 0 1, calls a#0 b#1; 40: #0 raises, #1 raises,
        asks a#0 about CallFailed cause=Planned, asks b#1 about CallFailed cause=Planned,
        out a! b!; 80: takes 2, end; 280: calls c#2; 320: #2 gives c1, out c1, ends finished
LIMIT-17: Record 'b' (input 1) waits for its permit since 0
    plan: unordered; capacity 8; failures_handled; limits in-flight 1 max_wait=80; 0: a b;
        a: 160 gives a1; b: 40 gives b1, failed gives b!
    breaks: 0: waits, takes 0 1, end, calls a#0; 160: #0 gives a1, out a1, calls b#1;
        200: #1 gives b1, out b1, ends finished
    keeps: 0: waits, takes 0 1, end, calls a#0; 80: asks b#1 about CallFailed cause=PermitTimedOut,
        out b!; 160: #0 gives a1, out a1, ends finished
""")
