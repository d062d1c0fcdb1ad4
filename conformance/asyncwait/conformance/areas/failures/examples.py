"""FAIL: examples of failures of an operator, and of the consumer's error."""

from asyncwait.conformance.evidence import examples

EXAMPLES = examples("""
call-raises: FAIL-1, FAIL-2, FAIL-6, FAIL-9, FAIL-10
    A single call raises, nothing else happens, and the error names its record.
    0: a@5/k; a: 40 raises
call-raises-group: FAIL-1, FAIL-10, FAIL-5
    A call that raises ExceptionGroup has failed like any other.
    0: a b@6; a: never, late none; b: 40 raises ExceptionGroup
call-raises-what-has-a-cause: FAIL-1, FAIL-10
    A call that raises Chained has failed like any other.
    0: a b@6; a: never, late none; b: 40 raises Chained
call-raises-what-is-no-exception: FAIL-1, FAIL-10, FAIL-5
    A call that raises Panic, which is outside of Exception, has failed like any other.
    0: a b@6; a: never, late none; b: 40 raises Panic
call-raises-what-has-no-text: FAIL-1, FAIL-10, FAIL-5
    A call that raises Unprintable, whose repr raises, has failed like any other.
    0: a b@6; a: never, late none; b: 40 raises Unprintable
call-raises-what-has-no-text-and-is-spared: POLICY-2
    The failure handler has results for a, and the stream goes on.
    failures_handled; 0: a b; a: 40 raises Unprintable, failed gives a?; b: 80 gives b1
call-raises-what-is-no-exception-and-is-spared: POLICY-2
    The failure handler has results for a, and the stream goes on.
    failures_handled; 0: a b; a: 40 raises Panic, failed gives a?; b: 80 gives b1
call-raises-call-failed-of-another: FAIL-1, FAIL-10, FAIL-5
    A call that raises CallFailed has failed like any other.
    0: a b@6; a: never, late none; b: 40 raises CallFailed
call-raises-timeout-of-another: FAIL-1, FAIL-10, FAIL-5
    A call that raises CallTimedOut has failed like any other.
    0: a b@6; a: never, late none; b: 40 raises CallTimedOut
call-raises-refusal-of-another: FAIL-1, FAIL-10, FAIL-5
    A call that raises InvalidConfig has failed like any other.
    0: a b@6; a: never, late none; b: 40 raises InvalidConfig
other-operators-errors-are-repeated: RETRY-1
    An operator inside the call fails, times out, and can't be opened; the last attempt answers.
    retry max_attempts=4; 0: a;
    a: 40 raises CallFailed, 40 raises CallTimedOut, 40 raises InvalidConfig, gives a1
call-raises-before-its-first-await: FAIL-1, FAIL-2, FAIL-9, FAIL-10
    An error in the very first step of a call is the call's error too.
    unordered; 0: a b@6; a: never, late none; b: raises
callback-completes-exceptionally: FAIL-1, FAIL-2, FAIL-10 in both modes
    An error in callback form fails the stream like an error of a coroutine.
    form callback; 0: a b@6; a: never, late none; b: 40 raises
callback-raises-at-once: FAIL-1, FAIL-2, FAIL-10
    A callback function that raises instead of starting its call has failed.
    form callback; 0: a@5; a: raises
failure-does-not-wait-for-its-turn: FAIL-1, FAIL-2
    The second record fails while the first is undecided for another 160 ms.
    0: a b@6; a: 200 gives a1; b: 40 raises
failure-behind-a-watermark: FAIL-2, FAIL-8
    A watermark in front of the failed record does not delay the failure.
    unordered; 0: a@5 ~9 b@16; a: 200 gives a1; b: 40 raises
finished-results-are-not-emitted-after-a-failure: FAIL-2, FAIL-3, FAIL-6
    When the consumer comes back at 160, the failure of 80 comes out instead of a1.
    unordered; 0: a b; a: 40 gives a1; b: 80 raises; sink pause 160
rest-of-a-record-is-not-emitted-after-a-failure: FAIL-3
    After a failure, no further result of a record that is partly out comes out.
    0: a b; a: 40 gives a1 a2 a3; b: 80 raises; sink read 1, pause 120
no-snapshot-after-a-failure: FAIL-3
    The barrier comes at 120, and the stream has failed at 80.
    0: a b; 120: ^1; a: never, late none; b: 80 raises; sink pause 160
earlier-failure-of-a-later-record: FAIL-2, FAIL-4
    The second record fails first; the first would have failed, too, when the consumer is back.
    0: a@5 b@6; a: 120 raises; b: 40 raises; sink pause 200
earlier-failure-behind-a-result: FAIL-4, FAIL-2
    Both records are called, as the consumer has read once; both have failed when it is back.
    0: c a@5 b@6; c: 40 gives c1; a: 160 raises; b: 80 raises; sink read 1, pause 200
earlier-failure-of-equal-records: FAIL-4
    Only the timestamp tells which of two equal values failed first.
    unordered; 0: a@5 a@6; a: 120 raises, 40 misreturns none; sink pause 200
call-raises-stop-iteration: FAIL-1, FAIL-10, FAIL-5
    A call that raises StopIteration has failed like any other.
    0: a b@6; a: never, late none; b: 40 raises StopIteration
call-raises-stop-async-iteration: FAIL-1, FAIL-10, FAIL-5
    A call that raises StopAsyncIteration has failed like any other.
    0: a b@6; a: never, late none; b: 40 raises StopAsyncIteration
call-raises-stop-async-iteration-at-once: FAIL-1, FAIL-10, FAIL-5
    A call that raises StopAsyncIteration has failed like any other.
    0: a b@6; a: never, late none; b: raises StopAsyncIteration
call-raises-a-cancellation-of-its-own: FAIL-1, FAIL-10, FAIL-5
    A call that raises CancelledError has failed like any other.
    0: a b@6; a: never, late none; b: 40 raises CancelledError
call-raises-what-cannot-be-pickled: FAIL-1, FAIL-10, FAIL-5
    A call that raises Unpicklable has failed like any other.
    0: a b@6; a: never, late none; b: 40 raises Unpicklable
failure-comes-again: FAIL-6
    Each further read raises the same error object, also after leaving.
    unordered; 0: a b; a: gives a1; b: 40 raises
source-error-comes-last: FAIL-7
    The source raises at 0; the records read before are decided and emitted first.
    0: a ~9 b@16; a: 80 gives a1; b: 40 gives b1 b2; source_error own
source-error-that-is-falsy: FAIL-7
    The error of the source is false in a condition, and still counts as an error.
    0: a; a: 80 gives a1; source_error falsy
source-error-behind-what-was-stored: FAIL-7, REST-1
    The source raises in its first step; the restored a and b come out before the error.
    restore |1(a+b); source_error own; a: 80 gives a1; b: 40 gives b1
source-error-with-a-full-queue: FAIL-7
    The error of the source does not overtake a record that waits for room.
    unordered; capacity 1; 0: a b; a: 80 gives a1; b: 40 gives b1; source_error own;
    sink read 1, pause 160
source-error-of-an-empty-source: FAIL-6, FAIL-7, FAIL-9
    A source raises before its first element, and its error comes out unchanged.
    source_ends_at 80; source_error own
call-fails-before-the-source-error: FAIL-1, FAIL-2
    A record that was read before the source raised fails, and its failure comes first.
    0: a b@6; a: 80 gives a1; b: 40 raises; source_error own
nothing-fails: FAIL-8
    Falsy results, no results and slow answers within the deadline are no failures.
    timeout 160; 0: a b 0; a: 40 gives; b: 80 gives null 0 ""; plan 0: 120 gives false
two-calls-fail-in-one-instant: FAIL-2, FAIL-9
    The operator raises either of two failures in one instant, plain and alone.
    unordered; 0: a@5 b@6; a b: 40 raises
failure-while-others-clean-up: FAIL-2, FAIL-9
    The consumer gets the failure at once; only leaving waits for the call that cleans up.
    timeout 160; handled; 0: a b@6; a: never with clean_up=80, late gives a-late; b: 40 raises
call-that-interrupts: FAIL-11
    A call raises KeyboardInterrupt while another one runs.
    0: a b; a: 40 raises KeyboardInterrupt; b: 400 gives; hooks coroutine
nothing-comes-while-the-program-ends: FAIL-11
    A handler interrupts the program; the consumer comes back while a call cleans up.
    unordered; timeout 80; handled; 0: a b !1;
    a: never with clean_up=120, late raises KeyboardInterrupt; b: gives b1;
    sink pause 160, read 2, leave
callback-that-exits: FAIL-11
    A function in callback form raises SystemExit before it returns.
    form callback; 40: a; a: raises SystemExit; hooks plain
callback-that-exits-before-its-consumer-leaves: FAIL-11
    The consumer is busy, and leaves while the source closes.
    form callback; 0: a; a: raises SystemExit; close_takes 80; sink pause 40, leave
handler-that-exits: FAIL-11
    The timeout handler raises SystemExit.
    timeout 80; handled; 0: a b; a: never, late raises SystemExit; b: 40 gives b1
completed-and-then-raised: FAIL-1, FAIL-10
    The function completes its record, and raises before it returns.
    form callback; 0: b; 40: a; a: raises ValueError a1 with throws; b: 200 gives b1
completed-and-then-raised-by-the-next-of-a-key: FAIL-1, FAIL-10
    At 40 a has answered and b is called; b completes with no results, and raises.
    key-ordered; form callback; 0: a/x b/x; a: 40 gives a1; b: raises with throws
source-with-an-error-of-the-contract: FAIL-7
    The source is another operator, which raises a CallFailed of its own.
    0: a; a: 80 gives a1; source_error contract
source-that-raises-a-cancellation: FAIL-7
    The source raises a CancelledError without a cancellation.
    0: a; a: 80 gives a1; source_ends_at 40; source_error cancelled
failure-of-one-of-two-equal-records: FAIL-1
    The second of two equal records fails while the first runs; its timestamp identifies it.
    0: a@5 a@6; a: 160 gives, 40 raises
values-of-any-kind-fail-nothing: FAIL-8, ELEM-3
    Values without a hash or an order, and values equal across types, cause no failure.
    unordered; capacity 12; timeout 160; handled;
    0: ["x"]@1 {"k":1}@1 null@1 ""@1 0@1 false@1 1@1 true@1 1.0@1 a@1
source-that-ends-the-program: FAIL-11
    A KeyboardInterrupt that the source raises is no error of the stream.
    0: a; 40: b; a b: gives *1; hooks plain; source_ends_at 80; source_error interrupt
failure-between-a-result-and-a-watermark: FAIL-1, FAIL-2, FAIL-10
    a1 is out at 40; b fails at 80, and the watermark behind it does not come out.
    0: a@5 b@6 ~9; a: 40 gives a1; b: 80 raises
""")
