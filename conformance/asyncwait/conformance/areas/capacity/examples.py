"""CAP: examples of elements that take room."""

from asyncwait.conformance.evidence import Example, example, examples
from asyncwait.spec import Record
from asyncwait.spec.scenario import Timed

EXAMPLES: tuple[Example, ...] = (
    *examples("""
finished-behind-a-slow-head: CAP-1
    The record behind the head is finished and waits, and still takes its slot.
    capacity 2; 0: a b c d; a: 160 gives a1; b c: 40 gives *1
finished-and-not-read: CAP-1, CAP-3
    All calls are finished, and their records take slots until the consumer reads them.
    unordered; capacity 2; 0: a b c d e; a b: 40 gives *1; sink pause 160, read 1, pause 80
half-read: CAP-1
    A record takes its slot until the consumer has taken its last result.
    capacity 1; 0: a b; a: 40 gives a1 a2; b: 40 gives b1; sink read 1, pause 120
half-read-before-a-silent-record: CAP-1
    The silent record a keeps its slot until b is out: a third decision at 80 makes no room either.
    capacity 3; 0: b a c c; b: 40 gives b1 b2; a: gives; c: 80 gives c1; sink read 1, pause 160
a-second-completion-frees-nothing: CAP-1
    A call that completes twice gives its slot back once.
    form callback; capacity 2; 0: a@0 a@1 a@2 a@3 a@4 a@5; a: 40 gives a1 with twice
more-records-than-capacity: CAP-1, CAP-2
    Of five records at once two are called, then one more for each record that comes out.
    unordered; capacity 2; 0: a b c a b; a: 80 gives a1; b: 40 gives b1; c: 80 gives c1
restored-records-are-admitted-as-any: CAP-2, CAP-1
    Restored records that exceed the capacity are called as room comes.
    capacity 2; restore |1(a+a+b+b+a); 0: c; a: 40 gives a1; b: 80 gives b1; c: 40 gives c1
undecided-calls-at-the-end-of-input: CAP-2
    The end of input makes no room for records that wait.
    unordered; capacity 1; 0: a b a; a: 80 gives a1; b: 40 gives b1
one-element-waits-for-room: CAP-3
    With its one slot taken for 120 ms, the operator reads at most one more record.
    capacity 1; 0: a b c d; a: 120 gives a1; b: 40 gives b1; c: gives c1
the-source-waits-for-restored-records: CAP-3, CAP-4
    While restored records wait for room, the operator reads at most one element ahead.
    unordered; capacity 1; restore |1(a+b+a); 0: c c ~5 c; a: 80 gives a1; b: 40 gives b1
room-is-given-on-unordered: CAP-4
    The third record is called as soon as the second is out, though the first still runs.
    unordered; capacity 2; 0: a b c; a: 200 gives a1; b c: 40 gives *1
room-is-used-while-calls-run: CAP-4
    The operator takes each element in the instant in which it comes, while calls run.
    capacity 8; 0: a; 40: b !1; 80: b ~idle; a: 160 gives a1; b: 40 gives b1
a-silent-record-makes-room: CAP-4, CAP-2
    A record without results gives its slot to the next record when it is decided.
    capacity 1; 0: a a b; a: 40 gives; b: 80 gives b1
an-abandoned-call-takes-no-room: CAP-4
    A call that runs on long after its deadline does not delay the next record's call.
    capacity 1; timeout 80; handled; 0: a@1 b@2 b@3; a: outlives 400 late, late gives a?;
    b: 40 gives b1
a-handler-without-results-makes-room: CAP-4
    Records that the handler drops give their slots back, also when they outnumber the slots.
    unordered; capacity 2; timeout 80; handled; 0: a a a a a b; a: never, late gives; b: 40 gives b1
watermarks-behind-a-slow-record: CAP-5
    Watermarks and statuses behind a record take slots, so that the source has to wait too.
    capacity 3; 0: a ~1 ~idle ~active ~2 ~3; a: 80 gives a1
watermarks-and-nobody-reads: CAP-5
    Watermarks that the consumer does not take fill the operator as records do.
    unordered; capacity 2; 0: ~0 ~1 ~2 ~3 ~4 a; sink pause 80, read 1, pause 80
markers-and-nobody-reads: CAP-6
    While the consumer is away, one marker or barrier waits, and the operator reads one more.
    capacity 1; 0: !1 ^2 !3 ^4 a; a: 40 gives a1; sink pause 80, read 1, pause 80
snapshots-before-a-record-and-nobody-reads: CAP-6
    While a call runs, the operator has room for records, but not for all the snapshots.
    unordered; capacity 2; 0: a |0 |1 |2 |3 |4 !5; a: 120 gives a1; sink pause 80, read 2, pause 80
"""),
    example(
        "a-long-stream-is-let-go: CAP-7",
        "The operator holds as much after each 250 records as it did before.",
        "capacity 3; a b: gives *1; tracked",
        inputs=tuple(Timed(n // 250 * 40, Record("ab"[n % 2], n)) for n in range(1251)),
    ),
    example(
        "every-way-out-is-let-go: CAP-7",
        "After each 50 records (late, silent and answered) the operator holds as much as before.",
        "unordered; capacity 3; timeout 80; handled; tracked; "
        "retry max_attempts=2 initial=40 on_result=empty; "
        "a: 480 gives a1, late gives a? a?? a???; b: gives; c: gives c1 c2",
        inputs=tuple(Timed(n // 3 * 120, Record("abc"[n % 3], n)) for n in range(753)),
    ),
    example(
        "every-answered-failure-is-let-go: CAP-7",
        "The operator holds as much as before, also if the failure handler answers for a and b.",
        "unordered; capacity 3; timeout 80; failures_handled; tracked; "
        "retry max_attempts=2 initial=40; "
        "a: 480 gives a1, failed gives a? a?? a???; b: raises, failed gives b?; c: gives c1",
        inputs=tuple(Timed(n // 3 * 120, Record("abc"[n % 3], n)) for n in range(753)),
    ),
    *examples("""
keys-share-the-room: CAP-1, CAP-2
    All records share the room, however many keys they have.
    unordered; capacity 2; 0: a@0/k0 a@1/k1 a@2/k2 a@3/k3 a@4/k4 a@5/k5; a: 40 gives a1
"""),
    example(
        "six-hundred-deadlines-are-let-go: CAP-7",
        "Deadlines far away do not keep six hundred answered records in memory.",
        "capacity 3; timeout 60000; handled; a b: gives *1; tracked",
        inputs=tuple(Timed(0, Record("ab"[n % 2], n)) for n in range(600)),
    ),
    *examples("""
room-again-as-one-comes-out: CAP-2, CAP-3, CAP-4
    The third record is called at 80, when the first is out, and the fourth at 160.
    capacity 2; 0: a b c d; a: 80 gives a1; b c d: 160 gives *1
a-watermark-and-a-record-fill-two-slots: CAP-3, CAP-5, SNAP-4 in both modes
    The consumer does not read, so a third element waits; the snapshot at 40 keeps their order.
    capacity 2; 0: ~1 a b c; a b: 40 gives *1; requests 40 7; sink pause 120
a-watermark-makes-room-at-once: CAP-4, WM-4 in both modes
    The watermark comes out in its instant, and b is called; a comes out when its call is done.
    capacity 2; 0: ~1 a b c; a: 80 gives a1; b: 120 gives b1; c: 40 gives c1
"""),
)
