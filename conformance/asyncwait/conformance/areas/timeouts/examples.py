"""TIME: examples of deadlines, handlers, and calls that outlive their records."""

from asyncwait.conformance.evidence import Example, example, examples
from asyncwait.spec import Record
from asyncwait.spec.scenario import Timed

EXAMPLES: tuple[Example, ...] = (
    *examples("""
handler-only-for-what-is-late: TIME-1, TIME-3
    Both deadlines pass at 120, but b has answered and only waits for a.
    timeout 120; handled; 0: a b; 80: c; a: never, late gives a-late; b: 40 gives b1; c: 80 gives c1
handler-gives-several-results: TIME-1, TIME-2, TIME-3
    The handler's results come out like results of a call, with timestamp and key.
    unordered; timeout 80; handled; 0: a@5/k b@6/k b@7/m; a: never, late gives a1 a2;
    b: never, late gives b1
handler-after-two-days: TIME-1, TIME-2, TIME-3
    The operator keeps a deadline of two days.
    timeout 172800000; handled; 0: a; a: never, late gives a-late
deadline-in-millions-of-years: RES-1, END-2, END-4
    A deadline in millions of years has no effect, and leaves nothing behind.
    timeout 9223372036854775800; handled; 0: a; 80: b; a: 80 gives a1; b: 40 gives b1
handler-gives-an-empty-collection: TIME-1, TIME-2, TIME-5
    A handler may decide that a late record has no results.
    capacity 1; timeout 80; handled; 0: a b; a: never, late gives; b: 40 gives b1
deadline-while-nobody-reads: TIME-1, TIME-2, TIME-5
    The handler is asked at 80, although the consumer comes back only at 200.
    timeout 80; handled; 0: a b; a: never, late gives a-late; b: 40 gives b1; sink pause 200
deadline-behind-a-full-queue: TIME-2
    The deadline of the only admitted record makes room for the waiting record.
    capacity 1; timeout 80; handled; 0: a b; a b: never, late gives *-late
deadline-without-a-handler: TIME-2, TIME-4
    Nothing else happens at 80: the deadline alone must end the stream.
    timeout 80; 0: a@5; a: never, late none
deadline-behind-an-earlier-record: TIME-2, TIME-4, TIME-10
    The error names the record that is late, not the earlier record that has answered.
    timeout 120; 0: a b@6; 80: a@7; a: 80 gives a1; b: never, late none
deadline-after-the-end-of-input: TIME-2, TIME-3
    Deadlines hold while the operator drains.
    unordered; timeout 80; handled; 0: a; 40: b; a b: never, late gives *-late
handler-gives-none: TIME-1, TIME-4
    The handler returns None, and the late record fails the stream.
    timeout 80; handled; 0: a@5; a: never, late none
late-answer-behind-a-handler-that-gives-none: TIME-4, TIME-6, FAIL-3
    The record fails at its deadline; an answer after that does not count, read late or not.
    form callback; timeout 40; handled; 0: a; a: 80 gives a1, late none; sink pause 160
handler-raises: TIME-1, TIME-4, FAIL-10
    The error is the timeout, and its cause is the exception that the handler raised.
    unordered; timeout 80; handled; 0: a@5; a: never, late raises
handler-raises-a-cancellation: TIME-1, TIME-4, FAIL-10
    The handler raises CancelledError without a cancellation, which is an error of the handler.
    timeout 80; handled; 0: a@5; a: never, late raises CancelledError
late-call-is-cancelled: TIME-5
    The call of a would answer at 200; the operator cancels it at its deadline.
    timeout 80; handled; 0: a; 200: b; a: 200 gives a1, late gives a-late; b: 40 gives b1
late-result-of-a-stubborn-call: TIME-3, TIME-5, TIME-6, TIME-8
    A call swallows its cancellation and gives a1 at 160, long after the handler has decided.
    timeout 80; handled; 0: a; 200: b; a: outlives 80 a1, late gives a-late; b: 40 gives b1
late-error: TIME-3, TIME-5, FAIL-8
    A call swallows its cancellation and raises at 160, which has no effect any more.
    timeout 80; handled; 0: a; 200: b; a: 400 raises with swallow clean_up=80, late gives a-late;
    b: 40 gives b1
late-result-while-the-handlers-result-waits: TIME-6, TIME-8
    Both results of a are ready when the consumer comes back; only the handler's comes out.
    unordered; timeout 80; handled; 0: a; a: outlives 80 a1, late gives a-late; sink pause 240
late-completion-of-a-callback: TIME-2, TIME-6
    A callback can't be cancelled: a is completed at 160, after its handler was asked.
    form callback; timeout 80; handled; 0: a; 200: b; a: 160 gives a1, late gives a-late;
    b: 40 gives b1
waiting-for-room-is-not-timed: TIME-10
    The fourth record is available from 0 on and is called at 120: it has until 200.
    capacity 1; timeout 80; 0: a b a c; a b c: 40 gives *1
waiting-for-room-moves-the-deadline: TIME-1
    The handler is asked for b at 120, which is 80 ms after its call and 120 ms after its arrival.
    unordered; capacity 1; timeout 80; handled; 0: a b; a: 40 gives a1; b: never, late gives b-late
abandoned-calls-are-counted: TIME-5, TIME-8, TIME-9
    Two calls run on past their deadlines, as many as may; the third ends when it is cancelled.
    unordered; capacity 2; timeout 80; handled; 0: a b; 160: c;
    a: outlives 160 a1, late gives a-late; b: outlives 200 b1, late gives b-late;
    c: never, late gives c-late; source_ends_at 320
too-many-abandoned-calls: TIME-9
    At 160 a second call runs on at a capacity of one: the operator fails, and does not stall.
    capacity 1; timeout 80; handled; 0: a b c; a b: outlives 400 *1, late gives *-late;
    c: 40 gives c1; source_ends_at 240
too-many-abandoned-batches: TIME-9, TIME-8
    At 160 a second batch runs on where one may run, however much room the operator has.
    capacity 8; timeout 80; handled; batch in_flight=1; 0: a b c d; 200: e;
    a b c d: outlives 400 *1, late gives *-late; e: 40 gives e1, late gives e?; source_ends_at 240
a-batch-is-one-abandoned-call: TIME-8, TIME-9
    Three records have left a call that runs on: it counts as one call, and one may run on.
    capacity 8; timeout 80; handled; batch max_size=3 in_flight=1; 0: a b c; 160: d;
    a b c: outlives 400 *1, late gives *-late; d: 40 gives d1, late gives d?; source_ends_at 600
answered-and-not-yet-read: TIME-10
    The answer came at 40; the record is not late at 80, although the consumer comes at 200.
    timeout 80; 0: a b; a: 40 gives a1; b: gives b1; sink pause 200
answer-and-deadline-in-one-instant: TIME-2
    The answer of a comes at its very deadline: either the answer or the deadline wins.
    timeout 80; handled; 0: a b; 40: c; a: 80 gives a1, late gives a-late;
    b: never, late gives b-late; c: 40 gives c1
deadline-while-the-loop-is-blocked: TIME-2, TIME-6
    At 40 a call blocks the loop until 160, past the deadline of the other call at 80.
    timeout 80; handled; 0: a b; a: never, late gives a-late;
    b: 40 gives b1 with blocks=120, late gives b?
answer-that-waits-behind-a-block: TIME-3, TIME-6
    The call would answer at 120, before its deadline, but the loop is blocked until 200.
    unordered; timeout 160; handled; 0: a b; a: 120 gives a1, late gives a-late;
    b: 80 gives b1 with blocks=120, late gives b?
handler-that-blocks-the-loop: TIME-1, TIME-3
    A handler blocks the loop; the late call of its record ends with its cancellation.
    timeout 40; handled; 0: a; 40: b; a: never, late gives a-late with blocks=80;
    b: never, late gives b-late
"""),
    example(
        "consumer-and-source-block-the-loop: TIME-2",
        "The source and the consumer block the loop while deadlines pass.",
        "timeout 80; handled; a b: never, late gives *-late; c: 40 gives c1, late gives c?;"
        "sink read 1, block 120",
        inputs=(Timed(0, Record("a")), Timed(40, Record("b"), blocks=80), Timed(80, Record("c"))),
    ),
    *examples("""
late-completion-while-another-is-in-its-place: TIME-3, TIME-6
    When a is completed at 160, b has had the only slot since 120.
    form callback; capacity 1; timeout 120; handled; 0: a b; a: 160 gives a1, late gives a-late;
    b: 80 gives b1, late gives b-late
abandoned-calls-one-after-the-other: TIME-8, TIME-9
    Three calls run on past their deadlines, one at a time: each ends before the next begins.
    capacity 1; timeout 40; handled; 0: a; 160: a; 320: a; a: outlives 80 late, late gives a?;
    source_ends_at 480
deadline-behind-an-answer-that-nobody-has-taken: TIME-4, TIME-10
    The head answered at 40 and waits for the consumer when the second record is late.
    timeout 80; 0: a@5 b@6; a: 40 gives a1; b: never, late none; sink pause 160
deadline-before-a-finished-record: TIME-2, TIME-4 in both modes
    a is late at 80 without a handler; b is finished since 40, and is out in unordered mode.
    timeout 80; 0: a@5 b@6; a: never, late none; b: 40 gives b1
answered-as-the-loop-is-blocked-beyond-the-deadline: TIME-1, TIME-10
    A thread answers a at 40; in that instant a call blocks the loop until 160.
    form callback; timeout 80; handled; 0: c a b; c: gives c1;
    a: 40 gives a1 with thread, late gives a-late; b: 40 gives b1 with blocks=120, late gives b-late
late-before-one-that-waited-for-its-key: TIME-2
    b waits for the key of a, and is due at 160; c, which is read after b, is due at 120.
    key-ordered; timeout 120; handled; 0: a/x b/x c/y; 80: d/z; a d: 40 gives *1;
    b c: never, late gives *?
"""),
)
