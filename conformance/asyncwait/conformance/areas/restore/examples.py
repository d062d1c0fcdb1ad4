"""REST: examples of operators that go on from a snapshot."""

from asyncwait.conformance.evidence import examples

EXAMPLES = examples("""
stored-records-are-called-first: REST-1
    Restored records are called before the elements that the source already has.
    unordered; restore |1(a@5+b@6/k); 0: c a@7; a: 80 gives a1; b: 40 gives b1; c: gives c1
stored-records-come-out-first: REST-1, REST-4
    In ordered mode new results wait behind the restored records, and new calls wait for room.
    capacity 2; restore |1(a+b); 0: c ^2; a: 80 gives a1; b: 120 gives b1; c: gives c1
restored-calls-wait-for-room-without-a-deadline: REST-4
    The second restored record is called at 80, and has until 160.
    capacity 1; timeout 80; handled; restore |1(a+b); a b: never, late gives *-late
stored-watermarks-come-out-again: REST-3, REST-5, REST-6, REST-7
    Watermark 9 was stored and comes again; watermark 1 came out before and does not come again.
    unordered; 0: ~1 a@5 ~9 ~idle; 40: ^1; 80: b@16; a: 160 gives a1; b: 40 gives b1; crashes 120
stored-watermarks-are-fences-again: REST-3
    A new record that is done at once stays behind the restored watermark.
    unordered; restore |1(a@5+~9+~9); 0: b@16; a: 80 gives a1; b: gives b1
restoring-more-than-there-is-room-for: REST-1, REST-4
    Four restored records with room for two are called as room comes, before new records.
    unordered; capacity 2; restore |1(a+b+c+~9+d@16); 0: e; a: 120 gives a1; b c d: 40 gives *1
crash-with-a-full-queue-and-one-waiting: REST-1, REST-4, REST-5, REST-6
    Three records are in flight at a capacity of two, and restored into a capacity of one.
    capacity 2; 0: a b c d; a b: 120 gives *1; c d: 40 gives *1; requests 40 7;
    crashes 80 capacity=1
crash-loses-nothing: REST-5, REST-6, REST-7
    a came out before the snapshot, b came out after it and is dropped, and c came after it.
    capacity 2; 0: a b; 80: ^1; 120: c; a: 40 gives a1; b: 160 gives b1 b2; c: 40 gives c1;
    source_ends_at 240; crashes 200
crash-with-equal-records: REST-5, REST-6
    Of four equal records two are out, one is stored, and one is still in the source.
    0: a a a ^1; 160: a; a: 2 times gives a1, 120 gives a1; crashes 80
crash-after-a-second-snapshot: REST-5, REST-6, REST-7
    a is in the first snapshot and comes out before the second, so a must not come again.
    unordered; 0: a b ^1; 80: ^2; a: 40 gives a1; b: 160 gives b1; crashes 120
crash-without-a-snapshot: REST-5, REST-6
    Without a snapshot the second leg starts from the beginning.
    0: a ~9; 80: b@16; a: 40 gives a1; b: 80 gives b1; crashes 120
crash-in-the-middle-of-a-record: REST-5, REST-6, REST-7
    a1 is out and a2 is not when the barrier is read; the snapshot comes behind a2.
    0: a b; 80: ^1; a: 40 gives a1 a2; b: 40 gives b1; source_ends_at 240; sink read 1, pause 120;
    crashes 200
crash-after-crash: REST-1, REST-5, REST-6, REST-7
    Of three legs the second crashes before it takes a snapshot of its own.
    capacity 2; 0: a ~9 ^1; 120: b@16 ^2 !3; a b: 80 gives *1; crashes 40, 40
crash-and-another-mode: REST-3, REST-5, REST-6
    A snapshot of an ordered operator with room for four restores into an unordered one.
    0: a@5 b@6 ~9 c@16; 40: ^1; a: 160 gives a1; b c: 40 gives *1;
    crashes 80 capacity=2 mode=unordered
crash-while-a-call-cleans-up: REST-5
    The late result of the first leg is dropped; the second leg decides a again.
    timeout 80; handled; 0: a ^1; a: outlives 120 a1, late gives a-late; crashes 40
crash-with-records-that-have-no-results: REST-5, REST-6
    A record without results may be in a snapshot or not, and has no outputs in either case.
    0: a b b; 80: ^1; a: 160 gives a1; b: 40 gives, late none; crashes 120
restored-into-more-room: REST-1, REST-5, REST-7
    Four calls are stored, begin again before two new calls, and are stored once more.
    form callback; 0: a b c d; 40: ^1; 80: e f; 120: ^2; a b c d: 160 gives *1; e f: 40 gives *1;
    crashes 80 capacity=8
restoring-a-full-queue: REST-1, REST-4
    Ten restored records fill all ten slots, and are answered as soon as they are called.
    capacity 10; restore |1(a@0+a@1+a@2+a@3+a@4+a@5+a@6+a@7+a@8+a@9); 0: b; a: gives a1;
    b: 40 gives b1
marker-behind-restored-records-that-lack-room: REST-4, ELEM-6
    A snapshot that is taken at once lets the source read no earlier than the restored records.
    capacity 1; restore |0(a+b); 0: !1; a b: 40 gives *1; requests 0 7; hooks coroutine
""")
