"""KEY: examples of records that wait for their keys, and of records that do not."""

from asyncwait.conformance.evidence import Example, example, examples

EXAMPLES: tuple[Example, ...] = (
    *examples("""
one-call-after-another: KEY-1, KEY-2, KEY-5
    Three records of one key are called at 0, 120 and 160.
    key-ordered; 0: a/x b/x c/x; a: 120 gives a1; b c: 40 gives *1
a-late-call-of-a-key: KEY-1, KEY-5, TIME-5, TIME-6
    The call of a runs on until 160; b has the key from 120 on and is late at 240; then c has it.
    key-ordered; timeout 120; handled; 0: a/x b/x c/x; a: outlives 40 a1, late gives a-late;
    b: never, late gives b-late; c: 40 gives c1
two-keys: KEY-1, KEY-3, KEY-6
    While b waits for a, which has the same key, d and e are called and come out.
    key-ordered; 0: a/x b/x d/y e/y; a: 200 gives a1; b d e: 40 gives *1
quicker-behind-in-its-key: KEY-1, KEY-2
    b takes less time than a, and still comes behind a when the consumer is back.
    key-ordered; 0: a/x b/x c/x; a: 80 gives a1 a2; b c: gives *1; sink pause 200
called-behind-a-watermark: KEY-1, KEY-7
    b, behind the watermark, is called as soon as a has answered, although d delays the watermark.
    key-ordered; 0: d/y a/x ~1 b/x; a b: 40 gives *1; d: 160 gives d1
finished-and-held-by-a-watermark: KEY-2, KEY-5, KEY-7
    b and c are called and decided one after the other, and wait until d is out.
    key-ordered; capacity 5; 0: d/y ~1 a/x b/x c/x; a b c: 40 gives *1; d: 200 gives d1
freed-by-a-deadline: KEY-1, KEY-5
    b waits for 120 ms until a is late; the call of b takes 80 ms, and is in time.
    key-ordered; timeout 120; handled; 0: a/x b/x; a: never, late gives a?; b: 80 gives b1
late-one-after-the-other: KEY-1
    Each record has its full time: a is late at 80, b at 160, c at 240.
    key-ordered; timeout 80; handled; 0: a/x b/x c/x; a b c: never, late gives *?
late-before-one-that-was-read-earlier: TIME-2
    d is late at 80; b, which was read before it, was called at 40 and is late at 120.
    key-ordered; timeout 80; handled; 0: a/x b/x d/y; a: 40 gives a1; b d: never, late gives *?
freed-by-a-failure-that-is-handled: KEY-1, KEY-5, POLICY-2
    a raises, the failure handler has a result, and b is called.
    key-ordered; failures_handled; 0: a/x b/x; a: 40 raises own, failed gives a?; b: 40 gives b1
failing-behind-its-key: KEY-1, FAIL-2
    b is called when a has answered, and fails the operator; c is never called.
    key-ordered; 0: a/x b/x c/x; a c: 40 gives *1; b: 40 raises
one-key-in-many-forms: KEY-8
    1, 1.0 and True are one key.
    key-ordered; 0: a/1 b/1.0 c/true; a: 80 gives a1; b c: 40 gives *1
without-a-key: KEY-8
    Records without a key have one key together: None.
    key-ordered; 0: a b c; a b c: 40 gives *1
keys-that-are-lists: KEY-6, KEY-8
    Two equal lists are one key, and a record with another list waits for neither.
    key-ordered; 0: a/["x",1] b/["x",1.0] c/{"id":2} d/["x",2]; a: 120 gives a1; b c d: 40 gives *1
keys-that-look-alike: KEY-3
    A text is not the number it looks like, a false value is not None, and a hash is no key.
    key-ordered; capacity 7; 0: 0/"1" 1/1 2/"" 3 4/0 5/-1 6/-2; plan 0: 280 gives 0;
    plan 1: 240 gives -1; plan 2: 200 gives -2; plan 3: 160 gives -3;
    plan 4: 120 gives -4; plan 5: 80 gives -5; plan 6: 40 gives -6
waiting-takes-room: KEY-9
    Two records of one key are inside, and all others wait for room, whatever their keys.
    key-ordered; capacity 2; 0: a/x b/x c/x d/y e/y; a b c: 120 gives *1; d e: 40 gives *1
waiting-takes-room-beside-what-is-held: KEY-9, HOLD-3
    With room for one finished result, three records are inside while the consumer pauses.
    key-ordered; capacity 2; max_held 1; 0: a/x b/x c/x d/y e/y; a b c d e: 40 gives *1;
    sink pause 400
backing-off-with-its-key: KEY-1
    a raises and is called again 120 ms later; b is called only after that call.
    key-ordered; retry initial=120; 0: a/x b/x; a: 40 raises, gives a1; b: 40 gives b1
a-snapshot-of-a-line: REST-1, SNAP-4
    The snapshot holds the running a and the waiting b and c; all are called again, in order.
    key-ordered; 0: a/x b/x d/y c/x; 40: ^1; a b c: 120 gives *1; d: 40 gives d1; crashes 160
not-twice-after-it-was-idle: REST-6
    a is in the first snapshot and not in the second: its key is idle by then.
    key-ordered; 0: a/x ^1; 80: ^2; 120: d/y e/y ^3; a d: 40 gives *1; e: 400 gives e1; crashes 200
restored-into-order-by-key: KEY-1, REST-1, REST-4
    Four restored records go through two slots, and no two records of one key run together.
    key-ordered; capacity 2; restore |9(a/x+b/x+~1+d/y+e/y); a b d e: 40 gives *1
from-key-to-input-order: REST-5, REST-7
    The leg after the crash is ordered: b, which waited for its key, is called at once.
    key-ordered; 0: a/x b/x d/y; 40: ^1; a b: 120 gives *1; d: 200 gives d1; crashes 80 mode=ordered
from-input-to-key-order: KEY-1, REST-5, REST-7
    The first leg calls all records at once; in the second leg b waits for a.
    0: a/x b/x d/y; 40: ^1; a b: 120 gives *1; d: 200 gives d1; crashes 80 mode=key-ordered
one-key-and-a-watermark: KEY-1, KEY-2, WM-1, WM-2
    Records of one key come out in input order, and the watermark in its place among them.
    key-ordered; 0: a/x b/x ~5 c/x; a: 80 gives a1; b c: 40 gives *1
"""),
    *(
        example(
            f"three-keys-and-room-for-{room}: KEY-2, WM-1, WM-2, WM-3",
            "However much room there is, a key keeps its order, and each watermark its place.",
            # Two of the watermarks stand together; b takes longest.
            f"key-ordered; capacity {room}; 0: a/x d/y ~1 b/x f/z e/y ~2 ~3 c/x f/z ~4;"
            "a d f c: 40 gives *1; b e: 120 gives *1",
        )
        for room in range(1, 10)
    ),
    *examples("""
eight-records-of-eight-keys: KEY-3, RES-1
    Eight records have eight keys, with room for six: no record waits for another key.
    key-ordered; capacity 6; 0: 0/k0 1/k1 2/k2 3/k3 4/k4 5/k5 6/k6 7/k7;
    plan 0: 0 gives 0; plan 1: 120 gives 2; plan 2: 40 gives 4; plan 3: 160 gives 6;
    plan 4: 80 gives 8; plan 5: 0 gives 10; plan 6: 120 gives 12; plan 7: 40 gives 14
late-beside-another-key: KEY-3, TIME-1
    a is late at 80, and its handler decides; d, with another key, is out at 40.
    key-ordered; timeout 80; handled; 0: a/x d/y; a: never, late gives a?; d: 40 gives d1
late-beside-another-key-without-a-handler: KEY-3, TIME-4
    d, with another key, is out when the deadline of a fails the operator.
    key-ordered; timeout 80; 0: a/x d/y; a: never, late none; d: 40 gives d1
restored-with-four-keys: REST-1, REST-5, REST-7
    Four keys are stored, called again before new records, and stored once more.
    key-ordered; form callback; capacity 6; 0: a/ka b/kb c/kc d/kd; 40: ^1; 80: e/ka f/kf; 120: ^2;
    a b c d: 160 gives *1; e f: 40 gives *1; crashes 80
a-late-call-that-runs-on-and-its-key: KEY-5, TIME-1
    a is late at 40 and its call runs on until 440; b is called at 40 all the same.
    key-ordered; timeout 40; handled; 0: a/x b/x; a: outlives 400 a1, late gives a?; b: gives b1
a-late-call-that-ends-while-its-key-is-busy: KEY-1, TIME-1
    a is late at 160, and b is called; the end of a's call at 240 is no reason to call c.
    key-ordered; timeout 160; handled; 0: a/x b/x c/x; a: outlives 80 a1, late gives a?;
    b: 120 gives b1; c: 40 gives c1
"""),
)
