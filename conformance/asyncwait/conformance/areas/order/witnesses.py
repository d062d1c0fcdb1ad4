"""ORD: witnesses of the order of results, and of calls."""

from asyncwait.conformance.evidence import near_misses, witnesses

WITNESSES = witnesses("""
ORD-1: results of Record 'a' (input 0) came after those of Record 'b' (input 1)
    plan: 0: a b; a: 80 gives a1; b: 40 gives b1
    breaks: 0: waits, takes 0 1, calls a b; 40: #1 gives b1; 80: #0 gives a1, out b1 a1
    keeps: 0: waits, takes 0 1, calls a b; 40: #1 gives b1; 80: #0 gives a1, out a1 b1
ORD-2: Record 'a' (input 0) is decided, but the waiting consumer did not get it
    plan: 0: a; a: 40 gives a1; sink pause 80
    breaks: 0: waits, takes 0, calls a; 40: #0 gives a1; 80: out a1
    keeps: 0: takes 0, calls a; 40: #0 gives a1; 80: waits, out a1
ORD-3: Record 'b' (input 1) is decided, but the waiting consumer did not get it
    plan: unordered; 0: a b; a: 80 gives a1; b: 40 gives b1
    breaks: 0: waits, takes 0 1, calls a b; 40: #1 gives b1; 80: #0 gives a1, out b1 a1
    plan: unordered; 0: a ~5 b; a: 80 gives a1; b: 40 gives b1
    keeps: 0: waits, takes 0 1 2, calls a b; 40: #1 gives b1; 80: #0 gives a1, out a1 ~5 b1
ORD-4: Record 'b' (input 1) was called before Record 'a' (input 0)
    plan: unordered; 0: a b; a: 80 gives a1; b: 40 gives b1
    breaks: 0: waits, takes 0 1, calls b a; 40: #0 gives b1, out b1; 80: #1 gives a1, out a1
    keeps: 0: waits, takes 0 1, calls a b; 40: #1 gives b1, out b1; 80: #0 gives a1, out a1
ORD-5: Record 'a' (input 1) was never called
    plan: 0: a a; a: 40 gives a1
    breaks: 0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1 a1
    keeps: 0: waits, takes 0 1, calls a a; 40: #0 gives a1, #1 gives a1, out a1 a1
""")

NEAR_MISSES = near_misses("""
ORD-4: Record 'b' (input 1) was called before Record 'a' (input 0)
    # A call before the call of an earlier record is out of order, in an unfinished leg, too.
    plan: 0: a b
    breaks: 0: takes 0 1, calls b; 40: ends crashed
ORD-4
    # The last records of a leg may wait for their calls for ever.
    escapes: 0: takes 0 1, calls a; 40: ends crashed
ORD-5: call 1 of 'a' belongs to no record
    # The run has two calls of a, and one record a.
    breaks: 0: waits, takes 0 1, calls a a b, #0 gives a, #1 gives a, #2 gives b, out a b
ORD-5: call 1 of 'a' belongs to no record
    # The second call names a record beyond the last.
    plan: retry; 0: a; a: gives a1
    breaks: 0: waits, takes 0, calls a#0, #0 gives a1, calls a#1, out a1
ORD-3
    # The second of two equal records gives in time the result that the handler would give for the
    # first; the consumer has left at the deadline of the first record.
    plan: unordered; timeout 60; handled; 0: a@1 a@1; a: never, 40 gives late, late gives late;
        cancel_at 60
    keeps: 0: takes 0 1, calls a a; 40: #1 gives late, waits, out late@1; 60: #0 cancelled,
        ends left
""")
