"""SNAP: examples of the contents of snapshots, and of their times."""

from asyncwait.conformance.evidence import examples

EXAMPLES = examples("""
snapshot-holds-running-and-finished: SNAP-1, SNAP-2, SNAP-3, SNAP-4, SNAP-5
    At the barrier a runs and b is finished: the snapshot holds both, with keys and timestamps.
    0: a@5/k b@6; 80: ^1 c@7; a: 160 gives a1; b: 40 gives b1; c: gives c1
snapshot-without-what-came-out: SNAP-2, SNAP-3, SNAP-5
    In unordered mode b has come out before the barrier, so only a is stored.
    unordered; 0: a b; 80: ^1; a: 160 gives a1; b: 40 gives b1
snapshot-with-records-that-hundreds-have-overtaken: SNAP-2, SNAP-3
    The first two records are still in flight, and all records that came behind them are out.
    unordered; capacity 3; 0: a a 200*b; 40: ^1; a: 80 gives a1; b: gives b1
snapshot-with-equal-records: SNAP-2, SNAP-3
    Of three equal records one has come out, and the snapshot holds two.
    capacity 3; 0: a; 80: a a ^1; a: 40 gives a1
snapshot-with-watermark-and-status: SNAP-2, SNAP-3, SNAP-4
    The watermark that came out is not stored; elements behind the record are stored in place.
    0: ~1 a@5 ~9 ~idle !3 ^1; a: 80 gives a1
snapshot-in-input-order: SNAP-2, SNAP-4
    Calls finish in reverse while the consumer is away; the snapshot is in input order.
    unordered; 0: a b c; 160: ^1; a: 120 gives a1; b: 80 gives b1; c: 40 gives c1; sink pause 200
snapshot-of-nothing: SNAP-1, SNAP-3
    Barriers are answered when nothing is in flight, too, each with a snapshot of its own.
    0: ^1 ^2 a ^3
snapshots-that-nobody-has-taken-yet: SNAP-1, SNAP-2
    The consumer comes back at 160, and each of the two barriers has a snapshot of its own.
    0: a; 40: ^1; 80: b ^2; a: 200 gives a1; b: 40 gives b1; sink pause 160
snapshot-at-a-full-queue: SNAP-1, SNAP-2, SNAP-5
    No room is left, and the barrier needs no room.
    capacity 2; 0: a b ^1; 40: ^2; a b: 160 gives *1
barrier-behind-a-record-that-waits: SNAP-2, SNAP-5
    The barrier is answered as soon as b is admitted, not when b is done.
    unordered; capacity 1; 0: a b ^1; a: 80 gives a1; b: 160 gives b1
snapshot-while-calls-never-answer: SNAP-2, SNAP-5
    Only their deadline at 400 ends these calls; both snapshots come at 40.
    timeout 400; handled; 0: a b; 40: ^1 ^2; a b: never, late gives *-late
snapshot-behind-the-rest-of-a-record: SNAP-3, SNAP-6
    The barrier is read when one of three results is out: the other two come before the snapshot.
    0: a b; 80: ^1; a: 40 gives a1 a2 a3; b: 160 gives b1; sink read 1, pause 120
snapshot-on-demand-behind-the-rest-of-a-record: SNAP-6, SNAP-8
    A requested snapshot does not come between two results of a record either.
    unordered; 0: a b; a: 40 gives a1 a2 a3; b: 160 gives b1; requests 80 7; sink read 1, pause 120
snapshot-before-what-is-behind-its-barrier: SNAP-7
    When the consumer comes back, c is finished, but comes behind the snapshot of the barrier.
    unordered; 0: a b; 40: ^1 c; a: 200 gives a1; b: 80 gives b1; c: gives c1; sink pause 120
snapshot-before-an-equal-record: SNAP-2, SNAP-3, SNAP-7
    One of two equal records stands before the barrier and one behind it.
    unordered; 0: b a ^1 a; a: 80 gives a1; b: 40 gives b1
snapshot-before-a-watermark-behind-it: SNAP-5, SNAP-7
    A watermark behind a barrier could come out at once, and still stays behind the snapshot.
    0: ^1 ~9; 40: a ^2 ~19; a: 80 gives a1
snapshot-on-demand-when-full: SNAP-2, SNAP-3, SNAP-4, SNAP-8, SNAP-9
    The snapshot also stores the record that waits for room; two elements were read.
    capacity 1; 0: a b c; a: 120 gives a1; b c: 40 gives *1; requests 40 7
snapshot-on-demand-overtakes-results: SNAP-2, SNAP-8
    The requested snapshot is the next output, before results that were ready at the request.
    unordered; 0: a b; a: 40 gives a1; b: 200 gives b1; requests 80 7; sink pause 120
snapshot-on-demand-counts-what-was-read: SNAP-3, SNAP-9
    Watermarks, markers and barriers count as read; the record that came later does not.
    0: ~1 !3 ^1 a@5; 120: b@6; a: 160 gives a1; requests 80 7
snapshot-on-demand-after-restoring: SNAP-2, SNAP-9
    Restored elements do not count as read, but are in flight, whether admitted or not.
    capacity 1; restore |3(a@5+b@6); 0: c; a b: 80 gives *1; requests 40 7, 120 8
snapshot-on-demand-next-to-a-barrier: SNAP-1, SNAP-5, SNAP-8, SNAP-9
    The snapshots of the barrier and of both requests come out, each with its own id.
    0: a; 80: ^1; a: 160 gives a1; requests 40 7, 120 8
snapshot-as-barrier: SNAP-1, SNAP-5, SNAP-10
    An incoming snapshot is a barrier, and the outgoing snapshot carries it as upstream.
    0: a |1(x@5+~9)<|1 b; a: 80 gives a1; b: 40 gives b1
snapshot-of-a-chain-of-four-as-barrier: SNAP-10, SNAP-1
    The incoming snapshot carries three others, each with its own elements, and stays whole.
    0: a |1(z@5+~9)<|1(y@5+~9)<|1(x@5+~9)<|1(w@5+~9); a: 80 gives a1
requests-one-after-the-other: SNAP-8
    Three snapshots are requested while the consumer is away.
    0: a b; a: 200 gives a1; b: 40 gives b1; requests 40 99, 80 98, 120 97; sink pause 160
snapshot-with-fences-among-records: SNAP-2, SNAP-4
    The snapshot holds each fence between the records between which it was read.
    capacity 8; 0: a@5 ~5 b@6 ~idle a@7 ^1; a: 80 gives a1; b: 40 gives b1
snapshot-of-what-is-finished-behind-a-fence: SNAP-2, SNAP-4
    Behind the watermark c finishes before b; the snapshot holds both in input order.
    unordered; 0: a ~1 b c; 80: ^1; a: 160 gives a1; b: 120 gives b1; c: 40 gives c1
snapshot-of-many: SNAP-2, SNAP-4
    The snapshot stores all eighteen records in flight.
    capacity 32;
    0: a@0 a@1 a@2 a@3 a@4 a@5 a@6 a@7 a@8 a@9 a@10 a@11 a@12 a@13 a@14 a@15 a@16 a@17 ^1;
    a: 80 gives a1
snapshot-of-number-zero: SNAP-1, SNAP-2
    Zero and negative numbers are ids of checkpoints like any other number.
    0: a ^0; 40: ^-1; a: 80 gives a1; sink pause 120
barriers-round-a-snapshot-as-barrier: SNAP-10, SNAP-1
    The snapshot of barrier 2 carries the incoming snapshot; the snapshot of barrier 3 does not.
    0: a ^1 |2(x@5) ^3; a: 80 gives a1
""")
