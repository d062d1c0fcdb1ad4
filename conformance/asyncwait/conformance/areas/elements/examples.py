"""ELEM: examples of outputs, and of the inputs that they belong to."""

from asyncwait.conformance.evidence import examples

EXAMPLES = examples("""
timestamps-of-equal-results: ELEM-1, ELEM-3, ELEM-4
    Three records give equal results in reverse order; each result has its own record's timestamp.
    unordered; 0: a@10 b c@30; a: 120 gives x; b: 80 gives x; c: 40 gives x
no-timestamp-after-one: ELEM-1
    A record without a timestamp does not inherit the timestamp of the record before it.
    0: a@10 b c@0; a b: gives *1 *2; c: gives c1
keys-of-equal-results: ELEM-2
    Three records give equal results in reverse order; each result has its own record's key.
    unordered; 0: a@1/k b@1 c@1/m; a: 120 gives x; b: 80 gives x; c: 40 gives x
a-handlers-results-are-the-records-own: ELEM-1, ELEM-2
    The results of a timeout handler have the timestamp and the key of the late record.
    timeout 80; handled; 0: a@5/k b@6/m; a: never, late gives a-late; b: 40 gives b1
restored-records-keep-timestamp-and-key: ELEM-1, ELEM-2
    A restored record has its timestamp and its key like any other record.
    restore |1(a@5/k+a); 0: a@7/m; a: 40 gives a1
results-and-not-the-input: ELEM-3
    Each call gives another value than its argument, and only that value comes out.
    0: a 1 b; a: 40 gives b; plan 1: gives a; b: 80 gives b1
the-late-result-of-an-equal-record: ELEM-3, ELEM-4
    The first a runs past its deadline; its late result belongs to no record, not even the second a.
    unordered; timeout 80; handled; 0: a; 40: a; 160: b; a: outlives 40 late, late gives a?;
    b: 40 gives b1
equal-records-answered-one-by-one: ELEM-4, ELEM-3
    Equal records stay separate: each gives the results of its own call, once.
    unordered; 0: a a a; a: 80 gives a1, 40 gives a2
wait-given-up-as-the-result-comes: ELEM-4
    The consumer gives up its wait in the instant of a result, and gets the result once.
    0: a a b; a: 40 gives a1; b: 80 gives b1; sink give_up 40, give_up 40
two-records-finish-together: ELEM-5
    Both records give several results in one instant; the results of each stay together.
    unordered; 0: a b; a: 40 gives a1 a2 a3; b: 40 gives b1 b2; sink read 1, pause 80, read 1
nothing-comes-between-results: ELEM-5
    A marker, a barrier and a record arrive while only the first of two results is taken.
    unordered; 0: a b; 80: !1 ^1 c; a: 40 gives a1 a2; b: 80 gives b1; c: gives c1;
    sink read 1, pause 80
marker-overtakes-records: ELEM-6, ELEM-7
    A latency marker passes a pending record and a watermark at once.
    0: a ~5; 40: !1 b; a: 120 gives a1; b: 40 gives b1
marker-and-nothing-else: ELEM-6, ELEM-7
    With nothing in flight, a latency marker waits neither for a further element nor for the end.
    unordered; 40: !1/s; 160: ~idle; source_ends_at 240
equal-markers: ELEM-7, ELEM-6
    Equal latency markers count as two, and the last marker comes out before the end.
    unordered; 0: !1/s !1/s a; 80: !2/s; a: 120 gives a1
values-are-objects: ELEM-8
    Calls, output and snapshot hold the very objects of values and results, and no copies.
    unordered; capacity 2; 0: a b ^1 a; a: 40 gives a1; b: 80 gives b1 b2; tracked
values-in-a-handler-are-objects: ELEM-8
    The handler is called with the very object of the value, too.
    timeout 40; handled; 0: a; a: never, late gives late; tracked
keys-without-a-hash: ELEM-1, SNAP-2
    A key may be a list or a mapping, which has no hash.
    0: a@1/["k"] b@2/{"k":[1]} ^1; a: 80 gives a1; b: 40 gives b1
times-and-keys-at-the-edges: ELEM-1, ELEM-2
    Times of zero and of 63 bits, and keys that look like no key, come out unchanged.
    capacity 8; 0: a@0/"" a@-1/0 a@-9223372036854775808/7 a@9223372036854775807/false; a: 40 gives x
markers-that-nobody-has-taken-at-the-end: ELEM-7, SNAP-1
    The input has ended and no call runs, but markers and a snapshot wait, with times and ids as
    large as real ones, and larger.
    0: !1 ^1796000000000; 40: !9007199254740993; sink pause 120
several-results-each-round-a-watermark: ELEM-5, ELEM-1
    Three records give several results each; the results come in order, and stay together.
    0: a@1 b@2 ~2 c@3; a: 80 gives a1 a2; b: 40 gives b1 b2 b3; c: gives c1 c2
""")
