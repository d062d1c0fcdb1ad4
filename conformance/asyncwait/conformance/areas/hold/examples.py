"""HOLD: examples of results that wait while calls go on."""

from asyncwait.conformance.evidence import examples

EXAMPLES = examples("""
behind-one-slow-call: HOLD-1, HOLD-2, HOLD-3
    a takes 200 ms; meanwhile three other records are called and held, one after the other.
    capacity 2; max_held 3; 0: a b c d e; a: 200 gives a1; b c d e: 40 gives *1
behind-one-slow-call-until-enough-is-held: HOLD-2, HOLD-3, HOLD-4
    With room for one result, c is the last record that is called before a has come out.
    capacity 2; max_held 1; 0: a b c d e; a: 400 gives a1; b c d e: 40 gives *1
called-for-a-consumer-that-pauses: HOLD-3, HOLD-4
    While the consumer pauses for 800 ms, at most five of twelve records are called.
    capacity 2; max_held 3; 0: 0 1 2 3 4 5 6 7 8 9 10 11;
    plan 0 1 2 3 4 5 6 7 8 9 10 11: 40 gives -*; sink pause 800
held-in-unordered-mode: HOLD-1, HOLD-2, HOLD-3
    A watermark holds the results behind it back until a is out; a snapshot stores all of them.
    unordered; capacity 2; max_held 4; 0: a ~1 b c d; 120: ^1; a: 200 gives a1; b c d: 40 gives *1
watermarks-are-finished-from-birth: HOLD-1
    Two watermarks are held like finished records, and b is called behind them.
    capacity 2; max_held 2; 0: a ~1 ~2 b; a: 120 gives a1; b: 40 gives b1
a-back-off-is-not-finished: HOLD-2
    a fails and backs off; its slot is not free for another call.
    capacity 2; max_held 3; retry initial=200; 0: a b c d e; a: 40 raises, 40 gives a1;
    b c d e: 40 gives *1
a-snapshot-while-results-are-held: SNAP-2, REST-1
    At 120 three records are finished and held; after the crash all four are called anew.
    capacity 2; max_held 3; 0: a b c d; 120: ^1; a: 400 gives a1; b c d: 40 gives *1; crashes 160
restored-with-room-for-results: HOLD-1, HOLD-2
    Of six restored records two are called at once, and further records as calls finish.
    capacity 2; max_held 3; restore |9(a+1+2+3+4+5); a: 200 gives a1; plan 1 2 3 4 5: 40 gives -*
late-and-held: HOLD-3, TIME-3
    While the consumer pauses, a and b are finished by their deadlines, and held.
    capacity 2; max_held 3; timeout 120; handled; 0: a b c d e; a b: never, late gives *?;
    c d e: 40 gives *1; sink pause 400
failing-behind-what-is-held: HOLD-2, FAIL-2
    d is called because b and c are held; d fails, and its failure comes out at once.
    capacity 2; max_held 3; 0: a b c d e; a: never, late none; b c: 40 gives *1; d: 40 raises
""")
