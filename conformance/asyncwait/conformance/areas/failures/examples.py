"""FAIL: examples of what fails an operator, when, and how the consumer learns it."""

from asyncwait.conformance.evidence import (
    Example,
    at,
    example,
    in_two_modes,
    never,
    raises,
    replies,
)
from asyncwait.spec import Barrier, LatencyMarker, Record, Watermark
from asyncwait.spec.scenario import Handler, Plan, PlannedRetry, SinkStep, Step


def _odd(name: str, error: str, after: int, *rules: str) -> Example:
    return example(
        f"call-raises-{name}: {', '.join(('FAIL-1', 'FAIL-10', *rules))}",
        f"A call that raises {error} has failed like any other.",
        inputs=at(0, Record("a"), Record("b", 6)),
        plans=(never("a"), raises("b", after, error)),
    )


def _kept(name: str, says: str, *, b_after: int, at_b: int = 80, after_end: int = 40) -> Example:
    """Somebody cancels the task of the call of a, which ends at 40, at 80 or so."""
    return example(
        f"task-of-a-call-cancelled-{name}: FAIL-12",
        says,
        inputs=(*at(0, Record("a")), *at(at_b, Record("b")), *at(400, Record("c"))),
        plans=(
            Plan("a", (Step(after=40, results=("a1",), after_end=after_end),)),
            replies("b", b_after, "b1"),
            replies("c", 40, "c1"),
        ),
    )


