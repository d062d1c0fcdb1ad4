"""END: examples of the ends of an operator, and of objects that it may leave behind."""

from asyncwait.conformance.evidence import Example, examples

EXAMPLES: tuple[Example, ...] = (
    *examples("""
end-after-everything-in-flight: END-1, END-2, END-7
    The source ends at 0; two calls run, one record waits for room, and all three come out.
    capacity 2; 0: a b c; a: 120 gives a1; b: 40 gives b1; c: 80 gives c1
end-after-a-record-without-results: END-1, END-2
    The slower record has no results: the stream ends when it is decided, and not before.
    unordered; 0: a b; a: 80 gives; b: 40 gives b1
end-of-the-source-comes-late: END-1, END-2
    All elements are out at 40; the stream ends when the source does, at 160.
    0: a ~9; a: 40 gives a1; source_ends_at 160
end-of-an-empty-stream: END-2, END-7, END-8
    A source without elements makes a stream without elements.
    unordered
end-while-the-consumer-is-away: END-1, END-7
    The source has ended and the calls are done at 80; no result is lost until 200.
    unordered; capacity 2; 0: a b a; a: 40 gives a1; b: 80 gives b1; sink pause 200
leaving-waits-for-clean-up: END-3, END-4, END-5, END-7
    Leaving at 40 cancels a and b, and lasts until a has cleaned up at 120.
    capacity 3; 0: c a b; c: 40 gives c1; a: never with clean_up=80; b: 200 gives b1;
    sink read 1, leave
leaving-waits-an-hour-for-clean-up: END-3, END-4
    The only call that runs at 40 cleans up for an hour.
    0: a b; a: 40 gives a1; b: never with clean_up=3600000; sink read 1, leave
cancelled-calls-that-raise: END-3, END-4
    Leaving cancels a, which raises after its clean-up at 120; the operator drops that error.
    0: b a; b: 40 gives b1; a: 400 raises with swallow clean_up=80; sink read 1, leave
cancelling-waits-for-clean-up: END-3, END-4, END-5
    The consumer's task is cancelled at 40, while it waits for the next element.
    unordered; timeout 160; 0: a b; a: outlives 80 a1, late none; b: 200 gives b1; cancel_at 40
leaving-drops-the-timers: END-4
    The deadlines of the running call and of the finished call are both gone.
    timeout 400; 0: a b; a: 40 gives a1; b: never, late none; sink read 1, leave
ending-drops-the-timers: END-2, END-4
    The stream ends at 40 and does not wait for the deadlines at 400.
    timeout 400; handled; 0: a b; a: 40 gives a1; b: gives
failing-leaves-nothing-behind: END-3, END-4, END-5
    A failure cancels the other calls, and the operator waits until a has cleaned up.
    timeout 400; 0: a b; 400: c; a: never with clean_up=80; b: 40 raises
failing-cancels-before-leaving: END-3
    The consumer stays for 200 ms after a failure; a is cancelled as soon as b has failed.
    timeout 400; 0: a b; 80: c; a: 120 gives a1; c: gives c1; b: 40 raises; sink read 1, pause 200
source-is-closed-after-the-end: END-5
    The operator closes its source after the end of input, too.
    0: a
source-is-closed-while-it-is-waited-for: END-4, END-5
    At 80 the operator waits for the next element, due at 400.
    unordered; 0: a; 400: b; a: 40 gives a1; cancel_at 80
source-is-closed-after-its-error: END-5
    The operator closes a source that raises like any other source.
    0: a; a: 40 gives a1; source_error own
plain-hooks-round-all-calls: END-6
    `open` runs once before the first call, and `close` once after the last call.
    0: a b; a: 40 gives a1; b: gives b1; hooks plain
coroutine-hooks-round-all-calls: END-6
    `close` waits for the call that still cleans up after leaving.
    0: a b; a: 40 gives a1; b: never with clean_up=80; hooks coroutine; sink read 1, leave
hooks-round-a-failure: END-6
    `close` runs after a failure, when all other calls have ended.
    unordered; 0: a b; a: never with clean_up=80; b: 40 raises; hooks coroutine
hooks-round-a-cancellation: END-6
    `close` runs although the task that leaves is being cancelled.
    0: a; a: never with clean_up=80; hooks coroutine; cancel_at 40
hooks-without-a-call: END-6
    `open` and `close` run although the stream has no records.
    hooks plain
one-slot-for-everything: END-1, END-8, END-21
    With a single slot, records, fences, barriers and silent records still get through.
    capacity 1; timeout 160; handled; 0: a ~9 b@16 b@17 ~idle ^1 !3 a@18; a: 40 gives a1 a2;
    b: 40 gives, never, late gives
given-up-wait-in-the-very-instant: END-9
    The wait is cancelled at 40, when a is finished: each result comes then or later, but once.
    0: a b; a: 40 gives a1 a2; b: 120 gives b1; sink give_up 40, give_up 40
given-up-waits-lose-nothing: END-9
    The consumer gives up three waits before any output, and later gets all outputs.
    unordered; 0: a ~9; 80: b@16; a: 200 gives a1; b: 40 gives b1;
    sink give_up 40, give_up 40, give_up 40, pause 120
nothing-begins-after-leaving: END-3, END-10
    Leaving cancels a, which frees the only slot; b waits for the slot and is not called.
    capacity 1; 0: c a b; c: 40 gives c1; a: never with clean_up=80; b: 40 gives b1;
    sink read 1, pause 40, leave
nothing-begins-while-calls-would-still-answer: END-3, END-10
    Leaving at 80 does not wait for the answer of a, which would make room for b at 120.
    unordered; capacity 1; 0: c a b; c: 40 gives c1; a: 80 gives a1; b: 40 gives b1;
    sink read 1, pause 40, leave
nothing-begins-after-a-failure: END-10
    b fails at 40; the source would give c at 80, and the consumer stays until 240.
    0: a b; 80: c; a: gives a1; b: 40 raises; c: 80 gives c1; source_ends_at 400;
    sink read 1, pause 240
nothing-begins-after-a-cancellation: END-3, END-10
    The result of a call that swallows its cancellation is dropped, and b is not called.
    unordered; capacity 1; 0: a b; a: outlives 80 a1, late none; b: 40 gives b1; cancel_at 40
leaving-while-the-source-is-silent: END-11, END-5
    The next element is due in a minute; the consumer leaves at 80.
    0: a; 60000: b; a: 40 gives a1; cancel_at 80
failing-while-the-source-is-silent: END-11, FAIL-2
    A call fails at 40; the source ends after a minute.
    0: a; a: 40 raises; source_ends_at 60000
leaving-while-all-clean-up: END-11, END-3
    The call cleans up for 80 ms, closing the source takes 40, and each hook takes 40.
    0: a; 60000: b; a: never with clean_up=80; hooks coroutine; hook_takes 40; close_takes 40;
    cancel_at 120
cancelled-while-calls-clean-up: END-3, END-5, END-6, END-20
    The consumer leaves at 80, and is cancelled at 120, while a call cleans up.
    0: a; 60000: b; a: never with clean_up=80; hooks plain; cancel_at 120; sink pause 80, leave
cancelled-amid-results: END-5, END-20
    A scope round the consumer is cancelled while the loop is blocked and results are ready.
    unordered; capacity 2; 0: a a a a a b 14*a; a: gives a1; b: gives b1 with blocks=40;
    cancel_at 40; cancel scope
cancelled-while-all-is-closed: END-5, END-6
    The stream has failed; the consumer is cancelled while the source is being closed.
    0: a; 60000: b; a: 40 raises; hooks coroutine; hook_takes 40; close_takes 80; cancel_at 120
cancelled-while-the-function-is-closed: END-6
    The stream has failed; a scope round the consumer is cancelled while `close` waits.
    0: a; 60000: b; a: 40 raises; hooks coroutine; hook_takes 80; cancel_at 160; cancel scope
open-that-raises: END-12
    `open` raises after 40 ms.
    0: a; hooks coroutine; hook_takes 40; hook_error open
close-that-raises: END-13
    The stream ends well, and then `close` of the function raises.
    0: a; a: 40 gives a1; hooks plain; hook_error close
source-that-raises-on-closing: END-13, END-5
    The stream ends well, and closing its source raises.
    0: a; a: 40 gives a1; close_takes 40; close_error
source-that-is-no-iterator: END-5, END-17
    The source is an iterable whose iterator is another object.
    0: a; 80: b; source iterable
generator-that-cleans-up-while-it-is-waited-for: END-5, END-11
    Cancelling its read closes a waiting generator; on asyncio nothing cuts its clean-up short.
    0: a; 60000: b; a: 40 gives a1; source generator; close_takes 80; sink read 1, pause 40, leave
generator-that-waits-when-a-call-fails: END-5, FAIL-2
    A call fails while the generator waits, and the consumer has not left yet.
    0: a; 60000: b; a: 40 raises; source generator; close_takes 80
source-that-takes-its-time: END-17
    The second element of a generator comes after ten seconds.
    0: a; 10000: b; a: 40 gives a1; source generator
leaving-a-source-that-raises-on-closing: END-13
    The consumer leaves early, and the error of closing the source comes out all the same.
    0: a; 400: b; a: 40 gives a1; close_error; sink read 1, leave
leaving-a-generator-that-raises-as-it-is-cancelled: END-13
    The error that a cancelled read raises instead of its cancellation comes out, too.
    0: a; 400: b; a: 40 gives a1; source generator; close_error; sink read 1, leave
the-body-raises: END-18, END-3, END-5
    The consumer raises at 40 while a call runs; its error comes out when everything is closed.
    0: a b; a: 40 gives a1; b: 200 gives b1; hooks plain; sink read 1, raise
the-body-raises-and-closing-does: END-18
    The consumer's error comes out, although closing the source raises, too.
    0: a; a: 40 gives a1; close_error; sink read 1, raise
close-behind-a-source-that-raises-on-closing: END-6, END-13
    `close` of the function runs although closing the source raises.
    0: a; a: 40 gives a1; hooks plain; close_error
all-that-closes-raises: END-13
    Closing the source and closing the function both raise: one error is a note on the other.
    0: a; a: 40 gives a1; hooks plain; hook_error close; close_error
nothing-happens-for-an-hour: END-23
    The second element comes an hour after the first, with no work in between.
    timeout 400; 0: a; 3600000: b; a b: 40 gives *1
leaving-with-finished-results: END-7, END-10 in both modes
    The consumer leaves when b and c are finished and d waits for room: nothing more comes.
    capacity 2; 0: a b c d; a b: 40 gives *1; c: gives c1; sink read 1, pause 80, leave
leaving-with-finished-results-and-a-back-off: END-7, END-10 in both modes
    The consumer leaves while c is finished and b backs off for ten seconds: nothing more comes.
    capacity 3; retry initial=10000; 0: a b c; a: 40 gives a1; b: 40 raises; c: 80 gives c1;
    sink read 1, pause 80, leave
"""),
)
