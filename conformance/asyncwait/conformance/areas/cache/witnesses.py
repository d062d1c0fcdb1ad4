"""CACHE: runs in which results are shared, kept or given wrongly, and legal neighbours."""

from asyncwait.conformance.evidence import witnesses

WITNESSES = witnesses("""
CACHE-1: call 1 has the outcome of call 0, and the key of both is null
    plan: cache ttl=500; 0: null null; plan null: 40 gives n1, 40 gives n2
    breaks: 0: waits, takes 0 1, end, load null#0, joins 0 null#1;
        40: #0 gives n1, #1 gives n1, out n1 n1, ends finished
    keeps: 0: waits, takes 0 1, end, load null#0, load null#1;
        40: #0 gives n1, #1 gives n2, out n1 n2, ends finished
CACHE-2: load 1 of 'a' began, and load 0 ran
    plan: cache ttl=500; 0: a a; a: 40 gives a1, 40 gives a2
    breaks: 0: waits, takes 0 1, end, load a#0, load a#1;
        40: #0 gives a1, #1 gives a2, out a1 a2, ends finished
    keeps: 0: waits, takes 0 1, end, load a#0, joins 0 a#1;
        40: #0 gives a1, #1 gives a1, out a1 a1, ends finished
CACHE-3: load 0 of 'a' was cancelled, and a call waits for it
    plan: cache ttl=500; timeout 120; handled; 0: a; 80: a; a: 160 gives a1, late gives a?
    breaks: 0: waits, takes 0, load a#0; 80: takes 1, end, joins 0 a#1;
        120: asks a#0, out a?, #0 cancelled, #1 cancelled; 200: asks a#1, out a?, ends finished
    keeps: 0: waits, takes 0, load a#0; 80: takes 1, end, joins 0 a#1; 120: asks a#0, out a?;
        160: #0 gives a1, #1 gives a1, out a1, ends finished
CACHE-4: call 1 of 'a' has the failure of load 0, which was over
    plan: failures_handled; cache ttl=500; 0: a; 80: a; a: 40 raises, 40 gives a2, failed gives a!
    breaks: 0: waits, takes 0, load a#0; 40: #0 raises,
        asks a#0 about CallFailed cause=ValueError, out a!; 80: takes 1, end, joins 0 a#1,
        #1 raises, asks a#1 about CallFailed cause=ValueError, out a!, ends finished
    keeps: 0: waits, takes 0, load a#0; 40: #0 raises,
        asks a#0 about CallFailed cause=ValueError, out a!; 80: takes 1, end, load a#1;
        120: #1 gives a2, out a2, ends finished
CACHE-5: call 1 of 'a' was given results of load 0, good until 100
    plan: cache ttl=100; 0: a; 120: a; a: 40 gives a1, 40 gives a2
    breaks: 0: waits, takes 0, load a#0; 40: #0 gives a1, out a1;
        120: takes 1, end, joins 0 a#1, #1 gives a1, out a1, ends finished
    keeps: 0: waits, takes 0, load a#0; 40: #0 gives a1, out a1;
        120: takes 1, end, load a#1; 160: #1 gives a2, out a2, ends finished
CACHE-6: call 2 of 'a' was given results of load 0, which had to go
    plan: cache max_keys=1 ttl=500; 0: a; 80: b; 160: a; a b: 40 gives *1, 40 gives *2
    breaks: 0: waits, takes 0, load a#0; 40: #0 gives a1, out a1; 80: takes 1, load b#1;
        120: #1 gives b1, out b1; 160: takes 2, end, joins 0 a#2, #2 gives a1, out a1,
        ends finished
    keeps: 0: waits, takes 0, load a#0; 40: #0 gives a1, out a1; 80: takes 1, load b#1;
        120: #1 gives b1, out b1; 160: takes 2, end, load a#2; 200: #2 gives a2, out a2,
        ends finished
CACHE-7: call 1 of 'a' was given the empty result of load 0, good until 0
    plan: cache ttl=500; 0: a; 80: a; a: 40 gives, 40 gives a2
    breaks: 0: waits, takes 0, load a#0; 40: #0 gives; 80: takes 1, end, joins 0 a#1, #1 gives,
        ends finished
    keeps: 0: waits, takes 0, load a#0; 40: #0 gives; 80: takes 1, end, load a#1;
        120: #1 gives a2, out a2, ends finished
CACHE-8: call 1 of 'a' was given what load 0 gave, and no load began ahead of time
    plan: cache ttl=500 refresh_ahead=20; 0: a; 120: a; a: 40 gives a1; source_ends_at 200
    breaks: 0: waits, takes 0, load a#0; 40: #0 gives a1, out a1;
        120: takes 1, joins 0 a#1, #1 gives a1, out a1; 200: end, ends finished
    keeps: 0: waits, takes 0, load a#0; 40: #0 gives a1, out a1;
        120: takes 1, joins 0 a#1, #1 gives a1, ahead a, out a1; 160: #2 gives a1;
        200: end, ends finished
CACHE-9: there are old results for Record 'a' (input 1) when its load fails, and it was called again
    plan: cache ttl=100 stale_if_error=480; retry initial=40; 0: a; 120: a;
        a: 40 gives a1, 40 raises, 40 gives a3
    breaks: 0: waits, takes 0, load a#0; 40: #0 gives a1, out a1; 120: takes 1, end, load a#1;
        160: #1 raises; 200: load a#1; 240: #2 gives a3, out a3, ends finished
    keeps: 0: waits, takes 0, load a#0; 40: #0 gives a1, out a1; 120: takes 1, end, load a#1;
        160: #1 raises, out a1, ends finished
CACHE-10: call 0 of 'a' was given what no load had given since the operator was opened
    plan: cache ttl=500; 0: a; a: 40 gives a1
    breaks: 0: waits, takes 0, end, calls a#0, #0 gives a1, out a1, ends finished
    keeps: 0: waits, takes 0, end, load a#0; 40: #0 gives a1, out a1, ends finished
CACHE-11: hits + shared + loads + stale + null_keys is 1, and calls 2
    plan: cache ttl=500; 0: a a; a: 80 gives a1; figures_at 40
    breaks: 0: waits, takes 0 1, end, load a#0, joins 0 a#1;
        40: figures in_flight=2 calls=2 loads=1 max_in_flight=2 oldest=40;
        80: #0 gives a1, #1 gives a1, out a1 a1, ends finished
    keeps: 0: waits, takes 0 1, end, load a#0, joins 0 a#1;
        40: figures in_flight=2 calls=2 loads=1 shared=1 max_in_flight=2 oldest=40;
        80: #0 gives a1, #1 gives a1, out a1 a1, ends finished
""")