EXAMPLES: tuple[Example, ...] = (
    example(
        "call-raises: FAIL-1, FAIL-2, FAIL-6, FAIL-9, FAIL-10",
        "A single call raises, nothing else happens, and the error names its record.",
        inputs=at(0, Record("a", 5, "k")),
        plans=(raises("a", 40),),
    ),
    _odd("group", "ExceptionGroup", 40, "FAIL-5"),
    _odd("what-has-a-cause", "Chained", 40),
    _odd("call-failed-of-another", "CallFailed", 40, "FAIL-5"),
    _odd("timeout-of-another", "CallTimedOut", 40, "FAIL-5"),
    _odd("refusal-of-another", "InvalidConfig", 40, "FAIL-5"),
    example(
        "other-operators-errors-are-repeated: RETRY-1",
        "An operator inside the call fails, times out, and can't be opened; then it answers.",
        retry=PlannedRetry(max_attempts=4),
        inputs=at(0, Record("a")),
        plans=(
            Plan(
                "a",
                (
                    *(
                        Step("raise", 40, error=error)
                        for error in ("CallFailed", "CallTimedOut", "InvalidConfig")
                    ),
                    Step(results=("a1",)),
                ),
            ),
        ),
    ),
    *in_two_modes(
        "task-of-a-call-cancelled-as-it-runs: FAIL-1, FAIL-5, FAIL-12",
        "Somebody else cancels the task in which b is called for; that is an error of b.",
        inputs=at(0, Record("a"), Record("b", 6)),
        plans=(never("a"), Plan("b", (Step("raise", 40, error="CancelledError", by_others=True),))),
    ),
    example(
        "task-of-a-call-cancelled-and-spared: POLICY-2, FAIL-12",
        "The failure handler has results for what somebody else has cancelled, and it goes on.",
        failures_handled=True,
        inputs=(*at(0, Record("a")), *at(80, Record("b")), *at(160, Record("c"))),
        plans=(
            Plan(
                "a",
                (Step("raise", 40, error="CancelledError", by_others=True),),
                failure=Handler("reply", ("a?",)),
            ),
            replies("b", 40, "b1"),
            replies("c", 40, "c1"),
        ),
    ),
    _kept(
        "between-two",
        "Nobody is called for when somebody cancels the task of a.",
        b_after=40,
        at_b=120,
    ),
    _kept(
        "as-another-runs",
        "b is called for since 40 when somebody cancels the task of a.",
        b_after=120,
        at_b=40,
    ),
    _kept("as-another-begins", "In that instant b is read, and called for.", b_after=40),
    _kept("while-none-runs", "They cancel it when b has ended, too.", b_after=40, after_end=120),
    example(
        "call-raises-before-its-first-await: FAIL-1, FAIL-2, FAIL-9, FAIL-10",
        "An error in the very first step of a call is the call's error too.",
        mode="unordered",
        inputs=at(0, Record("a"), Record("b", 6)),
        plans=(never("a"), raises("b", 0)),
    ),
    *in_two_modes(
        "callback-completes-exceptionally: FAIL-1, FAIL-2, FAIL-10",
        "In callback form an error fails the stream just so.",
        inputs=at(0, Record("a"), Record("b", 6)),
        plans=(never("a"), raises("b", 40)),
        form="callback",
    ),
    example(
        "callback-raises-at-once: FAIL-1, FAIL-2, FAIL-10",
        "A callback function that raises instead of starting its call has failed.",
        inputs=at(0, Record("a", 5)),
        plans=(raises("a", 0),),
        form="callback",
    ),
    example(
        "failure-does-not-wait-for-its-turn: FAIL-1, FAIL-2",
        "The first record is undecided for another 160 ms when the second fails.",
        inputs=at(0, Record("a"), Record("b", 6)),
        plans=(replies("a", 200, "a1"), raises("b", 40)),
    ),
    example(
        "failure-behind-a-watermark: FAIL-2, FAIL-8",
        "A watermark in front of the failed record does not hold its failure back.",
        mode="unordered",
        inputs=at(0, Record("a", 5), Watermark(9), Record("b", 16)),
        plans=(replies("a", 200, "a1"), raises("b", 40)),
    ),
    example(
        "finished-results-are-not-emitted-after-a-failure: FAIL-2, FAIL-3, FAIL-6",
        "The consumer comes back at 160: a1 is there since 40, the failure since 80, and it wins.",
        mode="unordered",
        inputs=at(0, Record("a"), Record("b")),
        plans=(replies("a", 40, "a1"), raises("b", 80)),
        sink=(SinkStep("pause", 160),),
    ),
    example(
        "rest-of-a-record-is-not-emitted-after-a-failure: FAIL-3",
        "Even a record that is partly handed out stops where it is.",
        inputs=at(0, Record("a"), Record("b")),
        plans=(replies("a", 40, "a1", "a2", "a3"), raises("b", 80)),
        sink=(SinkStep("read", 1), SinkStep("pause", 120)),
    ),
    example(
        "no-snapshot-after-a-failure: FAIL-3",
        "The barrier is due at 120, the stream has failed at 80.",
        inputs=at(0, Record("a"), Record("b")) + at(120, Barrier(1)),
        plans=(never("a"), raises("b", 80)),
        sink=(SinkStep("pause", 160),),
    ),
    example(
        "earlier-failure-of-a-later-record: FAIL-2, FAIL-4",
        "The second record fails first; when the consumer comes back both would have.",
        inputs=at(0, Record("a", 5), Record("b", 6)),
        plans=(raises("a", 120), raises("b", 40)),
        sink=(SinkStep("pause", 200),),
    ),
    example(
        "earlier-failure-behind-a-result: FAIL-4, FAIL-2",
        "The consumer has looked once, so both are called; when it is back, both have failed.",
        inputs=at(0, Record("c"), Record("a", 5), Record("b", 6)),
        plans=(replies("c", 40, "c1"), raises("a", 160), raises("b", 80)),
        sink=(SinkStep("read", 1), SinkStep("pause", 200)),
    ),
    example(
        "earlier-failure-of-equal-records: FAIL-4",
        "Only the timestamp tells which of two equal values failed first.",
        mode="unordered",
        inputs=at(0, Record("a", 5), Record("a", 6)),
        plans=(
            Plan(
                "a",
                (
                    Step("raise", after=120, error="ValueError"),
                    Step("misreturn", after=40, error="none"),
                ),
            ),
        ),
        sink=(SinkStep("pause", 200),),
    ),
    _odd("stop-iteration", "StopIteration", 40, "FAIL-5"),
    _odd("stop-async-iteration", "StopAsyncIteration", 40, "FAIL-5"),
    _odd("stop-async-iteration-at-once", "StopAsyncIteration", 0, "FAIL-5"),
    _odd("a-cancellation-of-its-own", "CancelledError", 40, "FAIL-5"),
    _odd("what-cannot-be-pickled", "Unpicklable", 40, "FAIL-5"),
    example(
        "failure-comes-again: FAIL-6",
        "Each further read gives the same error object, also after leaving.",
        mode="unordered",
        inputs=at(0, Record("a"), Record("b")),
        plans=(replies("a", 0, "a1"), raises("b", 40)),
    ),
    example(
        "source-error-comes-last: FAIL-7",
        "The source raises at 0; the records read before are decided and emitted first.",
        inputs=at(0, Record("a"), Watermark(9), Record("b", 16)),
        plans=(replies("a", 80, "a1"), replies("b", 40, "b1", "b2")),
        source_error="own",
    ),
    example(
        "source-gives-what-is-no-element: FAIL-7",
        "A number comes behind a and b, which come out before the consumer is told.",
        inputs=at(0, Record("a", 5), Record("b", 6)),
        plans=(replies("a", 80, "a1"), replies("b", 40, "b1")),
        source_error="no-element",
    ),
    example(
        "source-error-with-a-full-queue: FAIL-7",
        "Nor does the error of the source overtake a record that waits for room.",
        mode="unordered",
        capacity=1,
        inputs=at(0, Record("a"), Record("b")),
        plans=(replies("a", 80, "a1"), replies("b", 40, "b1")),
        source_error="own",
        sink=(SinkStep("read", 1), SinkStep("pause", 160)),
    ),
    example(
        "source-error-of-an-empty-source: FAIL-6, FAIL-7, FAIL-9",
        "A source may raise before it has given anything; its error comes out as it is.",
        source_error="own",
        source_ends_at=80,
    ),
    example(
        "call-fails-before-the-source-error: FAIL-1, FAIL-2",
        "What was read before the source raised may still fail, and that comes first.",
        inputs=at(0, Record("a"), Record("b", 6)),
        plans=(replies("a", 80, "a1"), raises("b", 40)),
        source_error="own",
    ),
    example(
        "nothing-fails: FAIL-8",
        "Falsy results, none at all and late answers within the deadline are no failures.",
        timeout=160,
        inputs=at(0, Record("a"), Record("b"), Record(0)),
        plans=(replies("a", 40), replies("b", 80, None, 0, ""), replies(0, 120, False)),
    ),
    example(
        "two-calls-fail-in-one-instant: FAIL-2, FAIL-9",
        "Of two failures in one instant either may be raised, plain and alone.",
        mode="unordered",
        inputs=at(0, Record("a", 5), Record("b", 6)),
        plans=(raises("a", 40), raises("b", 40)),
    ),
    example(
        "failure-while-others-clean-up: FAIL-2, FAIL-9",
        "The consumer is told at once; that a cancelled call still cleans up delays only leaving.",
        timeout=160,
        inputs=at(0, Record("a"), Record("b", 6)),
        plans=(
            Plan("a", (Step("never", clean_up=80),), Handler("reply", ("a-late",))),
            raises("b", 40),
        ),
        handled=True,
    ),
    example(
        "call-that-interrupts: FAIL-11",
        "A call raises KeyboardInterrupt while another one runs.",
        inputs=at(0, Record("a"), Record("b")),
        plans=(raises("a", 40, "KeyboardInterrupt"), replies("b", 400)),
        hooks="coroutine",
    ),
    example(
        "nothing-comes-while-the-program-ends: FAIL-11",
        "A handler interrupts the program; a call cleans up, and the consumer comes meanwhile.",
        mode="unordered",
        timeout=80,
        handled=True,
        inputs=at(0, Record("a"), Record("b"), LatencyMarker(1)),
        plans=(
            Plan("a", (Step("never", clean_up=120),), Handler("raise", error="KeyboardInterrupt")),
            replies("b", 0, "b1"),
        ),
        sink=(SinkStep("pause", 160), SinkStep("read", 2), SinkStep("leave")),
    ),
    example(
        "callback-that-exits: FAIL-11",
        "A function in callback form raises SystemExit before it returns.",
        form="callback",
        inputs=at(40, Record("a")),
        plans=(raises("a", 0, "SystemExit"),),
        hooks="plain",
    ),
    example(
        "handler-that-exits: FAIL-11",
        "The timeout handler raises SystemExit.",
        timeout=80,
        inputs=at(0, Record("a"), Record("b")),
        plans=(
            Plan("a", (Step("never"),), Handler("raise", error="SystemExit")),
            replies("b", 40, "b1"),
        ),
        handled=True,
    ),
    example(
        "completed-and-then-raised: FAIL-1, FAIL-10",
        "The function completes its record, and raises before it returns.",
        form="callback",
        inputs=at(0, Record("b")) + at(40, Record("a")),
        plans=(
            Plan("a", (Step("raise", results=("a1",), error="ValueError", throws=True),)),
            replies("b", 200, "b1"),
        ),
    ),
    example(
        "completed-and-then-raised-by-the-next-of-a-key: FAIL-1, FAIL-10",
        "At 40 a has answered and b is called: it completes with nothing, and raises.",
        "key-ordered",
        form="callback",
        inputs=at(0, Record("a", key="x"), Record("b", key="x")),
        plans=(
            replies("a", 40, "a1"),
            Plan("b", (Step("raise", error="ValueError", throws=True),)),
        ),
    ),
    example(
        "source-with-an-error-of-the-contract: FAIL-7",
        "The source is an operator itself, and raises the CallFailed of its own.",
        inputs=at(0, Record("a")),
        plans=(replies("a", 80, "a1"),),
        source_error="contract",
    ),
    example(
        "source-that-raises-a-cancellation: FAIL-7",
        "The source raises a CancelledError that nobody asked for.",
        inputs=at(0, Record("a")),
        plans=(replies("a", 80, "a1"),),
        source_error="cancelled",
        source_ends_at=40,
    ),
    example(
        "failure-of-one-of-two-equal-records: FAIL-1",
        "The second of two equal records fails while the first runs; its timestamp tells it apart.",
        inputs=at(0, Record("a", 5), Record("a", 6)),
        plans=(Plan("a", (Step(after=160), Step("raise", after=40, error="ValueError"))),),
    ),
    example(
        "values-of-any-kind-fail-nothing: FAIL-8, ELEM-3",
        "Values that can't be hashed or compared, and some that are equal across types, in one go.",
        mode="unordered",
        capacity=12,
        timeout=160,
        inputs=at(
            0, *(Record(v, 1) for v in (["x"], {"k": 1}, None, "", 0, False, 1, True, 1.0, "a"))
        ),
        handled=True,
    ),
    example(
        "source-that-ends-the-program: FAIL-11",
        "A KeyboardInterrupt that the source raises is no error of the stream.",
        inputs=at(0, Record("a")) + at(40, Record("b")),
        plans=(replies("a", 0, "a1"), replies("b", 0, "b1")),
        hooks="plain",
        source_ends_at=80,
        source_error="interrupt",
    ),
    example(
        "failure-between-a-result-and-a-watermark: FAIL-1, FAIL-2, FAIL-10",
        "a1 is out at 40; b fails at 80, and the watermark behind it does not come out.",
        inputs=at(0, Record("a", 5), Record("b", 6), Watermark(9)),
        plans=(replies("a", 40, "a1"), raises("b", 80)),
    ),
)
