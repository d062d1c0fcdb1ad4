"""POLICY: examples of failed records, and of results from the failure handler."""

from asyncwait.conformance.evidence import examples

EXAMPLES = examples("""
a-default-for-what-failed: POLICY-1, POLICY-2, POLICY-7, ELEM-1, ELEM-2
    The call of a raises at 80; its default takes its place before b, which waited for it.
    failures_handled; 0: a@5/k b; a: 80 raises, failed gives a?; b: 40 gives b1
left-out-if-it-failed: POLICY-2, ORD-2
    No results are results: a is left out, and b waits no longer.
    failures_handled; 0: a@5/k b; a: 80 raises, failed gives; b: 40 gives b1
failed-out-of-order: POLICY-1, POLICY-2, ORD-3
    In unordered mode b comes out at 40, the pair that stands for a at 80.
    unordered; failures_handled; 0: a@5/k b; a: 80 raises, failed gives a? a!; b: 40 gives b1
failed-in-front-of-a-watermark: POLICY-2, WM-1
    The watermark waits until the failure of a is handled.
    unordered; failures_handled; 0: a@5/k ~7 b; a: 80 raises, failed gives a?
equal-records-of-which-one-fails: POLICY-1, POLICY-5
    Of three equal records the second fails; the handler is asked about that one.
    failures_handled; 0: b b b; b: 80 gives b1, 40 raises own, gives b3, failed gives b?
raising-where-it-is-called-and-handled: POLICY-1, POLICY-2
    The same as a default, in callback form: the function itself raises, and one completes with an
    error from a thread.
    form callback; failures_handled; 0: a@5/k b; a: raises, failed gives a?;
    b: 40 raises with thread, failed gives b?
no-collection-and-handled: POLICY-1, POLICY-2, POLICY-7
    The call of a gives None, that of b something that breaks while it is read.
    failures_handled; 0: a@5/k b; a: 40 misreturns none, failed gives a?;
    b: 40 misreturns broken, failed gives b?
a-deadline-without-a-handler-of-its-own: POLICY-1, POLICY-2, POLICY-7, TIME-5
    There is no timeout handler: at 80 the failure handler is asked, and the call cancelled.
    timeout 80; failures_handled; 0: a@5/k b; a: never, late none, failed gives a?
a-timeout-handler-that-has-nothing: POLICY-8, POLICY-1
    At 80 the timeout handler gives None for a, and results for b.
    timeout 80; handled; failures_handled; 0: a@5/k b; a: never, late none, failed gives a?;
    b: never, late gives b-late, failed gives b?
what-a-timeout-handler-raised-is-told: POLICY-7, POLICY-8
    At 80 the timeout handler raises about a, which is the cause; it gives None for b.
    timeout 80; handled; failures_handled; 0: a@5/k b; a: never, late raises, failed gives a?;
    b: never, late none, failed gives b?
answered-in-the-instant-of-the-deadline-or-handled: POLICY-5
    At 80 two calls answer, and both are due: each is answered or handled, not both.
    timeout 80; failures_handled; 0: a@5/k b c; a b: 80 gives *1, failed gives *?
a-failure-that-is-left-alone: POLICY-3, FAIL-1, FAIL-10
    The handler gives None: all is as if there were none.
    failures_handled; 0: a@5/k b; a: 40 raises
a-deadline-that-is-left-alone: POLICY-3, TIME-4
    The same at a deadline.
    timeout 80; failures_handled; 0: a@5/k b; a: never, late none
a-failure-handler-that-raises: POLICY-4, FAIL-2
    The cause of the error is what the handler raised.
    failures_handled; 0: a@5/k b; a: 40 raises, failed raises StopIteration
a-failure-handler-that-raises-a-cancellation: POLICY-4
    The same, though nobody has cancelled anything.
    failures_handled; 0: a@5/k b; a: 40 raises, failed raises CancelledError
a-failure-handler-that-raises-no-exception: POLICY-4
    Nor is it let by for that it is outside of Exception.
    failures_handled; 0: a@5/k b; a: 40 raises, failed raises Panic
a-failure-handler-that-raises-at-a-deadline: POLICY-4
    It is still a deadline that was missed.
    timeout 80; failures_handled; 0: a@5/k b; a: never, late none, failed raises
a-failure-handler-that-gives-text: POLICY-6, RES-3
    Text is no collection of results; nobody is asked about that.
    failures_handled; 0: a@5/k b; a: 40 raises, failed misreturns text
a-failure-handler-whose-results-break: POLICY-6, RES-6
    What comes before the break does not come out.
    failures_handled; 0: a@5/k b; a: 40 raises, failed misreturns broken
raising-behind-its-own-completion: POLICY-5, FAIL-1
    The function completes its record and raises: the record is decided, and the operator fails all
    the same.
    form callback; failures_handled; 0: a@5/k b; a: raises own a1 with throws, failed gives a?
completed-once-more-after-a-failure: POLICY-5, POLICY-1, RES-4
    a is completed with an error, and then with other things, which do not count.
    form callback; failures_handled; 0: a@5/k b;
    a: 40 raises own with twice again=40, failed gives a?; source_ends_at 200
failed-for-good: POLICY-9, POLICY-1, POLICY-2, POLICY-7
    After three attempts the handler is asked, and told of them; b has answered the second.
    failures_handled; retry; 0: a@5/k b; a: 40 raises, failed gives a?;
    b: raises, gives b1, failed gives b?
refused-to-the-end-and-no-failure: POLICY-5, RETRY-2
    The last attempt gives what would be refused: that is an answer, and nobody is asked.
    failures_handled; retry max_attempts=2 on_result=pair; 0: a@5/k b;
    a: 40 gives a1 a2, failed gives a?; b: raises, gives b1, failed gives b?
an-error-that-is-not-repeated: POLICY-9, POLICY-7
    The second error of a is none that is repeated.
    failures_handled; retry on_error=some; 0: a@5/k b; a: 40 raises, 40 raises own, failed gives a?
a-predicate-that-raises-and-is-handled: POLICY-1, POLICY-7
    What the predicate raised is the cause of the error.
    failures_handled; retry on_error=breaks; 0: a@5/k b; a: 40 raises, failed gives a?
attempts-that-take-too-long-and-are-handled: POLICY-7, RETRY-12
    Both attempts are over after 80 ms; the cause is a TimeoutError.
    failures_handled; retry max_attempts=2 attempt_timeout=80; 0: a@5/k b;
    a: never, late none, failed gives a?
back-off-beyond-the-deadline-and-handled: POLICY-1, POLICY-7, RETRY-19
    The handler is asked at 40, about what the first attempt has raised.
    timeout 160; failures_handled; retry initial=400; 0: a@5/k b; a: 40 raises, failed gives a?;
    source_ends_at 800
many-failures-one-after-the-other: POLICY-1, POLICY-2, CAP-2
    Twelve records fail in turn, and each frees its slot.
    capacity 2; failures_handled; 0: 1 2 3 4 5 6 7 8 9 10 11 12;
    plan 1 2 3 4 5 6 7 8 9 10 11 12: 40 raises, failed gives -*
restored-and-failed: POLICY-1, REST-1
    What is restored fails and is handled like what is read; again after the crash.
    failures_handled; restore |9(a@5/k+c); 0: b ^1; a: 120 raises, failed gives a?;
    c: 40 raises, failed gives c?; crashes 80
failed-while-nobody-reads: POLICY-2
    The consumer pauses; the failure waits for nobody's turn, nor does it end anything.
    failures_handled; 0: a@5/k b; a: 40 raises, failed gives a?; sink pause 120
the-very-object-that-failed: POLICY-1, POLICY-2
    The handler is given the very object that was read, and what it gives comes out as it is.
    failures_handled; 0: a@5/k b; a: 40 raises, failed gives ["a?"]; tracked
a-failure-handler-that-ends-the-program: FAIL-11
    What is meant for the program is nobody's failure.
    failures_handled; 0: a@5/k b; a: 40 raises, failed raises KeyboardInterrupt
a-timeout-handler-that-gives-text-and-is-handled: POLICY-1, POLICY-2, POLICY-7
    At 80 the timeout handler gives a text, no results; the failure handler has some.
    timeout 80; handled; failures_handled; 0: a@5/k b;
    a: never, late misreturns text, failed gives a?; b: 40 gives b1
""")
