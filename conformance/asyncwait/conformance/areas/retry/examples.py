"""RETRY: examples of attempts, of back-offs, and of their ends."""

from asyncwait.conformance.evidence import examples

EXAMPLES = examples("""
repeated-on-a-quiet-stream: RETRY-1, RETRY-2, RETRY-3, RETRY-4, RETRY-10
    Nothing else happens while a backs off for 40 ms and then for 80 ms.
    retry; 0: a; a: 2 times 40 raises, 40 gives a1; source_ends_at 800
equal-records-each-with-its-own-back-off: RETRY-1, RETRY-3, RETRY-4, ORD-4
    Three equal records fail at different times, and each backs off for 40 and then for 80 ms.
    unordered; retry max_attempts=4; 0: a@1 a@2; 80: a@3;
    a: 2 times raises, 4 times 40 raises, 40 gives a1
back-offs-up-to-their-cap: RETRY-3, RETRY-4
    The back-offs take 40, 120, and then 160 ms: the cap applies up to the sixteenth attempt.
    retry max_attempts=16 multiplier=3 cap=160; 0: a; a: 15 times raises, gives a1
limit-beyond-any-clock: RETRY-12
    The limit is so long that only the deadline bounds the attempt.
    timeout 400; retry attempt_timeout=9223372036854775800; 0: a; a: 40 gives a1
back-off-of-minutes: RETRY-3, RETRY-4
    The back-offs take four and then ten minutes: only the configured cap bounds them.
    retry max_attempts=3 initial=240000 multiplier=3 cap=600000; 0: a; a: 2 times raises, gives a1
first-back-off-beyond-the-cap: RETRY-3, RETRY-4
    The cap of 40 ms applies to the first back-off, too.
    retry initial=200 cap=40; 0: a; a: raises, gives a1
back-offs-with-jitter: RETRY-3, RETRY-4
    Jitter shortens the back-off of 400 ms by at most half.
    retry max_attempts=6 initial=400 multiplier=1 jitter=50; 0: a b; a b: 4 times raises, gives *1
many-records-failing-together: RETRY-1, RETRY-3, RETRY-4, CAP-2
    Nine records fail in turn, and no record backs off for longer because others failed.
    unordered; capacity 3; retry; 0: a b c d e f g h i; a b c d e f g h i: 40 raises, gives *1
all-attempts-fail: RETRY-2, RETRY-7 in both modes
    The third call is the last, and the error counts three attempts.
    retry; 0: a b; a: 40 raises
one-attempt-is-all: RETRY-2, RETRY-7
    With one attempt the call is not repeated.
    retry max_attempts=1; 0: a; a: 40 raises
told-when-to-come-again: RETRY-5
    The first RetryAfter sets 120 ms instead of a back-off of 40 ms, and the second sets 0 ms.
    retry on_error=some; 0: a;
    a: 40 raises RetryAfter with retry_after=120, 40 raises RetryAfter, 40 gives a1
told-of-an-error-when-to-come-again: RETRY-5
    The predicate answers a ValueError with a RetryAfter of 120 ms; the error of b is final.
    retry on_error=told; 0: a b; a: 2 times 40 raises, gives a1; b: 400 raises own
told-once-too-often: RETRY-2, RETRY-7
    RetryAfter adds no attempts: the second attempt is the last.
    retry max_attempts=2; 0: a; a: 40 raises RetryAfter with retry_after=40
told-where-nothing-is-repeated: FAIL-1, FAIL-10
    Without a Retry in the config, RetryAfter is an error like any other.
    0: a; a: 40 raises RetryAfter with retry_after=40
errors-that-are-no-reason: RETRY-6, RETRY-7
    Only a ValueError is a reason: a is repeated once, and its second error is final.
    retry on_error=some; 0: a; a: 40 raises, 40 raises own
errors-that-a-predicate-knows: RETRY-1, RETRY-6
    The predicate gets the very error object that the call raised.
    retry on_error=asked; 0: a b; a: 40 raises, gives a1; b: 200 raises own
what-is-no-collection-is-no-reason: RETRY-6, RES-3
    A call without a collection of results is not repeated, as it would return the same again.
    retry; 0: a; a: 40 misreturns none, 40 gives a1
collection-that-breaks-is-a-reason: RETRY-1, RES-6
    Reading the results raises, which is an error of the call and a reason to repeat it.
    retry max_attempts=2; 0: a; a: 2 times 40 misreturns broken
results-that-are-refused: RETRY-1, RETRY-6
    The predicate refuses two results and accepts three: a1, a2 and a3 come out.
    unordered; retry on_result=pair; 0: a b; a: 40 gives a-no a-never, 40 gives a1 a2 a3;
    b: 80 gives b1
results-that-are-refused-to-the-end: RETRY-2
    The results of the last attempt stand, whatever the predicate would say.
    retry max_attempts=2 on_result=empty; 0: a b; a: 40 gives; b: 40 gives b1
answers-of-attempts-that-are-over: ELEM-3
    a is completed again while it backs off, and while its next call runs.
    form callback; retry; 0: a;
    a: 40 raises with twice, 40 raises with twice again=120, 120 gives a1; source_ends_at 400
late-answer-of-an-attempt-from-a-thread: RETRY-1
    The first attempt exceeds its limit, and its answer comes while the second attempt runs.
    form callback; retry attempt_timeout=80; 0: a; a: 160 gives a-late with thread, 40 gives a1;
    b: 40 gives b1; source_ends_at 400
raised-past-the-limit-of-an-attempt: POLICY-2
    Each call blocks the loop past its limit and then raises: its error comes too late.
    form callback; failures_handled; retry attempt_timeout=40; 0: a;
    a: raises own with blocks=120, failed gives a?
late-answer-of-an-attempt-that-would-not-end: RETRY-12, TIME-8
    The first attempt swallows its cancellation, and answers when the second has begun.
    retry initial=80 attempt_timeout=80; 0: a; a: outlives 120 a-late, 40 gives a1;
    source_ends_at 400
back-off-beyond-the-deadline: RETRY-19, TIME-1
    The next call of a would begin at 440, after the deadline at 120: a fails at 40.
    timeout 120; handled; retry initial=400; 0: a; a: 40 raises, 40 gives a1, late gives a-late;
    source_ends_at 800
results-refused-just-before-the-deadline: RETRY-19
    The results at 80 are refused, but the back-off would end at 160: the results come out.
    timeout 120; retry initial=80 on_result=empty; 0: a b; a: 80 gives; b: 80 gives b1
told-to-come-back-behind-the-deadline: RETRY-19, RETRY-5, POLICY-1
    The service asks a to come back at 640, so the failure handler is asked at 40.
    capacity 1; timeout 120; failures_handled; retry; 0: a b;
    a: 40 raises RetryAfter with retry_after=600, failed gives a?; b: 40 gives b1
attempt-fails-at-the-deadline: TIME-1 in both modes
    The first attempt fails in the instant of the deadline, and is not repeated.
    timeout 80; handled; retry max_attempts=5; 0: a; a: 80 raises, late gives late;
    source_ends_at 480
deadline-in-the-last-attempt: RETRY-18, TIME-2, TIME-5
    The time of a begins with its first call: it is over at 200, during the third call.
    timeout 200; handled; retry multiplier=1; 0: a; a: 2 times 40 raises, never, late gives a-late
back-off-beyond-the-deadline-in-a-second-attempt: RETRY-19, RETRY-7, FAIL-10
    The second attempt fails at 40, and the third could begin only at 440.
    timeout 120; retry multiplier=10; 0: a; a: raises
deadline-in-a-second-attempt: RETRY-18, RETRY-7, TIME-4
    The deadline comes during the second attempt: the cause is the error of the first attempt.
    timeout 120; retry on_error=some; 0: a; 200: b; a: 40 raises, never; source_ends_at 400
deadline-in-a-second-attempt-that-is-handled: RETRY-18, POLICY-7
    The failure handler gets the timeout, with the error of the first attempt as its cause.
    timeout 120; failures_handled; retry; 0: a b; a: 40 raises own, never, failed gives a?;
    source_ends_at 400
deadline-after-a-collection-that-broke: RETRY-18, POLICY-7
    The failure handler gets the timeout; its cause is the error of the first attempt's results.
    timeout 120; failures_handled; retry; 0: a; a: 40 misreturns broken, never, failed gives a?;
    source_ends_at 400
handler-that-fails-is-not-repeated: RETRY-18, TIME-4, FAIL-10
    The timeout handler's error is final, although it would be a reason for another attempt.
    timeout 160; handled; retry; 0: a; a: 40 raises, never, late raises
attempts-that-hang: RETRY-1, RETRY-4, RETRY-12
    Each of the first two calls is cancelled after 80 ms.
    retry attempt_timeout=80; 0: a; a: never, never with clean_up=40, 40 gives a1
last-attempt-that-hangs: RETRY-7, RETRY-12
    The last attempt is cancelled after 80 ms, as the first is.
    retry max_attempts=2 attempt_timeout=80; 0: a; a: never
attempt-that-hangs-is-no-reason: RETRY-6, RETRY-7
    A TimeoutError is no reason for another attempt here, and fails the operator.
    retry attempt_timeout=80 on_error=some; 0: a; a: never
attempt-that-cleans-up-for-long: RETRY-4, RETRY-10, RETRY-12
    The attempt is over at 80, cleans up until 200, and is abandoned when a is called again.
    retry attempt_timeout=80; 0: a; a: never with clean_up=120, 40 gives a1
attempt-over-while-the-loop-is-blocked: TIME-8
    At 160, when b frees the loop, the attempt at a is cancelled, and its back-off is over.
    unordered; retry attempt_timeout=80; 0: a b; a: never with clean_up=120, 40 gives a1;
    b: 40 gives with blocks=120, gives b1
attempts-shorter-than-a-turn: RETRY-10, RETRY-12, STAT-8
    Each attempt is over after 10 ms and ends 4 ms later; its back-off takes 1 ms.
    retry max_attempts=4 initial=1 attempt_timeout=10; 0: a;
    a: 2 times never with clean_up=4, never with clean_up=80, gives a1; figures_at 13 60
attempts-at-once-behind-their-limits: RETRY-4, RETRY-5, RETRY-10
    Each attempt is over after 40 ms; the next begins in that instant, when the first has ended.
    retry max_attempts=4 attempt_timeout=40 on_error=at-once; 0: a b; a: 2 times never, gives a1;
    b: never with clean_up=40, raises, never with clean_up=80, gives b1
one-call-too-many-runs-on: RETRY-10, TIME-9
    Two calls of a run on, which exceeds the capacity: no further call begins.
    capacity 1; retry initial=1 attempt_timeout=10; 0: a;
    a: 2 times never with clean_up=400, gives a1; figures_at 13
times-beyond-any-clock: RETRY-19
    The times exceed all calendars and timers: a fails at 40, and b answers.
    timeout 80; failures_handled;
    retry initial=9223372036854775800 multiplier=1 cap=9223372036854775800
    attempt_timeout=9223372036854775800;
    0: a b; a: 40 raises, gives a1, failed gives a?; b: 40 gives b1
predicate-of-errors-that-raises: RETRY-13
    The error of the predicate fails the operator at once, and names the record.
    retry on_error=breaks; 0: a; a: raises, gives a1
predicate-of-results-that-raises: RETRY-13
    The predicate raises for results in callback form, which a thread gives by a supplier.
    form callback; retry on_result=breaks; 0: a; a: 40 gives a1 with thread supplied
failing-while-another-backs-off: FAIL-2
    b fails for good at 80, and a, due to be called again at 440, is not called.
    retry initial=400 on_error=some; 0: a b; a: 40 raises; b: 80 raises own
leaving-in-a-back-off: END-10, END-11
    Leaving does not wait for the back-off of ten seconds.
    retry initial=10000; 0: a; a: 40 raises; source_ends_at 400; cancel_at 120
repeated-behind-the-end-of-input: RETRY-1, END-1
    The input ends before the first call has failed.
    retry; 0: a; a: 2 times 40 raises, gives a1
end-of-input-in-a-back-off: RETRY-3
    The end of input at 120 does not shorten the back-off, which ends at 240.
    retry initial=200; 0: a; a: 40 raises, gives a1; source_ends_at 120
end-of-input-in-a-second-attempt: RETRY-1, RETRY-3
    The input ends during the second attempt: the operator awaits it, and makes no further call.
    retry; 0: a; a: raises, 160 gives a1; source_ends_at 80
barrier-in-a-back-off: SNAP-2, SNAP-5
    The snapshot at 80 holds a, which continues its back-off.
    retry initial=120; 0: a; 80: ^1; a: 40 raises, gives a1
snapshot-on-request-in-a-back-off: SNAP-8
    The requested snapshot at 80 holds a, which continues its back-off.
    retry initial=120; 0: a; a: 40 raises, gives a1; source_ends_at 240; requests 80 7
restored-from-its-last-attempt: REST-1
    Two attempts fail before the crash; the next leg has three attempts again.
    retry; 0: a; 80: ^1; a: 2 times raises, gives a1; source_ends_at 400; crashes 160
restored-records-are-repeated: RETRY-1
    A restored record is called and repeated like a record that was read.
    retry; restore |9(a); 0: c; a: 2 times 40 raises, gives a1; c: 40 gives c1
raising-before-the-first-await: RETRY-1
    The call raises before it waits for anything, twice.
    retry; 0: a; a: 2 times raises, gives a1
raising-where-it-is-called: RETRY-1
    In callback form the function itself raises, twice.
    form callback; retry; 0: a; a: 2 times raises, gives a1
repeated-while-nobody-reads: RETRY-3
    The consumer's pause does not shorten the back-offs.
    retry; 0: a; a: 2 times 40 raises, gives a1; sink pause 120
every-other-record-is-refused-to-the-end: RETRY-1, RETRY-2 in both modes
    Three of six records have no results in three attempts, and so have no outputs.
    capacity 8; retry on_result=empty; 0: a b c d e f; a: 40 gives x; b: 40 gives; c: 40 gives x;
    d: 40 gives; e: 40 gives x; f: 40 gives
every-attempt-is-completed-again-and-again: RETRY-1, RETRY-2 in both modes
    Each call is completed several times, and only its first completion counts.
    form callback; capacity 8; retry on_result=empty; 0: a b c d e f; a: 40 gives x with twice;
    b: 40 gives with twice; c: 40 gives x with twice; d: 40 gives with twice;
    e: 40 gives x with twice; f: 40 gives with twice
late-in-the-second-attempt: RETRY-18, TIME-3 in both modes
    Each call would fail after 80 ms: at 160 the second call has run for 40 ms, and is late.
    timeout 160; handled; retry; 0: a b; 40: c; a b c: 80 raises, late gives -1
handler-that-fails-in-the-first-attempt: TIME-1, TIME-4 in both modes
    The handler's error ends the stream after one call, though any error is a reason to repeat.
    timeout 80; handled; retry; 0: a; a: never, late raises
late-though-results-may-be-refused: TIME-2, TIME-4 in both modes
    The call never answers, so no results can be refused, and its deadline ends the stream.
    timeout 80; retry on_result=empty; 0: a; a: never, late none
failed-as-the-loop-is-blocked-beyond-the-deadline: RETRY-18, TIME-1, TIME-3
    a fails at 40, from a thread, as a call blocks the loop until 160: the handler of a decides.
    form callback; timeout 120; handled; retry; 0: a b;
    a: 40 raises with thread, late gives a-late; b: 40 gives b1 with blocks=120, late gives b-late
raised-then-refused-then-taken: RETRY-1
    The first attempt raises, the results of the second are refused, the third has good results.
    retry on_result=pair; 0: a b; a: 40 raises, 40 gives no never, 40 gives a1;
    b: raises, 80 gives no never, 40 gives b1
five-records-with-the-same-back-offs: RETRY-2, RETRY-3, RETRY-4
    One after the other, the records back off for 40, 80, 160 and, by the cap, 160 ms.
    capacity 1; retry max_attempts=5 cap=160; 0: a b c d e; a b c d e: 4 times raises, gives *1
each-predicate-is-asked-once: RETRY-1
    The predicates refuse the outcomes of two attempts, and the third attempt stands.
    retry on_error=asked on_result=pair; 0: a b; a: 40 raises, 40 gives a1 a2, 40 gives a3;
    b: 2 times 40 raises, 40 gives b1
nobody-is-asked-about-the-last-attempt: RETRY-2
    The only attempt is the last: the predicate, which would raise, is not asked.
    retry max_attempts=1 on_result=breaks; 0: a; a: 40 gives a1
""")
