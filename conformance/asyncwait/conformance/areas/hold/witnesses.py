"""HOLD: runs that break a rule about room for finished results, and their legal neighbours."""

from asyncwait.conformance.evidence import near_misses, witnesses

WITNESSES = witnesses("""
HOLD-1: Record 'c' (input 2) is not called, only finished ones are in its way
    plan: capacity 2; max_held 1; 0: a b c d; a: 200 gives a1; b c d: 40 gives *1
    breaks: 0: waits, takes 0 1 2, calls a b; 40: #1 gives b1;
        200: #0 gives a1, out a1 b1, takes 3, calls c d; 240: #2 gives c1, #3 gives d1, out c1 d1
    keeps: 0: waits, takes 0 1 2, calls a b; 40: #1 gives b1, calls c; 80: #2 gives c1, takes 3;
        200: #0 gives a1, out a1 b1 c1, calls d; 240: #3 gives d1, out d1
HOLD-2: 3 undecided calls and 1 finished, capacity 2
    plan: capacity 2; max_held 1; 0: a b c d; a: 200 gives a1; b c d: 40 gives *1
    breaks: 0: waits, takes 0 1 2, calls a b; 40: #1 gives b1, takes 3, calls c d, end;
        60: ends left
    keeps: 0: waits, takes 0 1 2, calls a b; 40: #1 gives b1, takes 3, calls c; 60: ends left
HOLD-3: 2 undecided and 2 finished, capacity 2 and 1 held
    plan: capacity 2; max_held 1; 0: a b c d; a: 200 gives a1; b c d: 40 gives *1
    breaks: 0: waits, takes 0 1 2, calls a b; 40: #1 gives b1, takes 3, calls c;
        80: #2 gives c1, calls d; 100: ends left
    keeps: 0: waits, takes 0 1 2, calls a b; 40: #1 gives b1, takes 3, calls c; 80: #2 gives c1;
        100: ends left
HOLD-4: Record 'd' (input 3) was taken though Record 'c' (input 2) waits for room
    plan: capacity 2; max_held 1; 0: a b c d; a: 200 gives a1; b c d: 40 gives *1
    breaks: 0: waits, takes 0 1 2 3, calls a b; 20: ends left
    keeps: 0: waits, takes 0 1 2, calls a b; 20: ends left
""")

NEAR_MISSES = near_misses("""
HOLD-4
    # One element read ahead waits for room behind the restored records; a second is too much.
    plan: capacity 1; max_held 1; restore |1(a+b); 0: c d; a: never
    escapes: 0: waits, calls a, takes 0; 20: ends left
HOLD-4: Record 'd' (input 1) was taken though Record 'b' (restored) waits for room
    also: CAP-3
    breaks: 0: waits, calls a, takes 0 1; 20: ends left
""")
