"""RETRY: examples of attempts, back-offs, and what ends them."""

from asyncwait.conformance.evidence import (
    Example,
    at,
    example,
    examples_of,
    fails,
    handler,
    in_two_modes,
    never,
    raises,
    replies,
)
from asyncwait.spec import Barrier, Record, Snapshot
from asyncwait.spec.scenario import (
    GRID,
    LIMITS,
    Crash,
    Handler,
    Plan,
    PlannedRetry,
    Scenario,
    SinkStep,
    SnapshotRequest,
    Step,
)

A, B, C = Record("a"), Record("b"), Record("c")

_FAILURE = Step("raise", 40, error="ValueError")
_AT_ONCE = Step("raise", error="ValueError")
_DONE = Step(results=("a1",))
_FAR = LIMITS.timeout - LIMITS.timeout % GRID


def _gives(*results: str, after: int = 40) -> Step:
    return Step(after=after, results=results)


def _every_other(*, twice: bool) -> Scenario:
    """Six records, of which the second, fourth and sixth have no results in any attempt."""
    return Scenario(
        capacity=8,
        form="callback" if twice else "coroutine",
        retry=PlannedRetry(on_result="empty"),
        inputs=at(0, *map(Record, "abcdef")),
        plans=tuple(
            Plan(value, (Step(after=40, results=results, twice=twice),))
            for value, results in zip("abcdef", 3 * (("x",), ()), strict=True)
        ),
    )


