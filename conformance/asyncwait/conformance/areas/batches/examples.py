"""BAT: examples of functions that take several records per call."""

from asyncwait.conformance.evidence import examples

EXAMPLES = (
    *examples("""
two-full-batches: BAT-1, BAT-8, BAT-5
    Four records come at once and go in two full batches, long before `max_wait` is over.
    capacity 8; batch max_size=2 max_wait=400; 0: a@1 b@2 c@3 d@4; a b c d: 80 gives *1;
    source_ends_at 200
a-batch-goes-by-its-size-and-the-next-by-its-time: BAT-4, BAT-1, BAT-2
    The batch of a and b is full at 40; c comes at 80 and goes alone at 200, not at 120.
    batch max_size=2 max_wait=120; 0: a; 40: b; 80: c; a b c: 40 gives *1; source_ends_at 400
one-record-does-not-wait-for-ever: BAT-2, BAT-4
    No record joins a, which goes after 80 ms; b comes at 120 and waits as long.
    batch max_size=4 max_wait=80; 0: a; 120: b; a b: 40 gives *1; source_ends_at 400
the-time-of-a-batch-is-that-of-its-first-record: BAT-2, BAT-4, BAT-7
    b joins a at 40, their batch goes 80 ms after a came, and c comes later.
    batch max_size=4 max_wait=80; 0: a; 40: b; 120: c; a b c: 40 gives *1; source_ends_at 400
one-that-may-join-comes-too-late: BAT-2
    c gathers from 40 on; a backs off until 440 and could join c, but c goes at 120.
    unordered; capacity 2; retry initial=400; batch max_size=2 max_wait=80; 0: a b c;
    a: 40 raises own, 40 gives a1; b c: 40 gives *1
the-end-of-input-lets-a-batch-go: BAT-3
    The input ends behind three records, and their batch goes although it could hold four.
    batch max_size=4 max_wait=4000; 0: a b c; a b c: 40 gives *1
a-late-end-of-input-lets-a-batch-go: BAT-3
    The end of input is known at 80, and the batch goes then.
    batch max_size=4 max_wait=4000; 0: a b; a b: 40 gives *1; source_ends_at 80
all-that-is-there-is-behind-a-key: BAT-3, BAT-15
    a and c gather, b waits for the key of a, and no room is left: the batch of a and c goes.
    key-ordered; capacity 3; batch max_size=3 max_wait=4000;
    0: a/x b/x c/y d/z e/w; a b c d e: 40 gives *1; source_ends_at 400
all-that-is-there-waits-for-its-turn: BAT-3
    a is to be called again, b is decided and waits behind a, and no room is left: a goes alone.
    capacity 2; retry initial=40; batch max_size=2 max_wait=4000; 0: a b c;
    a: 40 raises own, 40 gives a1; b c: 40 gives *1
what-comes-back-behind-the-end-goes-together: BAT-4, BAT-3
    a is back at 80 and waits for e, which backs off; both go at 120 in a batch that is not full.
    capacity 8; retry initial=40; batch max_size=4 max_wait=4000; 0: a b c d; 40: e f g h;
    a: 40 raises own, 40 gives a1; e: 40 raises own, 40 gives e1; b c d f g h: 40 gives *1
nobody-comes-back-behind-the-end: BAT-3, BAT-4
    a is back at 80, and c or d may join a until the batch of c and d has answered at 160.
    capacity 8; retry initial=40; batch max_size=2 max_wait=4000; 0: a b c d;
    a: 40 raises own, 40 gives a1; b: 40 gives b1; c d: 160 gives *1
one-that-backs-off-is-late: BAT-3, TIME-2
    a is back at 120 and waits for c, whose deadline at 160 ends its back-off.
    capacity 8; timeout 160; handled; retry initial=80; batch max_size=2 max_wait=4000;
    0: c d; 40: a b; c: 120 raises own, late gives c?; d: 120 gives d1; a: raises own, gives a1;
    b: gives b1
a-last-attempt-comes-back-no-more: BAT-3
    The last attempts of a and b run until 480; c is back at 200 and does not wait for them.
    capacity 8; retry max_attempts=2; batch max_size=2 max_wait=4000; 0: a b c d;
    a b: 40 raises own, 360 gives *1; c: 160 raises own, 40 gives c1; d: 160 gives d1
a-key-that-is-freed-behind-the-end: BAT-4, KEY-5
    From 40 on e gathers while d waits for the key of a; at 80 d and e go together.
    key-ordered; capacity 8; batch max_size=3 max_wait=4000; 0: a/x b/y c/z d/x; 40: e/w;
    a b c: 80 gives *1; d e: 40 gives *1
one-backs-off-without-room: BAT-4
    b gathers, and no room is left for c; a comes back at 80 and goes with b.
    unordered; capacity 2; retry initial=80; batch max_size=2 max_wait=4000; 0: a x; 40: b c;
    a: raises own, 40 gives a1; x: gives x1; b c: 40 gives *1; source_ends_at 400
those-behind-one-that-is-late-wait-on: BAT-4, BAT-2, TIME-2
    a gathers again from 200 and is late at 320; b gathers from 280 and goes at 440.
    capacity 8; timeout 160; handled; retry initial=40; batch max_size=4 max_wait=160; 0: a; 280: b;
    a: raises own, late gives a?; b: gives b1; source_ends_at 800
a-record-is-late-while-it-gathers: BAT-1, TIME-2
    The second call of a waits for a running batch; a is late at 120, x and y go together at 320.
    unordered; capacity 8; timeout 120; handled; retry initial=80;
    batch max_size=2 max_wait=240 in_flight=1; 0: a d; 40: b c; 160: x; 320: y;
    a: raises own, 40 gives a1, late gives a?; d: gives d1; b c: never, late gives *?;
    x y: 40 gives *1; source_ends_at 600
places-are-taken: BAT-6, BAT-7, BAT-1
    One batch runs at a time; the records that gather meanwhile go together when it ends.
    capacity 8; batch max_size=3 max_wait=40 in_flight=1; 0: a; 80: b; 120: c d; a: 120 gives a1;
    b c d: 40 gives *1; source_ends_at 400
a-full-batch-waits-for-a-place: BAT-6, BAT-1
    Two batches run; the third batch is full, and goes when the first has ended.
    capacity 8; batch max_size=2 max_wait=400; 0: a b c d e f; a b: 80 gives *1; c d: 120 gives *1;
    e f: 40 gives *1; source_ends_at 400
more-than-a-batch-gathers: BAT-5, BAT-6, BAT-7
    One batch runs while three records gather; two of the three go next.
    capacity 8; batch max_size=2 max_wait=40 in_flight=1; 0: a b c d e; a b: 80 gives *1;
    c d e: 40 gives *1; source_ends_at 400
answers-in-a-mapping: BAT-8
    The function returns a mapping from values to results.
    unordered; batch max_size=3 answers=mapping; 0: a@1 b@2 c@3; a b c: 40 gives *1
answers-of-several-results: BAT-8
    Each record has as many results as its own call would give, and b has none.
    batch max_size=3; 0: a@1 b@2 c@3; a: 40 gives a1 a2; b: 40 gives; c: 40 gives c1
an-exception-among-answers: BAT-9
    Only b fails, and the failure handler has results for b.
    failures_handled; batch max_size=3; 0: a b c; a c: 40 gives *1; b: 40 raises, failed gives b!
an-exception-among-answers-fails-the-operator: BAT-9, FAIL-1
    No failure handler has results for b: the error of the operator names b.
    batch max_size=3; 0: a b c; a c: 40 gives *1; b: 40 raises
an-exception-among-answers-is-repeated-alone: BAT-9, RETRY-1
    The next call has b alone.
    retry; batch max_size=3; 0: a b c; a c: 40 gives *1; b: 40 raises, 40 gives b1
a-batch-that-raises: BAT-10
    The call of the batch raises, and its error is the error of all three records.
    failures_handled; batch max_size=3; 0: a b c; a c: 40 gives *1, failed gives *!;
    b: 40 raises with whole, failed gives b!
a-batch-that-raises-at-once: BAT-10, FAIL-1
    The call of the batch raises before its first await.
    batch max_size=2; 0: a b; a: raises with whole; b: gives b1
a-batch-that-raises-is-called-again: BAT-10, RETRY-1
    All three records have another attempt, together.
    retry; batch max_size=3; 0: a b c; a: 40 raises with whole, 40 gives a1; b c: 40 gives *1
a-batch-that-breaks-while-it-is-read: BAT-10
    The answers raise when the operator reads them, which is an error of both records.
    failures_handled; batch max_size=2; 0: a b; a: 40 misreturns broken with whole, failed gives a!;
    b: 40 gives b1, failed gives b!
one-answer-too-few: BAT-11
    The batch returns one answer for two records, and the operator can't tell whose answer it is.
    failures_handled; batch max_size=2; 0: a b; a: 40 gives a1, failed gives a!;
    b: 40 gives with whole, failed gives b!
a-mapping-without-a-value: BAT-11, BAT-8
    The mapping has no entry for b, and a has its answer.
    failures_handled; batch max_size=2 answers=mapping; 0: a b; a: 40 gives a1;
    b: 40 gives with whole, failed gives b!
a-mapping-without-a-value-fails-the-operator: BAT-11, RES-3
    The error names b, for which the mapping has no entry.
    batch max_size=2 answers=mapping; 0: a b; a: 40 gives a1; b: 40 gives with whole
what-is-no-collection-of-answers: BAT-11, RES-3
    The batch returns None, which is no answer for a or b.
    batch max_size=2; 0: a b; a: 40 misreturns none with whole; b: 40 gives b1
a-record-leaves-its-batch: BAT-12
    a was called before, and its time is over at 160; the batch runs on for b.
    timeout 120; handled; retry initial=40; batch max_size=2 max_wait=40;
    0: a; 80: b; a: raises own, 80 gives a1, late gives a?; b: 120 gives b1, late gives b?;
    source_ends_at 200
the-first-of-a-batch-leaves-it: BAT-8, BAT-12
    The time of a, the first of its batch, is over at 240; b and c keep their own answers.
    capacity 8; timeout 240; handled; retry initial=40; batch max_size=3 max_wait=80;
    0: a@1; 200: b@2 c@3; a: 40 raises own, 160 gives a1, late gives a?; b: 160 gives b1;
    c: 160 gives c1; source_ends_at 400
equal-values-of-other-types: BAT-8
    The values 1, 1.0 and true are equal but distinct, and so are two records with the value a.
    capacity 8; batch max_size=5; 0: 1@1 1.0@2 true@3 a@4 a@5; plan 1: 40 gives int;
    plan 1.0: 40 gives float; plan true: 40 gives true; a: 40 gives a1, 40 gives a2
a-record-leaves-a-batch-that-it-has-joined-late: BAT-12
    a fails at 40 and is called again with e at 120; a is late at 160, and e is not.
    capacity 8; timeout 160; handled; retry initial=40; batch max_size=2 max_wait=4000 in_flight=1;
    0: a b c d e; a: 40 raises own, 80 gives a1, late gives a?; b: 40 gives b1; c d: 80 gives *1;
    e: 80 gives e1, late gives e?
all-leave-their-batch: BAT-13
    Both records are late at 80, and no record waits for the call any more.
    timeout 80; handled; batch max_size=2; 0: a b; a b: never, late gives *?; source_ends_at 200
all-leave-their-batch-at-the-limit: BAT-13, RETRY-12
    The limit of an attempt applies to the whole batch, which then has a second attempt.
    retry attempt_timeout=80; batch max_size=2; 0: a b; a: 120 gives a1, 40 gives a2; b: 40 gives b1
found-by-halves: BAT-14, BAT-10
    d makes the batch of four raise, then the batch of two, and is alone in its third call.
    capacity 8; retry max_attempts=4 initial=40 multiplier=1; failures_handled;
    batch max_size=4 split; 0: a b c d; a b c: 40 gives *1; d: 40 raises with whole, failed gives d!
alone-for-the-last-attempt: BAT-14
    Two attempts are allowed, and in the second each of the four records is alone.
    capacity 8; retry max_attempts=2; failures_handled; batch max_size=4 split in_flight=4;
    0: a b c d; a b c: 40 gives *1; d: 40 raises with whole, failed gives d!
found-by-halves-where-it-hangs: BAT-14, RETRY-12
    d makes the batch of four hang until its limit at 80, then the batch of two; then d is alone.
    capacity 8; retry max_attempts=4 multiplier=1 attempt_timeout=80; failures_handled;
    batch max_size=4 split; 0: a b c d; a b c: 40 gives *1; d: never, failed gives d!
split-where-it-swallows-its-limit: BAT-14, RETRY-12
    From 80 on a and b are called alone; the error that the call raises at 120 does not count.
    capacity 8; retry attempt_timeout=80; batch max_size=2 split; 0: a b;
    a: 120 raises with whole swallow clean_up=40, 40 gives a1; b: 40 gives b1; source_ends_at 400
alone-after-an-error-of-its-own: BAT-14, BAT-9
    The second call of a is its last, so a does not share it with c, which would make it fail.
    capacity 8; retry max_attempts=2; failures_handled; batch max_size=2 split; 0: a b; 80: c;
    a: 40 raises own, 40 gives a1; b: 40 gives b1; c: 40 raises with whole, 40 gives c1
half-of-them-go-at-once: BAT-1, BAT-14
    The batch of four fails; at 80 two of its records are a full batch and go at once.
    capacity 8; retry initial=40; batch max_size=4 max_wait=4000 split; 0: a b c d;
    a: 40 raises with whole, 40 gives a1; b c d: 40 gives *1; source_ends_at 400
keys-in-batches: BAT-15
    b has the same key as a, and gathers when a is decided.
    key-ordered; batch max_size=2 max_wait=40; 0: a/x b/x c/y; a b c: 40 gives *1
batches-are-counted: BAT-16
    Two batches of three records are called, the second at 40.
    batch max_size=2 max_wait=40; 0: a b c; a b c: 80 gives *1; figures_at 0 20 60 100;
    source_ends_at 200
a-snapshot-of-batches: SNAP-2, BAT-2
    The snapshot at 40 holds a and b, which run, and c, which gathers; all three begin anew.
    batch max_size=2 max_wait=400; 0: a b c; 40: ^1; a b c: 120 gives *1; crashes 80;
    source_ends_at 400
leaving-while-a-batch-runs: END-3, BAT-1
    The consumer leaves at 40: the batch is cancelled, and cleans up.
    batch max_size=2; 0: a b c; a b c: 120 gives *1 with clean_up=40; cancel_at 40
"""),
)
