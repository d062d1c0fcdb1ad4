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
KEY-4: Record 'b' (key 'x') (input 1) was called before Record 'a' (key 'x') (input 0)
    plan: key-ordered; 0: a/x b/x; a b c: 40 gives *1
    breaks: 0: waits, takes 0 1, calls b; 40: #0 gives b1, out b1/x, calls a;
        80: #1 gives a1, out a1/x
    keeps: 0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1/x, calls b;
        80: #1 gives b1, out b1/x
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
KEY-10: Record 'b' (key 'x') (input 1) timed out before its time since its call
    plan: key-ordered; timeout 80; handled; 0: a/x b/x; a: never, late gives a?; b: 40 gives b1
    breaks: 0: waits, takes 0 1, calls a; 80: #0 cancelled, asks a, out a?/x, calls b;
        100: asks b, #1 cancelled
    keeps: 0: waits, takes 0 1, calls a; 80: #0 cancelled, asks a, out a?/x, calls b;
        120: #1 gives b1, out b1/x
KEY-11: Record 'b' (key 'x') (input 1) was called while Record 'a' (key 'x') (input 0) backs off
    plan: key-ordered; retry; 0: a/x b/x; a: raises, gives a1; b: 40 gives b1
    breaks: 0: waits, takes 0 1, calls a, #0 raises, calls b;
        40: calls a, #2 gives a1, out a1/x, #1 gives b1, out b1/x
    keeps: 0: waits, takes 0 1, calls a, #0 raises; 40: calls a, #1 gives a1, out a1/x, calls b;
        80: #2 gives b1, out b1/x
KEY-12: Record 'b' (key 'x') waits for its key and is not in the snapshot
    plan: key-ordered; 0: a/x b/x ^1; a b c: 40 gives *1
    breaks: 0: waits, takes 0 1 2, calls a, out |1(a/x); 40: #0 gives a1, out a1/x, calls b;
        80: #1 gives b1, out b1/x
    keeps: 0: waits, takes 0 1 2, calls a, out |1(a/x+b/x); 40: #0 gives a1, out a1/x, calls b;
        80: #1 gives b1, out b1/x
KEY-13: 70 keys are kept of a stream of 2
    plan: key-ordered; 0: a/x b/x; a b c: 40 gives *1; tracked
    breaks: 0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1/x, calls b;
        80: #1 gives b1, out b1/x, end, ends finished kept_keys=70
    keeps: 0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1/x, calls b;
        80: #1 gives b1, out b1/x, end, ends finished kept_keys=2
""")