EXAMPLES: tuple[Example, ...] = (
    example(
        "attempt-raises-at-its-deadline: RES-4",
        "In callback form; the second call of a begins at 280, and raises. In floats that may be a "
        "little before the deadline: nothing but that can decide by then, whichever comes first.",
        form="callback",
        timeout=80,
        handled=True,
        retry=PlannedRetry(),
        inputs=(*at(200, A), *at(240, B), *at(280, C)),
        plans=(
            Plan(
                "a",
                (Step("misreturn", 40, error="broken"), Step("raise", twice=True)),
                Handler("reply", ("a?",)),
            ),
            Plan("c", (Step(results=("c1",), twice=True),)),
        ),
        requests=(SnapshotRequest(240, 0),),
    ),
    example(
        "repeated-on-a-quiet-stream: RETRY-1, RETRY-2, RETRY-3, RETRY-4, RETRY-10",
        "Nothing else happens while a backs off, for 40 ms and then for 80.",
        retry=PlannedRetry(),
        inputs=at(0, A),
        plans=(Plan("a", (_FAILURE, _FAILURE, _gives("a1"))),),
        source_ends_at=800,
    ),
    example(
        "equal-records-each-with-its-own-back-off: RETRY-1, RETRY-3, RETRY-4, ORD-4",
        "Three records with one value fail at different times: each backs off for 40, then 80 ms.",
        mode="unordered",
        retry=PlannedRetry(max_attempts=4),
        inputs=at(0, Record("a", 1), Record("a", 2)) + at(80, Record("a", 3)),
        plans=(Plan("a", (*[_AT_ONCE] * 2, *[_FAILURE] * 4, _gives("a1"))),),
    ),
    example(
        "back-offs-up-to-their-cap: RETRY-3, RETRY-4",
        "40, 120, then 160 ms each time: the cap holds.",
        retry=PlannedRetry(max_attempts=6, multiplier=3, cap=160),
        inputs=at(0, A),
        plans=(fails("a", 5, "a1"),),
    ),
    example(
        "first-back-off-beyond-the-cap: RETRY-3, RETRY-4",
        "The cap of 40 ms holds for the first back-off, too.",
        retry=PlannedRetry(initial=200, cap=40),
        inputs=at(0, A),
        plans=(fails("a", 1, "a1"),),
    ),
    example(
        "back-offs-with-jitter: RETRY-3, RETRY-4",
        "Of 400 ms chance leaves out half at most.",
        retry=PlannedRetry(initial=400, multiplier=1, jitter=50, max_attempts=6),
        inputs=at(0, A, B),
        plans=(fails("a", 4, "a1"), fails("b", 4, "b1")),
    ),
    example(
        "many-records-failing-together: RETRY-1, RETRY-3, RETRY-4, CAP-2",
        "Nine records fail in turn; none backs off for longer because others did.",
        mode="unordered",
        capacity=3,
        retry=PlannedRetry(),
        inputs=at(0, *map(Record, "abcdefghi")),
        plans=tuple(fails(value, 1, f"{value}1", after=40) for value in "abcdefghi"),
    ),
    *in_two_modes(
        example(
            "all-attempts-fail: RETRY-2, RETRY-7",
            "The third call is the last one, and the error tells of three attempts.",
            retry=PlannedRetry(),
            inputs=at(0, A, B),
            plans=(raises("a", 40),),
        )
    ),
    example(
        "one-attempt-is-all: RETRY-2, RETRY-7",
        "With one attempt there is no repetition.",
        retry=PlannedRetry(max_attempts=1),
        inputs=at(0, A),
        plans=(raises("a", 40),),
    ),
    example(
        "told-when-to-come-again: RETRY-5",
        "RetryAfter says 120 ms, where the back-off would have been 40; then 0, at once.",
        retry=PlannedRetry(on_error="some"),
        inputs=at(0, A),
        plans=(
            Plan(
                "a",
                (
                    Step("raise", 40, error="RetryAfter", retry_after=120),
                    Step("raise", 40, error="RetryAfter"),
                    _gives("a1"),
                ),
            ),
        ),
    ),
    example(
        "told-once-too-often: RETRY-2, RETRY-7",
        "RetryAfter makes no attempts: the second is the last.",
        retry=PlannedRetry(max_attempts=2),
        inputs=at(0, A),
        plans=(Plan("a", (Step("raise", 40, error="RetryAfter", retry_after=40),)),),
    ),
    example(
        "told-where-nothing-is-repeated: FAIL-1, FAIL-10",
        "Without a Retry, RetryAfter is an error like any other.",
        inputs=at(0, A),
        plans=(Plan("a", (Step("raise", 40, error="RetryAfter", retry_after=40),)),),
    ),
    example(
        "errors-that-are-no-reason: RETRY-6, RETRY-7",
        "Only a ValueError is a reason: a is repeated once, and its second error stands.",
        retry=PlannedRetry(on_error="some"),
        inputs=at(0, A),
        plans=(Plan("a", (_FAILURE, Step("raise", 40))),),
    ),
    example(
        "errors-that-a-predicate-knows: RETRY-1, RETRY-6",
        "The predicate is given the very error that was raised.",
        retry=PlannedRetry(on_error="asked"),
        inputs=at(0, A, B),
        plans=(fails("a", 1, "a1", after=40), Plan("b", (Step("raise", 200),))),
    ),
    example(
        "what-is-no-collection-is-no-reason: RETRY-6, RES-3",
        "A call that forgets its results will forget them again.",
        retry=PlannedRetry(),
        inputs=at(0, A),
        plans=(Plan("a", (Step("misreturn", 40, error="none"), _gives("a1"))),),
    ),
    example(
        "collection-that-breaks-is-a-reason: RETRY-1, RES-6",
        "Reading the results raised: that is an error of the call, and is repeated.",
        retry=PlannedRetry(max_attempts=2),
        inputs=at(0, A),
        plans=(Plan("a", (Step("misreturn", 40, error="broken"),) * 2),),
    ),
    example(
        "results-that-are-refused: RETRY-1, RETRY-6, RETRY-8",
        "Two results are refused, three are not: what comes out is a1, a2, a3.",
        mode="unordered",
        retry=PlannedRetry(on_result="pair"),
        inputs=at(0, A, B),
        plans=(
            Plan("a", (_gives("a-no", "a-never"), _gives("a1", "a2", "a3"))),
            replies("b", 80, "b1"),
        ),
    ),
    example(
        "results-that-are-refused-to-the-end: RETRY-2",
        "What the last attempt gives stands, whatever the predicate would say.",
        retry=PlannedRetry(on_result="empty", max_attempts=2),
        inputs=at(0, A, B),
        plans=(Plan("a", (Step(after=40),)), replies("b", 40, "b1")),
    ),
    example(
        "answers-of-attempts-that-are-over: RETRY-9",
        "a is completed again while it backs off, and while its next call runs.",
        form="callback",
        retry=PlannedRetry(),
        inputs=at(0, A),
        plans=(
            Plan(
                "a",
                (
                    Step("raise", 40, error="ValueError", twice=True),
                    Step("raise", 40, error="ValueError", twice=True, again=120),
                    _gives("a1", after=120),
                ),
            ),
        ),
        source_ends_at=400,
    ),
    example(
        "late-answer-of-an-attempt-from-a-thread: RETRY-9, RETRY-1",
        "The first attempt has run into its limit; its answer comes while the second runs.",
        form="callback",
        retry=PlannedRetry(attempt_timeout=80),
        inputs=at(0, A),
        plans=(
            Plan("a", (Step(after=160, results=("a-late",), thread=True), _gives("a1", after=40))),
            replies("b", 40, "b1"),
        ),
        source_ends_at=400,
    ),
    example(
        "late-answer-of-an-attempt-that-would-not-end: RETRY-9, RETRY-12, TIME-8",
        "The first attempt swallows its cancellation, and answers when the second has begun.",
        retry=PlannedRetry(attempt_timeout=80, initial=80),
        inputs=at(0, A),
        plans=(
            Plan(
                "a",
                (
                    Step("never", results=("a-late",), swallow=True, clean_up=120),
                    _gives("a1", after=80),
                ),
            ),
        ),
        source_ends_at=400,
    ),
    example(
        "deadline-in-a-back-off: RETRY-11, TIME-1, TIME-3",
        "At 120 ms a backs off until 440: the handler decides, and a is not called again.",
        timeout=120,
        handled=True,
        retry=PlannedRetry(initial=400),
        inputs=at(0, A),
        plans=(Plan("a", (_FAILURE, _gives("a1")), handler("a-late")),),
        source_ends_at=800,
    ),
    *in_two_modes(
        example(
            "attempt-fails-at-the-deadline: TIME-1",
            "The first attempt fails in the instant of the deadline: nothing is repeated.",
            timeout=80,
            retry=PlannedRetry(max_attempts=5, initial=40),
            inputs=at(0, A),
            plans=(Plan("a", (Step("raise", 80, error="ValueError"),), handler("late")),),
            handled=True,
            source_ends_at=480,
        )
    ),
    example(
        "deadline-in-the-last-attempt: RETRY-11, TIME-2, TIME-5",
        "The time of a began with its first call: it is over at 200, in the middle of the third.",
        timeout=200,
        handled=True,
        retry=PlannedRetry(multiplier=1),
        inputs=at(0, A),
        plans=(Plan("a", (_FAILURE, _FAILURE, Step("never")), handler("a-late")),),
    ),
    example(
        "deadline-in-a-back-off-without-a-handler: RETRY-11, RETRY-7, TIME-4, FAIL-10",
        "The error is the timeout's, and tells of two attempts.",
        timeout=120,
        retry=PlannedRetry(initial=40, multiplier=10),
        inputs=at(0, A),
        plans=(raises("a", 0),),
    ),
    example(
        "handler-that-fails-is-not-repeated: RETRY-11, TIME-4, FAIL-10",
        "The handler's error is final, although it would be a reason for another attempt.",
        timeout=160,
        handled=True,
        retry=PlannedRetry(),
        inputs=at(0, A),
        plans=(Plan("a", (_FAILURE, Step("never")), Handler("raise", error="ValueError")),),
    ),
    example(
        "attempts-that-hang: RETRY-1, RETRY-4, RETRY-12",
        "Each of the first two calls is cancelled when it has taken 80 ms.",
        retry=PlannedRetry(attempt_timeout=80),
        inputs=at(0, A),
        plans=(Plan("a", (Step("never"), Step("never", clean_up=40), _gives("a1"))),),
    ),
    example(
        "attempt-that-hangs-is-no-reason: RETRY-6, RETRY-7",
        "A TimeoutError is none of the errors that are repeated, and fails the operator.",
        retry=PlannedRetry(attempt_timeout=80, on_error="some"),
        inputs=at(0, A),
        plans=(Plan("a", (Step("never"),)),),
    ),
    example(
        "attempt-that-cleans-up-for-long: RETRY-4, RETRY-10, RETRY-12",
        "The call is over by 80, cleans up until 200, and is abandoned when a is called again.",
        retry=PlannedRetry(attempt_timeout=80),
        inputs=at(0, A),
        plans=(Plan("a", (Step("never", clean_up=120), _gives("a1"))),),
    ),
    example(
        "attempt-over-while-the-loop-is-blocked: RETRY-4, RETRY-10, TIME-8",
        "At 160, when b lets go of the loop, the attempt at a is cancelled, and its back-off over.",
        mode="unordered",
        retry=PlannedRetry(attempt_timeout=80),
        inputs=at(0, A, B),
        plans=(
            Plan("a", (Step("never", clean_up=120), _gives("a1"))),
            Plan("b", (Step(after=40, blocks=120), Step(results=("b1",)))),
        ),
    ),
    example(
        "attempts-shorter-than-a-turn: RETRY-10, RETRY-12, STAT-8",
        "A call is over after 10 ms, and ends 4 later; it is to be repeated after 1.",
        retry=PlannedRetry(attempt_timeout=10, initial=1, max_attempts=4),
        inputs=at(0, A),
        plans=(Plan("a", (*[Step("never", clean_up=4)] * 2, Step("never", clean_up=80), _DONE)),),
        figures_at=(13, 60),
    ),
    example(
        "one-call-too-many-runs-on: RETRY-10, TIME-9",
        "Two calls of a run on, more than the capacity: nothing begins any more.",
        capacity=1,
        retry=PlannedRetry(attempt_timeout=10, initial=1),
        inputs=at(0, A),
        plans=(Plan("a", (*[Step("never", clean_up=400)] * 2, _DONE)),),
        figures_at=(13,),
    ),
    example(
        "times-beyond-any-clock: RETRY-11",
        "Longer than calendars and timers count: the deadline ends the back-off of a, b answers.",
        timeout=80,
        handled=True,
        retry=PlannedRetry(initial=_FAR, multiplier=1, cap=_FAR, attempt_timeout=_FAR),
        inputs=at(0, A, B),
        plans=(Plan("a", (_FAILURE, _DONE), handler("a?")), Plan("b", (_gives("b1"),))),
    ),
    example(
        "predicate-of-errors-that-raises: RETRY-13",
        "The error of the predicate is told at once, with the record.",
        retry=PlannedRetry(on_error="breaks"),
        inputs=at(0, A),
        plans=(fails("a", 1, "a1"),),
    ),
    example(
        "predicate-of-results-that-raises: RETRY-13",
        "In callback form, by a supplier from a thread: there such an error is easily lost.",
        form="callback",
        retry=PlannedRetry(on_result="breaks"),
        inputs=at(0, A),
        plans=(Plan("a", (Step(after=40, results=("a1",), supplied=True, thread=True),)),),
    ),
    example(
        "failing-while-another-backs-off: RETRY-14, FAIL-2",
        "b fails for good at 80, and a, which would be called again at 440, is not.",
        retry=PlannedRetry(initial=400, on_error="some"),
        inputs=at(0, A, B),
        plans=(raises("a", 40), Plan("b", (Step("raise", 80),))),
    ),
    example(
        "leaving-in-a-back-off: RETRY-14, END-10, END-11",
        "Nobody waits for the back-off of ten seconds.",
        retry=PlannedRetry(initial=10_000),
        inputs=at(0, A),
        plans=(raises("a", 40),),
        source_ends_at=400,
        cancel_at=120,
    ),
    example(
        "repeated-behind-the-end-of-input: RETRY-15, RETRY-1, END-1",
        "The input ends before the first call has failed.",
        retry=PlannedRetry(),
        inputs=at(0, A),
        plans=(fails("a", 2, "a1", after=40),),
    ),
    example(
        "end-of-input-in-a-back-off: RETRY-15, RETRY-3",
        "The end of input at 120 does not cut the back-off until 240 short.",
        retry=PlannedRetry(initial=200),
        inputs=at(0, A),
        plans=(fails("a", 1, "a1", after=40),),
        source_ends_at=120,
    ),
    example(
        "end-of-input-in-a-second-attempt: RETRY-1, RETRY-3",
        "The input ends while the second attempt runs: it is awaited, and nothing else is called.",
        retry=PlannedRetry(max_attempts=3, initial=40),
        inputs=at(0, A),
        plans=(Plan("a", (_AT_ONCE, _gives("a1", after=160))),),
        source_ends_at=80,
    ),
    example(
        "barrier-in-a-back-off: RETRY-15, SNAP-2, SNAP-5",
        "The snapshot at 80 holds a, which goes on backing off.",
        retry=PlannedRetry(initial=120),
        inputs=at(0, A) + at(80, Barrier(1)),
        plans=(fails("a", 1, "a1", after=40),),
    ),
    example(
        "snapshot-on-request-in-a-back-off: RETRY-15, SNAP-8",
        "The same, on request.",
        retry=PlannedRetry(initial=120),
        inputs=at(0, A),
        plans=(fails("a", 1, "a1", after=40),),
        requests=(SnapshotRequest(80, 7),),
        source_ends_at=240,
    ),
    example(
        "restored-from-its-last-attempt: RETRY-16, REST-1",
        "Two attempts have failed before the crash; the run that follows has three again.",
        retry=PlannedRetry(),
        inputs=at(0, A) + at(80, Barrier(1)),
        plans=(fails("a", 2, "a1"),),
        crashes=(Crash(160),),
        source_ends_at=400,
    ),
    example(
        "restored-records-are-repeated: RETRY-16, RETRY-1",
        "What was stored is called, and repeated, like what is read.",
        retry=PlannedRetry(),
        inputs=at(0, C),
        plans=(fails("a", 2, "a1", after=40), replies("c", 40, "c1")),
        restore=Snapshot(9, (A,)),
    ),
    example(
        "raising-before-the-first-await: RETRY-17, RETRY-1",
        "The call raises before it waits for anything, twice.",
        retry=PlannedRetry(),
        inputs=at(0, A),
        plans=(fails("a", 2, "a1"),),
    ),
    example(
        "raising-where-it-is-called: RETRY-17, RETRY-1",
        "The same in callback form: the function itself raises.",
        form="callback",
        retry=PlannedRetry(),
        inputs=at(0, A),
        plans=(fails("a", 2, "a1"),),
    ),
    example(
        "repeated-while-nobody-reads: RETRY-3",
        "A consumer that pauses does not hurry anything.",
        retry=PlannedRetry(),
        inputs=at(0, A),
        plans=(fails("a", 2, "a1", after=40),),
        sink=(SinkStep("pause", 120),),
    ),
    *in_two_modes(
        examples_of(_every_other)(
            "every-other-record-is-refused-to-the-end: RETRY-1, RETRY-2",
            "Three of six records have no results in three attempts, and nothing comes of them.",
            twice=False,
        )
    ),
    *in_two_modes(
        examples_of(_every_other)(
            "every-attempt-is-completed-again-and-again: RETRY-1, RETRY-2, RETRY-9",
            "The same, and each call is completed several times; only the first completion counts.",
            twice=True,
        )
    ),
    *in_two_modes(
        example(
            "late-in-the-second-attempt: RETRY-11, TIME-3",
            "Each call would fail after 80 ms: at 160 the second one has run for 40, and is late.",
            timeout=160,
            handled=True,
            retry=PlannedRetry(),
            inputs=at(0, A, B) + at(40, C),
            plans=tuple(
                Plan(value, (Step("raise", 80, error="ValueError"),), handler(-1))
                for value in "abc"
            ),
        )
    ),
    *in_two_modes(
        example(
            "handler-that-fails-in-the-first-attempt: TIME-1, TIME-4",
            "The handler's error ends it all after one call, though any error is a reason for "
            "another.",
            timeout=80,
            handled=True,
            retry=PlannedRetry(),
            inputs=at(0, A),
            plans=(Plan("a", (Step("never"),), Handler("raise", error="ValueError")),),
        )
    ),
    *in_two_modes(
        example(
            "late-though-results-may-be-refused: TIME-2, TIME-4",
            "The call never answers, so there is nothing to refuse, and its deadline is the end.",
            timeout=80,
            retry=PlannedRetry(on_result="empty"),
            inputs=at(0, A),
            plans=(never("a"),),
        )
    ),
    example(
        "failed-as-the-loop-is-blocked-beyond-the-deadline: RETRY-11, TIME-1, TIME-3",
        "a fails at 40, from a thread, as a call blocks the loop until 160: its handler decides.",
        timeout=80,
        handled=True,
        form="callback",
        retry=PlannedRetry(),
        inputs=at(0, A, B),
        plans=(
            Plan("a", (Step("raise", 40, error="ValueError", thread=True),), handler("a-late")),
            Plan("b", (Step(after=40, results=("b1",), blocks=120),), handler("b-late")),
        ),
    ),
    example(
        "raised-then-refused-then-taken: RETRY-1, RETRY-8",
        "The first attempt raises, the second one's results are refused, the third one's are not.",
        retry=PlannedRetry(on_result="pair"),
        inputs=at(0, A, B),
        plans=(
            Plan("a", (_FAILURE, _gives("no", "never"), _gives("a1"))),
            Plan("b", (_AT_ONCE, _gives("no", "never", after=80), _gives("b1"))),
        ),
    ),
    example(
        "five-records-with-the-same-back-offs: RETRY-2, RETRY-3, RETRY-4",
        "One after the other backs off for 40, 80, 160 and, by the cap, 160 ms.",
        capacity=1,
        retry=PlannedRetry(max_attempts=5, cap=160),
        inputs=at(0, *map(Record, "abcde")),
        plans=tuple(fails(value, 4, f"{value}1") for value in "abcde"),
    ),
    example(
        "nobody-is-asked-about-the-last-attempt: RETRY-2",
        "There is one attempt: a predicate that would raise is not asked what it thinks of it.",
        retry=PlannedRetry(max_attempts=1, on_result="breaks"),
        inputs=at(0, A),
        plans=(replies("a", 40, "a1"),),
    ),
)
