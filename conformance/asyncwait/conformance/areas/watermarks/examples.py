"""WM: examples of watermarks and statuses."""

from asyncwait.conformance.evidence import examples

EXAMPLES = examples("""
slow-record-before-a-watermark: WM-1, WM-2
    The record behind the watermark is finished first, and both wait for the record before it.
    unordered; 0: a@5 ~10 b@15; a: 120 gives a1; b: 40 gives b1
watermarks-in-ordered-mode: WM-1, WM-2, WM-3
    In ordered mode, too, a watermark stays between the records between which it came.
    0: a@5 ~10 b@15 ~20; a: 80 gives a1 a2; b: 40 gives b1
empty-segments: WM-1, WM-2, WM-3
    A later segment that is finished, or empty, does not come out before an older one.
    unordered; capacity 8; 0: a ~1 b ~2 ~3 c; a: 120 gives a1; b: 40 gives b1; c: gives c1
a-silent-record-before-a-watermark: WM-1
    A watermark also waits for a record that has no results in the end.
    unordered; 0: a b ~10; a: 120 gives; b: 40 gives b1
a-watermark-waits-for-the-last-result: WM-1
    The watermark comes behind all results of the record before it, even to a slow consumer.
    unordered; 0: a ~10 b; a: 40 gives a1 a2 a3; b: gives b1; sink read 1, pause 80, read 1
equal-records-on-both-sides: WM-1, WM-2
    Equal records stand on both sides of a watermark; one result comes before it, one behind.
    unordered; 0: a@5 ~10 a@5; a: 80 gives a1
restored-watermarks-still-divide: WM-1, WM-2, WM-3
    A restored watermark divides the records round it like any other watermark.
    unordered; capacity 8; restore |1(a+~10+b+~10); 0: c ~20; a: 80 gives a1; b: 40 gives b1;
    c: gives c1
watermarks-come-as-they-are: WM-3
    Equal and falling watermarks come out: the operator drops, merges and changes no watermark.
    unordered; capacity 8; 0: ~5 ~5 a ~3 ~3 ~7; a: 40 gives a1
watermarks-pile-up-behind-a-pause: WM-3
    The consumer comes back late, and gets every watermark that came meanwhile.
    capacity 2; 0: a; 40: ~1 ~2 ~3; a: gives a1; sink pause 120, read 1, give_up 40
watermark-and-nothing-else: WM-4
    With nothing before it, a watermark comes out at once, though no other element follows.
    40: ~10; source_ends_at 200
watermark-behind-the-last-of-its-segment: WM-4
    A watermark comes with the last result before it, and waits for no call behind it.
    unordered; 0: a b ~10 c; a: 80 gives a1; b: 40 gives b1; c: 200 gives c1; source_ends_at 280
watermark-behind-a-silent-record: WM-4
    When the record before it turns out to have no results, the watermark comes at once.
    0: a ~10 b; a: 80 gives; b: 200 gives b1
slow-record-before-a-status: WM-5, WM-6
    A status keeps its place like a watermark: the finished record behind it waits, too.
    unordered; 0: a ~idle b; a: 120 gives a1; b: 40 gives b1
status-behind-a-watermark: WM-5, WM-6, WM-3
    The stream falls idle while a watermark waits; the watermark still comes before the status.
    capacity 8; 0: a ~10 ~idle; 40: ~active ~20 b; a: 80 gives a1; b: gives b1
statuses-while-nobody-reads: WM-5, WM-6
    Watermarks and statuses that came during a pause come out in the order of the input.
    unordered; 0: ~1 ~idle ~active ~1; sink pause 80
equal-statuses: WM-6
    Each of several equal statuses in a row comes out.
    unordered; capacity 8; 0: ~idle ~idle a ~active ~active; a: 40 gives a1
status-and-nothing-else: WM-7
    With nothing before it, a status comes out at once, though no other element follows.
    unordered; 40: ~idle; source_ends_at 200
status-behind-the-last-of-its-segment: WM-7, WM-5
    A status comes with the last result before it, and waits for no call behind it.
    0: a ~active !1 b; a: 80 gives a1; b: 200 gives b1
many-segments-behind-a-slow-record: WM-1, WM-2, WM-3
    Nine segments stand behind a slow record, and each holds a record that is done or not.
    unordered; capacity 20; 0: a ~0 b@1 ~1 c@2 ~2 b@3 ~3 c@4 ~4 b@5 ~5 c@6 ~6 b@7 ~7 c@8 ~8 b@9;
    a: 120 gives a1; b: 40 gives b1; c: 200 gives c1
statuses-behind-a-slow-record: WM-6
    While its last record runs, the stream falls idle, then wakes, and says so twice.
    0: a ~idle ~active ~active; a: 80 gives a1
records-that-are-late-by-their-watermark: WM-1, END-1
    Records at or below the last watermark are called, and come out behind it like other records.
    unordered; 0: ~10 a@10 b@5 ~20; a: 80 gives a1; b: 40 gives b1
watermark-behind-two-and-room-for-two: WM-1, WM-2, WM-3 in both modes
    The operator has room for two records; a watermark waits behind them, and c behind it.
    capacity 2; 0: a@1 b@2 ~2 c@3; a: 80 gives a1; b: 40 gives b1; c: gives c1
two-watermarks-and-nothing-else: WM-3, WM-4 in both modes
    Two watermarks in a row come out at once, in their order.
    0: ~1 ~2; source_ends_at 120
watermark-and-statuses-behind-a-record: WM-3, WM-5, WM-6, CAP-5 in both modes
    A record, a watermark and two statuses fill four slots, and come out in this order.
    0: a ~1 ~idle ~active b; a: 80 gives a1; b: 40 gives b1
three-segments-finished-crosswise: WM-1, WM-2, ORD-3
    Six records in three segments finish from the last one on; a seventh waits for room.
    unordered; capacity 8; 0: a b ~1 c d ~2 e f g; f: 40 gives f1; c: 80 gives c1; b: 120 gives b1;
    a: 160 gives a1; d: 200 gives d1; e: 240 gives e1
watermarks-at-the-ends-of-time: WM-3, WM-1, ELEM-1 in both modes
    The least and the greatest of 64 bits, their neighbours, and two equal floats are watermarks.
    0: ~-9223372036854775808 a@-9223372036854775808 ~-9223372036854775807 ~9007199254740992
    b@9007199254740993 ~9007199254740993 ~9223372036854775806 c@9223372036854775807
    ~9223372036854775807;
    a: 80 gives a1; b: 40 gives b1; c: 120 gives c1
""")
