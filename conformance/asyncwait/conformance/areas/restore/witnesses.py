"""REST: runs that break a rule about restoring, and their legal neighbours."""

from asyncwait.conformance.evidence import near_misses, witnesses

WITNESSES = witnesses("""
REST-1: Record 'a' (restored) was called after a new record
    plan: unordered; restore |1(a); 0: b; a b: 40 gives *1
    breaks: 0: waits, takes 0, calls b a, end;
        40: #0 gives b1, #1 gives a1, out b1 a1, ends finished
    # The new record is called in the same instant and comes out first.
    keeps: 0: waits, takes 0, calls a b, end; 40: #0 gives a1, #1 gives b1, out b1 a1, ends finished
REST-3: Watermark(timestamp=9) was not stored: it came out before
    plan: restore |1(~9); 0: ~9
    # The stored watermark and the watermark of the source make two.
    breaks: 0: waits, takes 0, out ~9 ~9 ~9
    keeps: 0: waits, takes 0, out ~9 ~9
REST-4: 3 restored calls, capacity 2
    plan: capacity 2; restore |1(a+a+a); a: 40 gives
    breaks: 0: waits, calls a a a; 40: #0 gives, #1 gives, #2 gives
    # Three calls begin in one instant, but the first is over when the third begins.
    plan: capacity 2; restore |1(a+a+a); a: gives, 40 gives
    keeps: 0: waits, calls a a, #0 gives, calls a; 40: #1 gives, #2 gives
REST-5: Record 'a' has no output in any leg
    # a comes out at 40; then the leg goes on to its crash at 80.
    plan: 0: a ^1; a: 40 gives a1; source_ends_at 120; crashes 80
    # a1 came out behind the snapshot, so it is dropped; and a is not in the snapshot.
    breaks: 0: waits, takes 0 1, calls a, out |1; 40: #0 gives a1, out a1; 80: left, ends crashed;
        then 0: waits; 40: end, ends finished first_index=2 restored=|1
    # The snapshot comes at 40, when a may be in it or not.
    # a1 came out in front of the snapshot, in the same instant.
    plan: 0: a; 40: ^1; a: 40 gives a1; source_ends_at 120; crashes 80
    keeps: 0: waits, takes 0, calls a; 40: #0 gives a1, takes 1, out a1 |1; 80: left, ends crashed;
        then 0: waits; 40: end, ends finished first_index=2 restored=|1
REST-6: Record 'a' has outputs in two legs
    plan: 0: a; 40: ^1; a: 40 gives a1; source_ends_at 120; crashes 80
    # a1 came out in front of the snapshot, and a is in it.
    breaks: 0: waits, takes 0, calls a; 40: #0 gives a1, takes 1, out a1 |1(a);
        80: left, ends crashed; then 0: waits, calls a;
        40: #0 gives a1, out a1, end, ends finished first_index=2 restored=|1(a)
    # a1 came out twice, but the first output came behind the snapshot and is dropped.
    keeps: 0: waits, takes 0, calls a; 40: #0 gives a1, takes 1, out |1(a) a1;
        80: left, ends crashed; then 0: waits, calls a;
        40: #0 gives a1, out a1, end, ends finished first_index=2 restored=|1(a)
REST-7: Record 'a1' came out behind something later
    plan: 0: a b ^1; a b: 120 gives *1; crashes 80
    # The snapshot has lost the order, and the second leg keeps the order of the snapshot.
    breaks: 0: waits, takes 0 1 2, calls a b, out |1(b+a); 80: left, ends crashed;
        then 0: waits, calls b a, end;
        120: #0 gives b1, #1 gives a1, out b1 a1, ends finished first_index=3 restored=|1(b+a)
    # In unordered mode b may come out first.
    plan: unordered; 0: a b ^1; a b: 120 gives *1; crashes 80
    keeps: 0: waits, takes 0 1 2, calls a b, out |1(a+b); 80: left, ends crashed;
        then 0: waits, calls a b, end;
        120: #0 gives a1, #1 gives b1, out b1 a1, ends finished first_index=3 restored=|1(a+b)
""")

NEAR_MISSES = near_misses("""
REST-7
    # Of three equal records the first came out, the second was silent, and the third is restored.
    plan: 0: a a ~9 a ^1; a: gives a1, gives, 120 gives a1; source_ends_at 120; crashes 80
    keeps: 0: waits, takes 0 1 2, calls a a, #0 gives a1, #1 gives, out a1 ~9, takes 3 4, calls a,
        out |1(a); 80: left, #2 cancelled, ends crashed;
        then 0: waits, calls a, #0 gives a1, out a1;
        40: end, ends finished first_index=5 restored=|1(a)
""")
