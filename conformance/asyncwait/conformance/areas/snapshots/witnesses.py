"""SNAP: runs that break a rule about snapshots, and their legal neighbours."""

from asyncwait.conformance.evidence import near_misses, witnesses

WITNESSES = witnesses("""
SNAP-1: snapshot 1 came out twice
    plan: 0: a ^1; a: 40 gives a1
    breaks: 0: waits, takes 0 1, calls a, out |1(a) |1(a), end;
        40: #0 gives a1, out a1, ends finished
    keeps: 0: waits, takes 0 1, calls a, out |1(a), end; 40: #0 gives a1, out a1, ends finished
SNAP-2: Record 'a' is in flight and not in the snapshot
    plan: 0: a a ^1; a: 40 gives a1
    # Two equal records count as two.
    breaks: 0: waits, takes 0 1 2, calls a a, out |1(a), end;
        40: #0 gives a1, #1 gives a1, out a1 a1, ends finished
    # The first record came out before the snapshot, in the same instant.
    plan: unordered; 0: a a ^1; a: gives a1, 40 gives a1
    keeps: 0: waits, takes 0 1 2, calls a a, #0 gives a1, out a1 |1(a), end;
        40: #1 gives a1, out a1, ends finished
SNAP-3: Record 'a' is in the snapshot and should not be
    plan: unordered; 0: a a ^1; a: gives a1, 40 gives a1
    # The results of a have just been taken.
    breaks: 0: waits, takes 0 1 2, calls a a, #0 gives a1, out a1 |1(a+a), end;
        40: #1 gives a1, out a1, ends finished
    # Nothing came out for a, which has no results: it may be stored, or not.
    plan: unordered; 0: a ^1 b; a: gives; b: 40 gives b1
    keeps: 0: waits, takes 0, calls a, #0 gives, takes 1, out |1(a), takes 2, calls b, end;
        40: #1 gives b1, out b1, ends finished
SNAP-4: stored in the order Record 'b', Record 'a'
    plan: unordered; 0: a b ^1; a b: 40 gives *1
    breaks: 0: waits, takes 0 1 2, calls a b, out |1(b+a), end;
        40: #1 gives b1, #0 gives a1, out b1 a1, ends finished
    # The outputs are in another order than the input; the snapshot is not.
    keeps: 0: waits, takes 0 1 2, calls a b, out |1(a+b), end;
        40: #1 gives b1, #0 gives a1, out b1 a1, ends finished
SNAP-5: Barrier(checkpoint_id=1) (input 1) was read, but the waiting consumer got no snapshot
    plan: 0: a ^1; a: 40 gives a1
    # The operator drains first.
    breaks: 0: waits, takes 0 1, calls a, end; 40: #0 gives a1, out a1 |1, ends finished
    # The barrier is behind b, which waits for room until 40, and is not read before.
    plan: capacity 1; 0: a b ^1; a b: 40 gives *1
    keeps: 0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1, calls b, takes 2, out |1(b), end;
        80: #1 gives b1, out b1, ends finished
SNAP-6: Snapshot(checkpoint_id=1, in_flight=(), read=None, upstream=None) came between two results
        of one record
    # The consumer takes the first of two results and is away while the barrier is read.
    plan: 0: a; 80: ^1; a: 40 gives a1 a2; sink read 1, pause 80
    breaks: 0: waits, takes 0, calls a; 40: #0 gives a1 a2, gets a1; 80: takes 1, end;
        120: waits, out |1 a2, ends finished
    keeps: 0: waits, takes 0, calls a; 40: #0 gives a1 a2, gets a1; 80: takes 1, end;
        120: waits, out a2 |1, ends finished
SNAP-7: Record 'a' (input 2) came out before snapshot 1
    plan: unordered; 0: a ^1 a; a: 40 gives a1, gives a1
    # Of two equal records, the second, behind the barrier, is done at once, and the first later.
    breaks: 0: waits, takes 0 1 2, calls a a, #1 gives a1, out a1 |1(a), end;
        40: #0 gives a1, out a1, ends finished
    keeps: 0: waits, takes 0 1 2, calls a a, #1 gives a1, out |1(a) a1, end;
        40: #0 gives a1, out a1, ends finished
SNAP-8: Record 'a1' came before snapshot 7
    # a1 is there at 40, the request comes at 80, the consumer at 120.
    plan: 0: a; a: 40 gives a1; requests 80 7; sink pause 120
    breaks: 0: takes 0, calls a, end; 40: #0 gives a1; 80: wants 7;
        120: waits, out a1 |7=1, ends finished
    # The consumer comes back in the very instant of the request: a1 was on its way.
    plan: 0: a; a: 40 gives a1; source_ends_at 120; requests 80 7; sink pause 80
    keeps: 0: takes 0, calls a; 40: #0 gives a1; 80: wants 7, waits, out a1 |7=1;
        120: end, ends finished
SNAP-9: expected read between 1 and 2, got 0
    # The second element comes in the very instant of the request.
    plan: 0: ~9; 40: a; a: 40 gives a1; requests 40 7
    # The watermark was read long before the request.
    breaks: 0: waits, takes 0, out ~9; 40: takes 1, calls a, wants 7, out |7=0, end;
        80: #0 gives a1, out a1, ends finished
    # The record came in the very instant of the request, and need not count as read.
    keeps: 0: waits, takes 0, out ~9; 40: takes 1, calls a, wants 7, out |7=1, end;
        80: #0 gives a1, out a1, ends finished
SNAP-10: expected upstream Snapshot(checkpoint_id=1, in_flight=(Record(value='x', timestamp=None,
        key=None),), read=None, upstream=None), got Snapshot(checkpoint_id=1, in_flight=(),
        read=None, upstream=None)
    plan: 0: a |1(x); a: 40 gives a1
    breaks: 0: waits, takes 0 1, calls a, out |1(a)<|1, end; 40: #0 gives a1, out a1, ends finished
    keeps: 0: waits, takes 0 1, calls a, out |1(a)<|1(x), end;
        40: #0 gives a1, out a1, ends finished
""")

NEAR_MISSES = near_misses("""
SNAP-8
    # A marker and a snapshot overtake what is queued, and a marker is in no snapshot.
    plan: 0: a; 40: !3; a: 200 gives a1; requests 80 7; sink pause 120
    keeps: 0: takes 0, calls a; 40: takes 1, end; 80: wants 7; 120: waits, out !3 |7(a)=2;
        200: #0 gives a1, out a1, ends finished
""")
