"""TIME: examples of deadlines, handlers, and calls that outlive their records."""

from asyncwait.conformance.evidence import (
    Example,
    at,
    handler,
    in_two_modes,
    never,
    outlives,
    replies,
)
from asyncwait.spec import Record
from asyncwait.spec.scenario import GRID, LIMITS, Handler, Plan, Scenario, SinkStep, Step, Timed

_LATE_ERROR = Step("raise", 400, error="ValueError", swallow=True, clean_up=80)

EXAMPLES: tuple[Example, ...] = (
    Example(
        "handler-only-for-what-is-late",
        ("TIME-1", "TIME-3"),
        "Both deadlines pass at 120, but b has answered and only waits for its turn.",
        Scenario(
            timeout=120,
            inputs=at(0, Record("a"), Record("b")) + at(80, Record("c")),
            plans=(never("a", "a-late"), replies("b", 40, "b1"), replies("c", 80, "c1")),
            handled=True,
        ),
    ),
    Example(
        "handler-gives-several-results",
        ("TIME-1", "TIME-2", "TIME-3"),
        "What the handler gives comes out as the call's results would, with timestamp and key.",
        Scenario(
            mode="unordered",
            timeout=80,
            inputs=at(0, Record("a", 5, "k"), Record("b", 6, "k"), Record("b", 7, "m")),
            plans=(never("a", "a1", "a2"), never("b", "b1")),
            handled=True,
        ),
    ),
    Example(
        "handler-after-two-days",
        ("TIME-1", "TIME-2", "TIME-3"),
        "A deadline is kept however late it is.",
        Scenario(
            timeout=172_800_000,
            inputs=at(0, Record("a")),
            plans=(never("a", "a-late"),),
            handled=True,
        ),
    ),
    Example(
        "deadline-in-millions-of-years",
        ("RES-1", "END-2", "END-4"),
        "A deadline that nobody lives to see takes part in nothing, and leaves nothing behind.",
        Scenario(
            timeout=LIMITS.timeout - LIMITS.timeout % GRID,
            inputs=at(0, Record("a")) + at(80, Record("b")),
            plans=(replies("a", 80, "a1"), replies("b", 40, "b1")),
            handled=True,
        ),
    ),
    Example(
        "handler-gives-an-empty-collection",
        ("TIME-1", "TIME-2", "TIME-5"),
        "A handler may decide that a late record has no results.",
        Scenario(
            capacity=1,
            timeout=80,
            inputs=at(0, Record("a"), Record("b")),
            plans=(Plan("a", (Step("never"),), Handler("reply")), replies("b", 40, "b1")),
            handled=True,
        ),
    ),
    Example(
        "deadline-while-nobody-reads",
        ("TIME-1", "TIME-2", "TIME-5"),
        "The handler is asked at 80 although the consumer comes back at 200 only.",
        Scenario(
            timeout=80,
            inputs=at(0, Record("a"), Record("b")),
            plans=(never("a", "a-late"), replies("b", 40, "b1")),
            handled=True,
            sink=(SinkStep("pause", 200),),
        ),
    ),
    Example(
        "deadline-behind-a-full-queue",
        ("TIME-2", "TIME-7"),
        "The deadline of the only admitted record makes room for the one that waits.",
        Scenario(
            capacity=1,
            timeout=80,
            inputs=at(0, Record("a"), Record("b")),
            plans=(never("a", "a-late"), never("b", "b-late")),
            handled=True,
        ),
    ),
    Example(
        "deadline-without-a-handler",
        ("TIME-2", "TIME-4"),
        "Nothing else happens at 80: the deadline alone must end the stream.",
        Scenario(timeout=80, inputs=at(0, Record("a", 5)), plans=(never("a"),)),
    ),
    Example(
        "deadline-behind-an-earlier-record",
        ("TIME-2", "TIME-4", "TIME-10"),
        "The record that times out is named, not the one that came before it and answered.",
        Scenario(
            timeout=120,
            inputs=at(0, Record("a"), Record("b", 6)) + at(80, Record("a", 7)),
            plans=(replies("a", 80, "a1"), never("b")),
        ),
    ),
    Example(
        "deadline-after-the-end-of-input",
        ("TIME-2", "TIME-3"),
        "Deadlines hold while the operator drains.",
        Scenario(
            mode="unordered",
            timeout=80,
            inputs=at(0, Record("a")) + at(40, Record("b")),
            plans=(never("a", "a-late"), never("b", "b-late")),
            handled=True,
        ),
    ),
    Example(
        "handler-gives-none",
        ("TIME-1", "TIME-4"),
        "A handler that returns None does not keep its record from failing the stream.",
        Scenario(timeout=80, inputs=at(0, Record("a", 5)), plans=(never("a"),), handled=True),
    ),
    Example(
        "late-answer-behind-a-handler-that-gives-none",
        ("TIME-4", "TIME-6", "FAIL-3"),
        "The record failed at its deadline, so that an answer behind it is none, read late or not.",
        Scenario(
            timeout=40,
            form="callback",
            inputs=at(0, Record("a")),
            plans=(Plan("a", (Step(after=80, results=("a1",)),), handler()),),
            handled=True,
            sink=(SinkStep("pause", 160),),
        ),
    ),
    Example(
        "handler-raises",
        ("TIME-1", "TIME-4", "FAIL-10"),
        "The error is the timeout; what the handler raised is its cause.",
        Scenario(
            mode="unordered",
            timeout=80,
            inputs=at(0, Record("a", 5)),
            plans=(Plan("a", (Step("never"),), Handler("raise", error="ValueError")),),
            handled=True,
        ),
    ),
    Example(
        "late-call-is-cancelled",
        ("TIME-5",),
        "The call of a would have answered at 200; it is cancelled at its deadline.",
        Scenario(
            timeout=80,
            inputs=at(0, Record("a")) + at(200, Record("b")),
            plans=(
                Plan("a", (Step(after=200, results=("a1",)),), Handler("reply", ("a-late",))),
                replies("b", 40, "b1"),
            ),
            handled=True,
        ),
    ),
    Example(
        "late-result-of-a-stubborn-call",
        ("TIME-3", "TIME-5", "TIME-6", "TIME-8"),
        "A call that swallows its cancellation gives a1 at 160, when the handler has long decided.",
        Scenario(
            timeout=80,
            inputs=at(0, Record("a")) + at(200, Record("b")),
            plans=(outlives("a", 80, "a1", "a-late"), replies("b", 40, "b1")),
            handled=True,
        ),
    ),
    Example(
        "late-error",
        ("TIME-3", "TIME-5", "FAIL-8"),
        "A call that swallows its cancellation raises at 160, which concerns nobody any more.",
        Scenario(
            timeout=80,
            inputs=at(0, Record("a")) + at(200, Record("b")),
            plans=(
                Plan("a", (_LATE_ERROR,), handler("a-late")),
                replies("b", 40, "b1"),
            ),
            handled=True,
        ),
    ),
    Example(
        "late-result-while-the-handlers-result-waits",
        ("TIME-6", "TIME-8"),
        "Both results of a are there when the consumer comes back; only the handler's comes out.",
        Scenario(
            mode="unordered",
            timeout=80,
            inputs=at(0, Record("a")),
            plans=(outlives("a", 80, "a1", "a-late"),),
            handled=True,
            sink=(SinkStep("pause", 240),),
        ),
    ),
    Example(
        "late-completion-of-a-callback",
        ("TIME-2", "TIME-6"),
        "A callback can't be cancelled: a is completed at 160, after its handler was asked.",
        Scenario(
            timeout=80,
            inputs=at(0, Record("a")) + at(200, Record("b")),
            plans=(
                Plan("a", (Step(after=160, results=("a1",)),), Handler("reply", ("a-late",))),
                replies("b", 40, "b1"),
            ),
            handled=True,
            form="callback",
        ),
    ),
    Example(
        "waiting-for-room-is-not-timed",
        ("TIME-7", "TIME-10"),
        "The fourth record is there from 0 on and is called at 120: it has until 200.",
        Scenario(
            capacity=1,
            timeout=80,
            inputs=at(0, Record("a"), Record("b"), Record("a"), Record("c")),
            plans=(replies("a", 40, "a1"), replies("b", 40, "b1"), replies("c", 40, "c1")),
        ),
    ),
    Example(
        "waiting-for-room-moves-the-deadline",
        ("TIME-1", "TIME-7"),
        "The handler is asked for b at 120, which is 80 after its call and 120 after its arrival.",
        Scenario(
            mode="unordered",
            capacity=1,
            timeout=80,
            inputs=at(0, Record("a"), Record("b")),
            plans=(replies("a", 40, "a1"), never("b", "b-late")),
            handled=True,
        ),
    ),
    Example(
        "abandoned-calls-are-counted",
        ("TIME-5", "TIME-8", "TIME-9"),
        "Two calls run on past their deadlines, which two may; the third ends when it is told to.",
        Scenario(
            mode="unordered",
            capacity=2,
            timeout=80,
            inputs=at(0, Record("a"), Record("b")) + at(160, Record("c")),
            plans=(
                outlives("a", 160, "a1", "a-late"),
                outlives("b", 200, "b1", "b-late"),
                never("c", "c-late"),
            ),
            handled=True,
            source_ends_at=320,
        ),
    ),
    Example(
        "too-many-abandoned-calls",
        ("TIME-9",),
        "At 160 a second call runs on, the capacity is one: no silent stall, but a failure.",
        Scenario(
            capacity=1,
            timeout=80,
            inputs=at(0, Record("a"), Record("b"), Record("c")),
            plans=(
                outlives("a", 400, "a1", "a-late"),
                outlives("b", 400, "b1", "b-late"),
                replies("c", 40, "c1"),
            ),
            handled=True,
            source_ends_at=240,
        ),
    ),
    Example(
        "answered-and-not-yet-read",
        ("TIME-10",),
        "The answer came at 40; that nobody takes it before 200 is no reason to time out at 80.",
        Scenario(
            timeout=80,
            inputs=at(0, Record("a"), Record("b")),
            plans=(replies("a", 40, "a1"), replies("b", 0, "b1")),
            sink=(SinkStep("pause", 200),),
        ),
    ),
    Example(
        "answer-and-deadline-in-one-instant",
        ("TIME-2",),
        "The answer of a comes at its very deadline: either may win, and one of them does.",
        Scenario(
            timeout=80,
            inputs=at(0, Record("a"), Record("b")) + at(40, Record("c")),
            plans=(
                Plan("a", (Step(after=80, results=("a1",)),), Handler("reply", ("a-late",))),
                never("b", "b-late"),
                replies("c", 40, "c1"),
            ),
            handled=True,
        ),
    ),
    Example(
        "deadline-while-the-loop-is-blocked",
        ("TIME-2", "TIME-6"),
        "At 40 a call blocks the loop until 160; the deadline of the other is 80.",
        Scenario(
            timeout=80,
            inputs=at(0, Record("a"), Record("b")),
            plans=(
                Plan("a", (Step("never"),), Handler("reply", ("a-late",))),
                Plan("b", (Step(after=40, results=("b1",), blocks=120),), handler("b?")),
            ),
            handled=True,
        ),
    ),
    Example(
        "answer-that-waits-behind-a-block",
        ("TIME-3", "TIME-6"),
        "The call would answer at 120, before its deadline, but the loop is blocked until 200.",
        Scenario(
            mode="unordered",
            timeout=160,
            inputs=at(0, Record("a"), Record("b")),
            plans=(
                Plan("a", (Step(after=120, results=("a1",)),), Handler("reply", ("a-late",))),
                Plan("b", (Step(after=80, results=("b1",), blocks=120),), handler("b?")),
            ),
            handled=True,
        ),
    ),
    Example(
        "handler-that-blocks-the-loop",
        ("TIME-1", "TIME-3"),
        "A handler blocks the loop; the call that it stands for ends with its cancellation.",
        Scenario(
            timeout=40,
            inputs=at(0, Record("a")) + at(40, Record("b")),
            plans=(
                Plan("a", (Step("never"),), Handler("reply", ("a-late",), blocks=80)),
                never("b", "b-late"),
            ),
            handled=True,
        ),
    ),
    Example(
        "consumer-and-source-block-the-loop",
        ("TIME-2",),
        "The source and the consumer block the loop while deadlines pass.",
        Scenario(
            timeout=80,
            inputs=(*at(0, Record("a")), Timed(40, Record("b"), blocks=80), *at(80, Record("c"))),
            plans=(
                never("a", "a-late"),
                never("b", "b-late"),
                Plan("c", (Step(after=40, results=("c1",)),), handler("c?")),
            ),
            handled=True,
            sink=(SinkStep("read", 1), SinkStep("block", 120)),
        ),
    ),
    Example(
        "late-completion-while-another-is-in-its-place",
        ("TIME-3", "TIME-6"),
        "When a is completed at 160 there is room for one, and b has it since 120.",
        Scenario(
            capacity=1,
            timeout=120,
            form="callback",
            inputs=at(0, Record("a"), Record("b")),
            plans=(
                Plan("a", (Step(after=160, results=("a1",)),), Handler("reply", ("a-late",))),
                Plan("b", (Step(after=80, results=("b1",)),), Handler("reply", ("b-late",))),
            ),
            handled=True,
        ),
    ),
    Example(
        "abandoned-calls-one-after-the-other",
        ("TIME-8", "TIME-9"),
        "Three calls outlive their records, as one may at a time: each ends before the next.",
        Scenario(
            capacity=1,
            timeout=40,
            inputs=at(0, Record("a")) + at(160, Record("a")) + at(320, Record("a")),
            plans=(outlives("a", 80, "late", "a?"),),
            handled=True,
            source_ends_at=480,
        ),
    ),
    Example(
        "deadline-behind-an-answer-that-nobody-has-taken",
        ("TIME-4", "TIME-10"),
        "The head has answered at 40 and waits for its consumer when the second record is late.",
        Scenario(
            timeout=80,
            inputs=at(0, Record("a", 5), Record("b", 6)),
            plans=(replies("a", 40, "a1"), never("b")),
            sink=(SinkStep("pause", 160),),
        ),
    ),
    *in_two_modes(
        "deadline-before-a-finished-record",
        ("TIME-2", "TIME-4"),
        "a is late at 80 and nobody handles that; b is finished since 40, and out if it may be.",
        Scenario(
            timeout=80,
            inputs=at(0, Record("a", 5), Record("b", 6)),
            plans=(never("a"), replies("b", 40, "b1")),
        ),
    ),
    Example(
        "answered-as-the-loop-is-blocked-beyond-the-deadline",
        ("TIME-1", "TIME-10"),
        "a is answered at 40, from a thread; in that instant a call blocks the loop until 160.",
        Scenario(
            timeout=80,
            form="callback",
            inputs=at(0, Record("c"), Record("a"), Record("b")),
            plans=(
                replies("c", 0, "c1"),
                Plan("a", (Step(after=40, results=("a1",), thread=True),), handler("a-late")),
                Plan("b", (Step(after=40, results=("b1",), blocks=120),), handler("b-late")),
            ),
            handled=True,
        ),
    ),
)
