"""ORD: examples of the order of results, and of calls."""

from asyncwait.conformance.evidence import examples

EXAMPLES = examples("""
the-last-finishes-first: ORD-1, ORD-2
    Calls finish in reverse order, the last one at once, and results come in input order.
    0: a b c; a: 120 gives a1; b: 40 gives b1 b2; c: gives c1
equal-records-in-order: ORD-1
    Equal records with equal results change places in the calls and not in the output.
    capacity 3; 0: a@1 a@2 a@2 a@3; a: 120 gives a1, 40 gives a1
all-finish-in-one-instant: ORD-1, ORD-2
    Calls end together in any order of the loop, and results come in input order.
    0: a b; 40: c d; a b: 80 gives *1; c d: 40 gives *1
one-record-and-silence: ORD-2
    A finished record waits for no other element and for no end of the input.
    0: a; a: 40 gives a1; source_ends_at 200
head-before-a-slow-record: ORD-2
    The head comes out as soon as it is finished, though the next record still runs.
    capacity 3; 0: a b c; a: 40 gives a1; b: 160 gives b1; c: 80 gives c1; source_ends_at 240
slow-head-unordered: ORD-3
    Records behind a slow record come out as they finish, each in its own instant.
    unordered; 0: a b c; a: 160 gives a1; b: 80 gives b1; c: 40 gives c1
one-record-and-silence-unordered: ORD-3
    A finished record waits for no other element and for no end of the input.
    unordered; 0: a; a: 40 gives a1 a2; source_ends_at 200
finished-while-nobody-reads: ORD-3
    Results that finished during the consumer's pause come out before the slow record.
    unordered; capacity 3; 0: a b c; a: 240 gives a1; b: 80 gives b1; c: 40 gives c1;
    sink pause 120, read 2, pause 40
calls-begin-in-order: ORD-4, ORD-5
    Calls begin in input order, also where records are admitted one by one as room comes.
    unordered; capacity 2; 0: a b c d e f; a: 80 gives a1; b: 40 gives b1; c d: gives *1;
    e: 80 gives e1; f: 40 gives f1
calls-begin-together: ORD-4
    Records that are admitted in one instant are called in input order too.
    capacity 12; 0: a b c; 40: d b a; 80: c d a; 120: b a c; a b c d: 120 gives *
restored-calls-begin-first: ORD-4, ORD-5
    Restored records are called in their order, and before any record of the source.
    unordered; restore |1(e+d+c+f+c+e+d); 0: a b; c: 80 gives c1; d e: 40 gives *1
equal-records-are-called-each: ORD-5
    The function is called once for each of four equal records, not once for their value.
    capacity 2; 0: a a a; 80: a; a: 40 gives a1
a-record-that-waited-is-called-once: ORD-5, ORD-4
    A record that waited for room while the consumer paused is called once, like all others.
    capacity 1; 0: a b a; a: 40 gives a1; b: gives; sink pause 120, give_up 40
timestamps-fall: ORD-1
    Results come in the order of the input, also where event time goes back.
    0: a@30 b@20 c a@10; a: 80 gives a1; b c: 40 gives *1
eight-records-and-room-for-five: ORD-4, ORD-5 in both modes
    Other threads answer eight records, which exceed the room for five.
    form callback; capacity 5; 0: 0@0 1@1 2@2 3@3 4@4 5@5 6@6 7@7;
    plan 0: 0 gives 0 with thread; plan 1: 120 gives 2 with thread;
    plan 2: 40 gives 4 with thread; plan 3: 160 gives 6 with thread;
    plan 4: 80 gives 8 with thread; plan 5: 0 gives 10 with thread;
    plan 6: 120 gives 12 with thread; plan 7: 40 gives 14 with thread
a-head-lets-go-of-all-behind-it: ORD-1, ORD-2
    b and c are finished, and come out with the head: b, the watermark, then c.
    0: a@1 b@2 ~3 c@4; a: 120 gives a1; b: 40 gives b1; c: 80 gives c1
""")
