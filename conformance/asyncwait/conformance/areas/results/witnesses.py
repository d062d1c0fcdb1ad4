"""RES: witnesses of the results of calls."""

from asyncwait.conformance.evidence import near_misses, witnesses

WITNESSES = witnesses("""
RES-1: Record 'a' (input 0): 'x' never came out
    plan: 0: a b; a: 40 gives x x; b: 40 gives
    breaks: 0: waits, takes 0 1, calls a b; 40: #0 gives x x, #1 gives, out x
    keeps: 0: waits, takes 0 1, calls a b; 40: #0 gives x x, #1 gives, out x x
RES-2: Record 'b' (input 1) is held up behind Record 'a' (input 0), which has no results
    plan: 0: a b; a: 80 gives; b: 40 gives b1; source_ends_at 120
    breaks: 0: waits, takes 0 1, calls a b; 40: #1 gives b1; 80: #0 gives; 120: out b1
    keeps: 0: waits, takes 0 1, calls a b; 40: #1 gives b1; 80: #0 gives, out b1;
        120: end, ends finished
RES-3: expected InvalidResult for Record 'a', and the stream just ended
    plan: 0: a b; a b: 40 misreturns none
    breaks: 0: waits, takes 0 1, calls a b; 40: #0 misreturns, #1 misreturns
    keeps: 0: waits, takes 0 1, calls a b;
        40: #0 misreturns, #1 misreturns, ends failed InvalidResult record=b
RES-4: a second completion came out: Record 'again'
    plan: form callback; 0: a; a: 40 gives a1 with twice
    breaks: 0: waits, takes 0, calls a; 40: #0 gives a1, out again
    plan: form callback; 0: a; a: 40 gives again with twice
    keeps: 0: waits, takes 0, calls a; 40: #0 gives again, out again
RES-5: Record 'b' (input 1): its answer from a thread was not noticed
    plan: unordered; form callback; 0: a b; a: 80 gives a1; b: 40 gives b1 with thread
    breaks: 0: waits, takes 0 1, calls a b; 40: #1 gives b1; 80: #0 gives a1, out a1 b1
    plan: form callback; 0: a b; a: 80 gives a1; b: 40 gives b1 with thread
    keeps: 0: waits, takes 0 1, calls a b; 40: #1 gives b1; 80: #0 gives a1, out a1 b1
RES-6: Record 'x' came out of a collection that broke
    plan: unordered; 0: a b; a: 40 misreturns broken; b: 40 gives x
    breaks: 0: waits, takes 0 1, calls a b;
        40: #1 gives x, #0 misreturns, out x x, ends failed CallFailed record=a cause=Planned
    keeps: 0: waits, takes 0 1, calls a b;
        40: #1 gives x, #0 misreturns, out x, ends failed CallFailed record=a cause=Planned
RES-7: the supplier of call 0 was asked on another thread
    plan: form callback; 0: a; a: 40 gives a1 with thread supplied
    breaks: 0: waits, takes 0, calls a;
        40: #0 gives a1, misuse supplier-thread the supplier of call 0, out a1
    keeps: 0: waits, takes 0, calls a; 40: #0 gives a1, out a1
""")

NEAR_MISSES = near_misses("""
RES-2: Record 'b' (input 1) is held up behind Record 'a' (input 0), which has no results
    # The record behind a silent record is not called, though the operator has room.
    also: CAP-4 END-8
    plan: capacity 1; 0: a b; a: 40 gives
    breaks: 0: waits, takes 0 1, calls a; 40: #0 gives; 400: ends hung
RES-3: expected InvalidResult, got CallFailed: the call failed
    also: FAIL-10
    plan: 0: a b; a: misreturns text
    breaks: 0: waits, takes 0 1, calls a, #0 misreturns,
        ends failed CallFailed record=a detail=the_call_failed
RES-3: expected the record Record 'a' in the error, got Record 'b'
    breaks: 0: waits, takes 0 1, calls a, #0 misreturns, ends failed InvalidResult record=b
RES-4: a second completion failed Record 'a' (input 0)
    # The first completion has decided the record, which can't fail any more.
    also: FAIL-10 FAIL-8
    plan: form callback; 0: a a; a: gives a1 with twice, raises
    breaks: 0: waits, takes 0, calls a, #0 gives a1, ends failed CallFailed record=a
RES-4
    # The error names a record, but can't tell which of two equal records it was.
    also: FAIL-10
    keeps: 0: waits, takes 0 1, calls a, #0 gives a1, calls a, #1 raises,
        ends failed CallFailed record=a
RES-6: Record 'x' came out of a collection that broke
    # The first item of a timeout handler's broken collection must not come out either.
    also: ELEM-3 FAIL-10
    plan: timeout 40; handled; 0: a; a: never, late misreturns broken
    breaks: 0: waits, takes 0, calls a;
        40: asks a, #0 cancelled, out x, ends failed CallFailed record=a
""")
