"""POLICY: examples of failed records, and of results from the failure handler."""

from asyncwait.conformance.evidence import examples

EXAMPLES = examples("""
a-default-for-what-failed: POLICY-1, POLICY-2, POLICY-7, ELEM-1, ELEM-2
    The call of a raises at 80; the default for a comes out before b, which waited for a.
    failures_handled; 0: a@5/k b; a: 80 raises, failed gives a?; b: 40 gives b1
left-out-if-it-failed: POLICY-2, ORD-2
    The handler returns no results: a is left out, and b waits no longer.
    failures_handled; 0: a@5/k b; a: 80 raises, failed gives; b: 40 gives b1
failed-out-of-order: POLICY-1, POLICY-2, ORD-3
    In unordered mode b comes out at 40, and the two results for a at 80.
    unordered; failures_handled; 0: a@5/k b; a: 80 raises, failed gives a? a!; b: 40 gives b1
failed-in-front-of-a-watermark: POLICY-2, WM-1
    The watermark waits until the failure of a is handled.
    unordered; failures_handled; 0: a@5/k ~7 b; a: 80 raises, failed gives a?
equal-records-of-which-one-fails: POLICY-1, POLICY-5
    The second of three equal records fails, and the handler is asked about that record.
    failures_handled; 0: b b b; b: 80 gives b1, 40 raises own, gives b3, failed gives b?
raising-where-it-is-called-and-handled: POLICY-1, POLICY-2
    In callback form the function raises for a, and completes b with an error from a thread.
    form callback; failures_handled; 0: a@5/k b; a: raises, failed gives a?;
    b: 40 raises with thread, failed gives b?
no-collection-and-handled: POLICY-1, POLICY-2, POLICY-7
    The call of a gives None, and the call of b a collection that breaks when it is read.
    failures_handled; 0: a@5/k b; a: 40 misreturns none, failed gives a?;
    b: 40 misreturns broken, failed gives b?
a-deadline-without-a-handler-of-its-own: POLICY-1, POLICY-2, POLICY-7, TIME-5
    Without a timeout handler the failure handler is asked at 80, and the call is cancelled.
    timeout 80; failures_handled; 0: a@5/k b; a: never, late none, failed gives a?
a-timeout-handler-that-has-nothing: POLICY-1
    At 80 the timeout handler gives None for a, and results for b.
    timeout 80; handled; failures_handled; 0: a@5/k b; a: never, late none, failed gives a?;
    b: never, late gives b-late, failed gives b?
what-a-timeout-handler-raised-is-told: POLICY-7
    At 80 the timeout handler raises for a, and its error is the cause; it returns None for b.
    timeout 80; handled; failures_handled; 0: a@5/k b; a: never, late raises, failed gives a?;
    b: never, late none, failed gives b?
answered-in-the-instant-of-the-deadline-or-handled: POLICY-5
    At 80 two calls answer and are due: each record is answered or handled, not both.
    timeout 80; failures_handled; 0: a@5/k b c; a b: 80 gives *1, failed gives *?
a-failure-that-is-left-alone: POLICY-3, FAIL-1, FAIL-10
    The handler returns None: the record fails the operator as it would without a handler.
    failures_handled; 0: a@5/k b; a: 40 raises
a-deadline-that-is-left-alone: POLICY-3, TIME-4
    The handler returns None for a late record, which then fails the operator.
    timeout 80; failures_handled; 0: a@5/k b; a: never, late none
a-failure-handler-that-raises: POLICY-4, FAIL-2
    The exception that the handler raised is the cause of the error.
    failures_handled; 0: a@5/k b; a: 40 raises, failed raises StopIteration
a-failure-handler-that-raises-a-cancellation: POLICY-4
    The CancelledError that the handler raised is the cause, though no task was cancelled.
    failures_handled; 0: a@5/k b; a: 40 raises, failed raises CancelledError
a-failure-handler-that-raises-no-exception: POLICY-4
    The Panic that the handler raised is the cause, although it is outside of Exception.
    failures_handled; 0: a@5/k b; a: 40 raises, failed raises Panic
a-failure-handler-that-raises-at-a-deadline: POLICY-4
    The handler raises, and the error is still about the missed deadline.
    timeout 80; failures_handled; 0: a@5/k b; a: never, late none, failed raises
a-failure-handler-that-gives-text: RES-3
    A text is no collection of results, and the operator asks no handler about that.
    failures_handled; 0: a@5/k b; a: 40 raises, failed misreturns text
a-failure-handler-whose-results-break: RES-6
    No result from before the break comes out.
    failures_handled; 0: a@5/k b; a: 40 raises, failed misreturns broken
raising-behind-its-own-completion: POLICY-5, FAIL-1
    The function completes its record, which decides it, and then raises, which fails the operator.
    form callback; failures_handled; 0: a@5/k b; a: raises own a1 with throws, failed gives a?
completed-once-more-after-a-failure: POLICY-5, POLICY-1, RES-4
    a is completed with an error, and then again with other outcomes, which do not count.
    form callback; failures_handled; 0: a@5/k b;
    a: 40 raises own with twice again=40, failed gives a?; source_ends_at 200
failed-for-good: POLICY-1, POLICY-2, POLICY-7
    The handler is asked after three attempts of a and gets their number; b answers at its second.
    failures_handled; retry; 0: a@5/k b; a: 40 raises, failed gives a?;
    b: raises, gives b1, failed gives b?
refused-to-the-end-and-no-failure: POLICY-5, RETRY-2
    The last attempt gives results that would be refused, and the failure handler is not asked.
    failures_handled; retry max_attempts=2 on_result=pair; 0: a@5/k b;
    a: 40 gives a1 a2, failed gives a?; b: raises, gives b1, failed gives b?
an-error-that-is-not-repeated: POLICY-7
    The second error of a is no reason for another attempt.
    failures_handled; retry on_error=some; 0: a@5/k b; a: 40 raises, 40 raises own, failed gives a?
a-predicate-that-raises-and-is-handled: POLICY-1, POLICY-7
    The exception that the predicate raised is the cause of the error.
    failures_handled; retry on_error=breaks; 0: a@5/k b; a: 40 raises, failed gives a?
attempts-that-take-too-long-and-are-handled: POLICY-7, RETRY-12
    Both attempts of a are over after 80 ms; the cause is a TimeoutError.
    failures_handled; retry max_attempts=2 attempt_timeout=80; 0: a@5/k b;
    a: never, late none, failed gives a?
back-off-beyond-the-deadline-and-handled: POLICY-1, POLICY-7, RETRY-19
    The handler is asked at 40, about the error of the first attempt.
    timeout 160; failures_handled; retry initial=400; 0: a@5/k b; a: 40 raises, failed gives a?;
    source_ends_at 800
many-failures-one-after-the-other: POLICY-1, POLICY-2, CAP-2
    Twelve records fail one after the other, and each frees its slot.
    capacity 2; failures_handled; 0: 1 2 3 4 5 6 7 8 9 10 11 12;
    plan 1 2 3 4 5 6 7 8 9 10 11 12: 40 raises, failed gives -*
restored-and-failed: POLICY-1, REST-1
    Restored records fail and are handled like records that were read, also after the crash.
    failures_handled; restore |9(a@5/k+c); 0: b ^1; a: 120 raises, failed gives a?;
    c: 40 raises, failed gives c?; crashes 80
failed-while-nobody-reads: POLICY-2
    The consumer pauses; the failure is handled without waiting for it, and ends nothing.
    failures_handled; 0: a@5/k b; a: 40 raises, failed gives a?; sink pause 120
the-very-object-that-failed: POLICY-1, POLICY-2
    The handler gets the very object that was read, and its results come out unchanged.
    failures_handled; 0: a@5/k b; a: 40 raises, failed gives ["a?"]; tracked
a-failure-handler-that-ends-the-program: FAIL-11
    A KeyboardInterrupt of the handler ends the program, and is no failure of a record.
    failures_handled; 0: a@5/k b; a: 40 raises, failed raises KeyboardInterrupt
a-timeout-handler-that-gives-text-and-is-handled: POLICY-1, POLICY-2, POLICY-7
    At 80 the timeout handler gives a text, which is no collection; the failure handler has results.
    timeout 80; handled; failures_handled; 0: a@5/k b;
    a: never, late misreturns text, failed gives a?; b: 40 gives b1
""")
