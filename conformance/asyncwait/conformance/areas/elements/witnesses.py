"""ELEM: witnesses of outputs."""

from asyncwait.conformance.evidence import near_misses, witnesses

WITNESSES = witnesses("""
ELEM-1: expected timestamp 5 of Record 'a' @ 5 (key 'k') (input 0), got Record 'x' @ 6 (key 'k')
    plan: unordered; 0: a@5/k b@6/m; a b: 40 gives x
    breaks: 0: waits, takes 0 1, calls a b; 40: #0 gives x, #1 gives x, out x@6/m x@6/k
    keeps: 0: waits, takes 0 1, calls a b; 40: #0 gives x, #1 gives x, out x@6/m x@5/k
ELEM-2: expected key 'k' of Record 'a' @ 5 (key 'k') (input 0), got Record 'x' @ 5 (key 'm')
    plan: unordered; 0: a@5/k b@6/m; a b: 40 gives x
    breaks: 0: waits, takes 0 1, calls a b; 40: #0 gives x, #1 gives x, out x@6/m x@5/m
    keeps: 0: waits, takes 0 1, calls a b; 40: #0 gives x, #1 gives x, out x@6/m x@5/k
ELEM-3: Record 'a1' is no result of any decided record
    plan: timeout 80; handled; 0: a; a: outlives 40 a1, late gives a?; source_ends_at 120
    breaks: 0: waits, takes 0, calls a; 80: asks a, #0 told, out a?; 120: #0 gives a1, out a1
    plan: timeout 80; handled; 0: a; a: 80 gives a1, late gives a?
    keeps: 0: waits, takes 0, calls a; 80: #0 gives a1, out a1
ELEM-4: Record 'x' came out once more than records gave it
    plan: unordered; 0: a a; a: 40 gives x, 80 gives x
    breaks: 0: waits, takes 0 1, calls a a; 40: #0 gives x, out x x; 80: #1 gives x
    keeps: 0: waits, takes 0 1, calls a a; 40: #0 gives x, out x; 80: #1 gives x, out x
ELEM-5: expected 'a2' of Record 'a' (input 0) next, got Record 'b1'
    plan: unordered; 0: a b; a: 40 gives a1 a2; b: 40 gives b1
    breaks: 0: waits, takes 0 1, calls a b; 40: #0 gives a1 a2, #1 gives b1, out a1 b1 a2
    keeps: 0: waits, takes 0 1, calls a b; 40: #0 gives a1 a2, #1 gives b1, out b1 a1 a2
ELEM-6: LatencyMarker(marked_at=1, source='') (input 1) has not been passed on while the consumer
        waits
    plan: 0: a; 40: !1; a: 80 gives a1
    breaks: 0: waits, takes 0, calls a; 40: takes 1; 80: #0 gives a1, out a1 !1
    plan: 0: a; 40: !1; a: 80 gives a1; sink pause 80
    keeps: 0: takes 0, calls a; 40: takes 1; 80: #0 gives a1, waits, out a1 !1
ELEM-7: LatencyMarker(marked_at=1, source='') (input 1) never came out
    plan: 0: !1 !1
    breaks: 0: waits, takes 0 1, out !1
    keeps: 0: waits, takes 0 1, out !1 !1
ELEM-8: the function is called with another object: 'a'
    plan: 0: a; a: 40 gives a1; tracked
    breaks: 0: waits, takes 0, misuse copied the function is called with another object: 'a',
        calls a; 40: #0 gives a1, out a1
    keeps: 0: waits, takes 0, calls a; 40: #0 gives a1, out a1
""")

NEAR_MISSES = near_misses("""
ELEM-1: expected timestamp 5 of Record 'a' @ 5 (input 0), got Record 'a2'
    # The second result has to carry the timestamp like the first result.
    plan: 0: a@5; a: gives a1 a2
    breaks: 0: waits, takes 0, calls a, #0 gives a1 a2, out a1@5 a2
ELEM-5: expected 'a1' of Record 'a' @ 5 (input 0) first, got Record 'a2' @ 5
    also: ELEM-4 RES-1
    plan: 0: a@5; a: gives a1 a2
    breaks: 0: waits, takes 0, calls a, #0 gives a1 a2, out a2@5 a1@5
ELEM-5: expected 'a2' of Record 'a' @ 5 (input 0) next, got Snapshot(checkpoint_id=1, in_flight=(),
        read=None, upstream=None)
    # A result behind the interruption still belongs to its record, and is no repetition.
    also: SNAP-1 SNAP-6
    breaks: 0: waits, takes 0, calls a, #0 gives a1 a2, out a1@5 |1 a2@5
ELEM-4: Record 'a1' @ 5 came out once more than records gave it
    # If all results of a record come out a second time, each result is a repetition.
    breaks: 0: waits, takes 0, calls a, #0 gives a1 a2, out a1@5 a2@5 a1@5
ELEM-5
    # A consumer that has left can't take the second result.
    also: ORD-2
    keeps: 0: waits, takes 0, calls a, #0 gives a1 a2, out a1@5; 40: ends crashed
""")
