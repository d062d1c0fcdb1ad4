"""CAP: witnesses of elements that take room."""

from asyncwait.conformance.evidence import near_misses, witnesses

WITNESSES = witnesses("""
CAP-1: 2 records in flight, capacity 1
    plan: capacity 1; 0: a b; a b: 40 gives *1; sink pause 80
    breaks: 0: takes 0 1, calls a; 40: #0 gives a1, calls b; 80: waits, #1 gives b1, out a1 b1
    keeps: 0: takes 0 1, calls a; 40: #0 gives a1; 80: waits, out a1, calls b;
        120: #1 gives b1, out b1
CAP-2: 2 undecided calls, capacity 1
    plan: capacity 1; restore |1(a+a); a: 40 gives a1
    breaks: 0: waits, calls a a; 40: #0 gives a1, #1 gives a1, out a1 a1
    keeps: 0: waits, calls a; 40: #0 gives a1, out a1, calls a; 80: #1 gives a1, out a1
CAP-3: Record 'c' (input 2) was taken though Record 'b' (input 1) waits for room
    plan: capacity 1; 0: a b c; a b: 40 gives *1; c: gives c1
    breaks: 0: waits, takes 0 1 2, calls a; 40: #0 gives a1, out a1, calls b;
        80: #1 gives b1, out b1, calls c, #2 gives c1, out c1
    keeps: 0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1, takes 2, calls b;
        80: #1 gives b1, out b1, calls c, #2 gives c1, out c1
CAP-4: Record 'b' (input 1) is not called though there is room
    plan: capacity 2; 0: a; 40: b; a: 80 gives a1; b: 40 gives b1
    breaks: 0: waits, takes 0, calls a; 40: takes 1; 80: #0 gives a1, out a1, calls b;
        120: #1 gives b1, out b1
    plan: capacity 1; 0: a; 40: b; a: 80 gives a1; b: 40 gives b1
    keeps: 0: waits, takes 0, calls a; 40: takes 1; 80: #0 gives a1, out a1, calls b;
        120: #1 gives b1, out b1
CAP-5: 3 elements are inside, capacity 1
    plan: capacity 1; 0: a ~1 ~2; a: 40 gives a1
    breaks: 0: waits, takes 0 1 2, calls a; 40: #0 gives a1, out a1 ~1 ~2
    keeps: 0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1 ~1, takes 2, out ~2
CAP-6: 3 markers and snapshots wait, capacity 1
    plan: capacity 1; 0: !1 ^2 !3; sink pause 80
    breaks: 0: takes 0 1 2; 80: waits, out !1 |2 !3
    keeps: 0: takes 0 1; 80: waits, out !1 |2, takes 2, out !3
CAP-7: 65 values and results are kept of a stream of 1
    plan: 0: a; a: 40 gives a1; tracked
    breaks: 0: waits, takes 0, calls a; 40: #0 gives a1, out a1, end, ends finished kept=65
    keeps: 0: waits, takes 0, calls a; 40: #0 gives a1, out a1, end, ends finished kept=64
""")

NEAR_MISSES = near_misses("""
CAP-4
    # The run has no event at 40, so the last moment of rest before 80 is at 0.
    plan: 0: a; 40: b; a: 80 gives a
    keeps: 0: waits, takes 0, calls a; 80: #0 gives a, out a, takes 1, calls b, #1 gives b, out b
CAP-4: the operator has room and does not take the next element of the source
    # At 40 there is room for b, and the source has it.
    also: END-8
    breaks: 0: waits, takes 0, calls a; 40: waits; 400: ends hung
CAP-3
    # While restored records wait for room, one element is read ahead and not two.
    plan: capacity 1; restore |1(a+~0+~0+a); 0: ~1 ~2; a: 80 gives a
    keeps: 0: waits, calls a, takes 0; 40: ends crashed
CAP-3: Watermark(timestamp=2) (input 1) was taken though Record 'a' (restored) waits for room
    breaks: 0: waits, calls a, takes 0 1; 40: ends crashed
CAP-5
    # Restored watermarks are inside from the start: the run does not show whether they take slots.
    escapes: 0: waits, calls a, takes 0; 40: ends crashed
CAP-1
    # A run does not show when a record without results gives its slot back.
    plan: unordered; capacity 1; 0: a b; a: gives; b: 40 gives
    keeps: 0: takes 0 1, calls a, #0 gives, calls b; 40: ends crashed
CAP-6
    # Two elements may be read; the number of requested snapshots has no bound.
    plan: capacity 1; 0: !1 ^2 !3 ^4; sink pause 40, read 2, pause 40
    keeps: 0: takes 0 1, wants 7, wants 8, wants 9; 40: ends crashed
CAP-6
    # Four elements were read before the second pause, and two of the four are out.
    also: ELEM-6 END-2 SNAP-5
    keeps: 0: takes 0 1; 40: waits, out !1 |2, takes 2 3; 80: gives up; 120: ends crashed
CAP-6: 4 markers and snapshots wait, capacity 1
    # A Snapshot is made when its barrier is read, or when it is taken: the run does not show it.
    breaks: 0: takes 0 1 2 3; 40: ends crashed
CAP-3
    # No record waits for room: b was lost, which ORD-5 reports.
    also: ORD-5
    plan: 0: a b c d; a b c d: 40 gives *1
    escapes: 0: waits, takes 0 1 2 3, calls a c d;
        40: #0 gives a1, #1 gives c1, #2 gives d1, out a1 c1 d1, end, ends finished
""")
