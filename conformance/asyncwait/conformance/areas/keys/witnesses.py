"""KEY: runs that break a rule about order by key, and their legal neighbours."""

from asyncwait.conformance.evidence import witnesses

WITNESSES = witnesses("""
KEY-1: Record 'b' (key 'x') (input 1) was called while Record 'a' (key 'x') (input 0) is undecided
    plan: key-ordered; 0: a/x b/x; a b c: 40 gives *1
    breaks: 0: waits, takes 0 1, calls a b; 40: #0 gives a1, out a1/x, #1 gives b1, out b1/x
    keeps: 0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1/x, calls b;
        80: #1 gives b1, out b1/x
KEY-2: results of Record 'a' (key 'x') (input 0) came after those of Record 'b' (key 'x') (input 1)
    plan: key-ordered; 0: a/x b/x; a b c: 40 gives *1
    breaks: 0: waits, takes 0 1, calls a; 40: #0 gives a1, calls b; 80: #1 gives b1, out b1/x a1/x
    keeps: 0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1/x, calls b;
        80: #1 gives b1, out b1/x
KEY-3: Record 'c' (key 'y') (input 1) is decided, but the waiting consumer did not get it
    plan: key-ordered; 0: a/x c/y; a: 80 gives a1; c: 40 gives c1
    breaks: 0: waits, takes 0 1, calls a c; 40: #1 gives c1; 80: #0 gives a1, out a1/x c1/y
    keeps: 0: waits, takes 0 1, calls a c; 40: #1 gives c1, out c1/y; 80: #0 gives a1, out a1/x
KEY-5: Record 'b' (key 'x') (input 1) is not called, though Record 'a' (key 'x') (input 0) is
        decided
    plan: key-ordered; 0: a/x b/x; a b c: 40 gives *1
    breaks: 0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1/x; 60: calls b;
        100: #1 gives b1, out b1/x
    keeps: 0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1/x, calls b;
        80: #1 gives b1, out b1/x
KEY-6: Record 'c' (key 'y') (input 2) is not called, only other keys are busy
    plan: key-ordered; 0: a/x b/x c/y; a b c: 40 gives *1
    breaks: 0: waits, takes 0 1 2, calls a; 40: #0 gives a1, out a1/x, calls b;
        80: #1 gives b1, out b1/x, calls c; 120: #2 gives c1, out c1/y
    keeps: 0: waits, takes 0 1 2, calls a c;
        40: #0 gives a1, out a1/x, #1 gives c1, out c1/y, calls b; 80: #2 gives b1, out b1/x
KEY-7: Record 'c' (key 'y') (input 2) is not called, only Watermark(timestamp=1) (input 1) is before
        it
    plan: key-ordered; 0: a/x ~1 c/y; a b c: 40 gives *1
    breaks: 0: waits, takes 0 1 2, calls a; 40: #0 gives a1, out a1/x ~1, calls c;
        80: #1 gives c1, out c1/y
    keeps: 0: waits, takes 0 1 2, calls a c; 40: #0 gives a1, out a1/x, #1 gives c1, out ~1 c1/y
KEY-8: Record 'b' (key True) (input 1) was called while Record 'a' (key 1) (input 0) is undecided
    plan: key-ordered; 0: a/1 b/true; a b c: 40 gives *1
    breaks: 0: waits, takes 0 1, calls a b; 40: #0 gives a1, out a1/1, #1 gives b1, out b1/true
    keeps: 0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1/1, calls b;
        80: #1 gives b1, out b1/true
KEY-9: 3 records are inside, capacity 1
    plan: key-ordered; capacity 1; 0: a/x b/x d/x e/x; a b c: 40 gives *1
    breaks: 0: waits, takes 0 1 2, calls a; 20: ends left
    keeps: 0: waits, takes 0 1, calls a; 20: ends left
""")
