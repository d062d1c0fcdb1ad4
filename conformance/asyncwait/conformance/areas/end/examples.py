"""END: examples of how an operator ends, and of what it leaves behind."""

from typing import Literal

from asyncwait.conformance.evidence import (
    Example,
    at,
    in_two_modes,
    never,
    outlives,
    raises,
    replies,
)
from asyncwait.spec import Barrier, LatencyMarker, Record, Watermark, WatermarkStatus
from asyncwait.spec.scenario import Handler, Plan, PlannedRetry, Scenario, SinkStep, Step

_SIX = at(0, *(Record(value, number) for number, value in enumerate("abcabc")))
_FINISHING = "abcdefghijklmn"
_QUICK_AND_SLOW = (replies("a", 80, "a1"), replies("b", 40, "b1", "b2"))

_ARGUMENTS: tuple[Literal["config", "fn", "elements", "restore"], ...] = (
    "config",
    "fn",
    "elements",
    "restore",
)

EXAMPLES: tuple[Example, ...] = (
    Example(
        "end-after-everything-in-flight",
        ("END-1", "END-2", "END-7"),
        "The source ends at 0; two calls run, one record waits for room, and all come out.",
        Scenario(
            capacity=2,
            inputs=at(0, Record("a"), Record("b"), Record("c")),
            plans=(replies("a", 120, "a1"), replies("b", 40, "b1"), replies("c", 80, "c1")),
        ),
    ),
    Example(
        "end-after-a-record-without-results",
        ("END-1", "END-2"),
        "The last record gives nothing: the stream ends when that is decided, and not before.",
        Scenario(
            mode="unordered",
            inputs=at(0, Record("a"), Record("b")),
            plans=(replies("a", 80), replies("b", 40, "b1")),
        ),
    ),
    Example(
        "end-of-the-source-comes-late",
        ("END-1", "END-2"),
        "Everything is out at 40; the stream ends when the source does, at 160.",
        Scenario(
            inputs=at(0, Record("a"), Watermark(9)),
            plans=(replies("a", 40, "a1"),),
            source_ends_at=160,
        ),
    ),
    Example(
        "end-of-an-empty-stream",
        ("END-2", "END-7", "END-8"),
        "A source that gives nothing makes a stream that gives nothing.",
        Scenario(mode="unordered"),
    ),
    Example(
        "end-while-the-consumer-is-away",
        ("END-1", "END-7"),
        "The source has ended and the calls are done at 80; nothing is lost until 200.",
        Scenario(
            mode="unordered",
            capacity=2,
            inputs=at(0, Record("a"), Record("b"), Record("a")),
            plans=(replies("a", 40, "a1"), replies("b", 80, "b1")),
            sink=(SinkStep("pause", 200),),
        ),
    ),
    Example(
        "leaving-waits-for-clean-up",
        ("END-3", "END-4", "END-5", "END-7"),
        "Leaving at 40 cancels a and b, and lasts until a has cleaned up at 120.",
        Scenario(
            capacity=3,
            inputs=at(0, Record("c"), Record("a"), Record("b")),
            plans=(
                replies("c", 40, "c1"),
                Plan("a", (Step("never", clean_up=80),)),
                replies("b", 200, "b1"),
            ),
            sink=(SinkStep("read", 1), SinkStep("leave")),
        ),
    ),
    Example(
        "leaving-waits-an-hour-for-clean-up",
        ("END-3", "END-4"),
        "The only call that runs at 40 has cleaned up an hour later.",
        Scenario(
            inputs=at(0, Record("a"), Record("b")),
            plans=(replies("a", 40, "a1"), Plan("b", (Step("never", clean_up=3_600_000),))),
            sink=(SinkStep("read", 1), SinkStep("leave")),
        ),
    ),
    Example(
        "cancelled-calls-that-raise",
        ("END-3", "END-4"),
        "Leaving cancels a, which raises when it has cleaned up at 120; nobody is told.",
        Scenario(
            inputs=at(0, Record("b"), Record("a")),
            plans=(
                replies("b", 40, "b1"),
                Plan("a", (Step("raise", 400, error="ValueError", swallow=True, clean_up=80),)),
            ),
            sink=(SinkStep("read", 1), SinkStep("leave")),
        ),
    ),
    Example(
        "cancelling-waits-for-clean-up",
        ("END-3", "END-4", "END-5"),
        "The consumer's task is cancelled at 40, while it waits for the next element.",
        Scenario(
            mode="unordered",
            timeout=160,
            inputs=at(0, Record("a"), Record("b")),
            plans=(outlives("a", 80, "a1"), replies("b", 200, "b1")),
            cancel_at=40,
        ),
    ),
    Example(
        "leaving-drops-the-timers",
        ("END-4",),
        "The deadline of the running call and that of the finished one are both gone.",
        Scenario(
            timeout=400,
            inputs=at(0, Record("a"), Record("b")),
            plans=(replies("a", 40, "a1"), never("b")),
            sink=(SinkStep("read", 1), SinkStep("leave")),
        ),
    ),
    Example(
        "ending-drops-the-timers",
        ("END-2", "END-4"),
        "The stream ends at 40 and does not sit out the deadlines at 400.",
        Scenario(
            timeout=400,
            inputs=at(0, Record("a"), Record("b")),
            plans=(replies("a", 40, "a1"), replies("b", 0)),
            handled=True,
        ),
    ),
    Example(
        "failing-leaves-nothing-behind",
        ("END-3", "END-4", "END-5"),
        "A failure cancels the other calls, and waits for the one that cleans up.",
        Scenario(
            timeout=400,
            inputs=at(0, Record("a"), Record("b")) + at(400, Record("c")),
            plans=(Plan("a", (Step("never", clean_up=80),)), raises("b", 40)),
        ),
    ),
    Example(
        "source-is-closed-after-the-end",
        ("END-5",),
        "The source is closed when it has ended, too.",
        Scenario(inputs=at(0, Record("a"))),
    ),
    Example(
        "source-is-closed-while-it-is-waited-for",
        ("END-4", "END-5"),
        "At 80 the operator waits for the next element, due at 400.",
        Scenario(
            mode="unordered",
            inputs=at(0, Record("a")) + at(400, Record("b")),
            plans=(replies("a", 40, "a1"),),
            cancel_at=80,
        ),
    ),
    Example(
        "source-is-closed-after-its-error",
        ("END-5",),
        "A source that raises is closed like any other.",
        Scenario(inputs=at(0, Record("a")), plans=(replies("a", 40, "a1"),), source_error="own"),
    ),
    Example(
        "plain-hooks-round-all-calls",
        ("END-6",),
        "open runs before the first call, close after the last, once each.",
        Scenario(
            inputs=at(0, Record("a"), Record("b")),
            plans=(replies("a", 40, "a1"), replies("b", 0, "b1")),
            hooks="plain",
        ),
    ),
    Example(
        "coroutine-hooks-round-all-calls",
        ("END-6",),
        "close waits for the call that still cleans up after leaving.",
        Scenario(
            inputs=at(0, Record("a"), Record("b")),
            plans=(replies("a", 40, "a1"), Plan("b", (Step("never", clean_up=80),))),
            hooks="coroutine",
            sink=(SinkStep("read", 1), SinkStep("leave")),
        ),
    ),
    Example(
        "hooks-round-a-failure",
        ("END-6",),
        "close runs after a failure, and when the failed call's neighbours have ended.",
        Scenario(
            mode="unordered",
            inputs=at(0, Record("a"), Record("b")),
            plans=(Plan("a", (Step("never", clean_up=80),)), raises("b", 40)),
            hooks="coroutine",
        ),
    ),
    Example(
        "hooks-round-a-cancellation",
        ("END-6",),
        "close runs although the task that leaves is being cancelled.",
        Scenario(
            inputs=at(0, Record("a")),
            plans=(Plan("a", (Step("never", clean_up=80),)),),
            hooks="coroutine",
            cancel_at=40,
        ),
    ),
    Example(
        "hooks-without-a-call",
        ("END-6",),
        "They run even if there is nothing to call.",
        Scenario(hooks="plain"),
    ),
    Example(
        "one-slot-for-everything",
        ("END-1", "END-8"),
        "With a single slot, records, fences, barriers and silent records still get through.",
        Scenario(
            capacity=1,
            timeout=160,
            inputs=at(
                0,
                Record("a"),
                Watermark(9),
                Record("b", 16),
                Record("b", 17),
                WatermarkStatus(True),
                Barrier(1),
                LatencyMarker(3),
                Record("a", 18),
            ),
            plans=(
                replies("a", 40, "a1", "a2"),
                Plan("b", (Step(after=40), Step("never")), Handler("reply")),
            ),
            handled=True,
        ),
    ),
    Example(
        "given-up-wait-in-the-very-instant",
        ("END-9",),
        "The wait is cancelled at 40, when a is finished: it may come out then or later, but once.",
        Scenario(
            inputs=at(0, Record("a"), Record("b")),
            plans=(replies("a", 40, "a1", "a2"), replies("b", 120, "b1")),
            sink=(SinkStep("give_up", 40), SinkStep("give_up", 40)),
        ),
    ),
    Example(
        "given-up-waits-at-each-turn-of-an-instant",
        ("END-9",),
        "Waits are cancelled 0 to 6 turns into instants in which records finish: nothing is lost.",
        Scenario(
            capacity=len(_FINISHING),
            inputs=at(0, *map(Record, _FINISHING)),
            plans=tuple(
                replies(each, 40 * number, f"{each}1", f"{each}2")
                for number, each in enumerate(_FINISHING, 1)
            ),
            sink=tuple(
                SinkStep("give_up", ms, number % 7)
                for number in range(len(_FINISHING))
                for ms in (40, 0)
            ),
        ),
    ),
    Example(
        "given-up-waits-lose-nothing",
        ("END-9",),
        "Three waits are given up before anything comes; later everything is there.",
        Scenario(
            mode="unordered",
            inputs=at(0, Record("a"), Watermark(9)) + at(80, Record("b", 16)),
            plans=(replies("a", 200, "a1"), replies("b", 40, "b1")),
            sink=(
                SinkStep("give_up", 40),
                SinkStep("give_up", 40),
                SinkStep("give_up", 40),
                SinkStep("pause", 120),
            ),
        ),
    ),
    Example(
        "nothing-begins-after-leaving",
        ("END-3", "END-10"),
        "Leaving cancels a, which frees the only slot; b waits for it and is not called.",
        Scenario(
            capacity=1,
            inputs=at(0, Record("c"), Record("a"), Record("b")),
            plans=(
                replies("c", 40, "c1"),
                Plan("a", (Step("never", clean_up=80),)),
                replies("b", 40, "b1"),
            ),
            sink=(SinkStep("read", 1), SinkStep("pause", 40), SinkStep("leave")),
        ),
    ),
    Example(
        "nothing-begins-while-calls-would-still-answer",
        ("END-3", "END-10"),
        "Leaving at 80 does not wait for the answer of a, which would make room for b at 120.",
        Scenario(
            mode="unordered",
            capacity=1,
            inputs=at(0, Record("c"), Record("a"), Record("b")),
            plans=(replies("c", 40, "c1"), replies("a", 80, "a1"), replies("b", 40, "b1")),
            sink=(SinkStep("read", 1), SinkStep("pause", 40), SinkStep("leave")),
        ),
    ),
    Example(
        "nothing-begins-after-a-cancellation",
        ("END-3", "END-10"),
        "The result of a call that swallows its cancellation goes nowhere, and b is not called.",
        Scenario(
            mode="unordered",
            capacity=1,
            inputs=at(0, Record("a"), Record("b")),
            plans=(outlives("a", 80, "a1"), replies("b", 40, "b1")),
            cancel_at=40,
        ),
    ),
    Example(
        "leaving-while-the-source-is-silent",
        ("END-11", "END-5"),
        "The next element is due in a minute; the consumer leaves at 80.",
        Scenario(
            inputs=at(0, Record("a")) + at(60_000, Record("b")),
            plans=(replies("a", 40, "a1"),),
            cancel_at=80,
        ),
    ),
    Example(
        "failing-while-the-source-is-silent",
        ("END-11", "FAIL-2"),
        "A call fails at 40; the end of input is known after a minute.",
        Scenario(
            inputs=at(0, Record("a")),
            plans=(raises("a", 40),),
            source_ends_at=60_000,
        ),
    ),
    Example(
        "leaving-while-all-clean-up",
        ("END-11", "END-3"),
        "The call cleans up for 80 ms, closing the source takes 40, each hook 40.",
        Scenario(
            inputs=at(0, Record("a")) + at(60_000, Record("b")),
            plans=(Plan("a", (Step("never", clean_up=80),)),),
            hooks="coroutine",
            hook_takes=40,
            close_takes=40,
            cancel_at=120,
        ),
    ),
    Example(
        "program-ends-while-a-shielded-consumer-waits",
        ("END-11", "FAIL-11"),
        "A call exits at 40; the consumer shields its read, to which nobody will give anything.",
        Scenario(
            inputs=at(0, Record("a")),
            plans=(raises("a", 40, "SystemExit"),),
            source_ends_at=400,
            shields=True,
        ),
    ),
    Example(
        "cancelled-while-calls-clean-up",
        ("END-3", "END-5", "END-6", "END-20"),
        "The consumer leaves at 80, and is cancelled at 120, while a call cleans up.",
        Scenario(
            inputs=at(0, Record("a")) + at(60_000, Record("b")),
            plans=(Plan("a", (Step("never", clean_up=80),)),),
            hooks="plain",
            sink=(SinkStep("pause", 80), SinkStep("leave")),
            cancel_at=120,
        ),
    ),
    Example(
        "cancelled-amid-results",
        ("END-5", "END-20"),
        "A scope round the consumer is cancelled as the loop was blocked, and it need not wait.",
        Scenario(
            mode="unordered",
            capacity=2,
            inputs=at(0, *map(Record, "aaaaabaaaaaaaaaaaaaa")),
            plans=(replies("a", 0, "a1"), Plan("b", (Step(results=("b1",), blocks=40),))),
            cancel="scope",
            cancel_at=40,
        ),
    ),
    Example(
        "cancelled-while-all-is-closed",
        ("END-5", "END-6"),
        "The stream has failed; the consumer is cancelled while the source is being closed.",
        Scenario(
            inputs=at(0, Record("a")) + at(60_000, Record("b")),
            plans=(raises("a", 40),),
            hooks="coroutine",
            hook_takes=40,
            close_takes=80,
            cancel_at=120,
        ),
    ),
    Example(
        "open-that-raises",
        ("END-12",),
        "The function can't be opened.",
        Scenario(inputs=at(0, Record("a")), hooks="coroutine", hook_takes=40, hook_error="open"),
    ),
    Example(
        "close-that-raises",
        ("END-13",),
        "The stream ends well, and then the function can't be closed.",
        Scenario(
            inputs=at(0, Record("a")),
            plans=(replies("a", 40, "a1"),),
            hooks="plain",
            hook_error="close",
        ),
    ),
    Example(
        "source-that-raises-on-closing",
        ("END-13", "END-5"),
        "The stream ends well, and closing its source raises.",
        Scenario(
            inputs=at(0, Record("a")),
            plans=(replies("a", 40, "a1"),),
            close_takes=40,
            close_error=True,
        ),
    ),
    Example(
        "second-task-that-reads",
        ("END-14",),
        "While the consumer waits for the first element, another task asks for one, too.",
        Scenario(
            inputs=at(0, Record("a"), Record("b")),
            plans=(replies("a", 40, "a1"), replies("b", 80, "b1")),
            sink=(SinkStep("intrude"), SinkStep("read", 1)),
        ),
    ),
    Example(
        "another-operator-beside",
        ("END-15",),
        "A second operator of the same kind works on the same loop.",
        Scenario(
            capacity=2,
            timeout=400,
            inputs=_SIX,
            plans=_QUICK_AND_SLOW,
            handled=True,
            company="beside",
        ),
    ),
    Example(
        "another-operator-before",
        ("END-15",),
        "The source is the output of a second operator of the same kind.",
        Scenario(
            mode="unordered", inputs=_SIX, plans=_QUICK_AND_SLOW, hooks="plain", company="before"
        ),
    ),
    Example(
        "another-operator-inside",
        ("END-15",),
        "The first call runs a second operator of the same kind to its end.",
        Scenario(capacity=3, inputs=_SIX, plans=_QUICK_AND_SLOW, company="inside"),
    ),
    Example(
        "source-with-a-scope-read-to-its-end",
        ("END-16",),
        "The source is a generator that holds a cancel scope round its yields.",
        Scenario(
            capacity=1,
            inputs=at(0, Record("a"), Record("b")) + at(80, Record("c")),
            plans=(replies("a", 40, "a1"),),
            source="scope",
        ),
    ),
    Example(
        "source-with-a-scope-left-early",
        ("END-16", "END-5"),
        "The consumer leaves while the generator, with its scope, is waited for.",
        Scenario(
            inputs=at(0, Record("a")) + at(400, Record("b")),
            plans=(replies("a", 40, "a1"),),
            source="scope",
            cancel_at=80,
        ),
    ),
    Example(
        "source-with-a-scope-left-while-full",
        ("END-16", "END-5"),
        "The consumer leaves while a record waits for room, and the generator is at its yield.",
        Scenario(
            capacity=1,
            inputs=at(0, Record("a"), Record("b"), Record("c")),
            plans=(never("a"),),
            source="scope",
            cancel_at=80,
        ),
    ),
    Example(
        "source-that-is-no-iterator",
        ("END-5", "END-17"),
        "The source is an iterable, whose iterator is another object.",
        Scenario(inputs=at(0, Record("a")) + at(80, Record("b")), source="iterable"),
    ),
    Example(
        "source-that-takes-its-time",
        ("END-17",),
        "Between two elements of a generator lie ten seconds.",
        Scenario(
            inputs=at(0, Record("a")) + at(10_000, Record("b")),
            plans=(replies("a", 40, "a1"),),
            source="generator",
        ),
    ),
    Example(
        "the-body-raises",
        ("END-18", "END-3", "END-5"),
        "The consumer raises at 40 while a call runs; that error comes out when all is closed.",
        Scenario(
            inputs=at(0, Record("a"), Record("b")),
            plans=(replies("a", 40, "a1"), replies("b", 200, "b1")),
            hooks="plain",
            sink=(SinkStep("read", 1), SinkStep("raise")),
        ),
    ),
    Example(
        "the-body-raises-and-closing-does",
        ("END-18",),
        "What closing the source raises is no reason to forget why the context was left.",
        Scenario(
            inputs=at(0, Record("a")),
            plans=(replies("a", 40, "a1"),),
            close_error=True,
            sink=(SinkStep("read", 1), SinkStep("raise")),
        ),
    ),
    Example(
        "close-behind-a-source-that-raises-on-closing",
        ("END-6", "END-13"),
        "That the source can't be closed does not keep the function from being closed.",
        Scenario(
            inputs=at(0, Record("a")),
            plans=(replies("a", 40, "a1"),),
            hooks="plain",
            close_error=True,
        ),
    ),
    *(
        Example(
            f"wrong-{argument}",
            ("END-19",),
            f"The operator is opened with a text in place of its `{argument}`.",
            Scenario(inputs=at(0, Record("a")), hooks="plain", wrong_argument=argument),
        )
        for argument in _ARGUMENTS
    ),
    Example(
        "another-operator-before-in-order",
        ("END-15", "END-6"),
        "Two operators stand in a row, and the hooks of the second run round all of its calls.",
        Scenario(
            capacity=2,
            inputs=_SIX,
            plans=_QUICK_AND_SLOW,
            hooks="coroutine",
            hook_takes=40,
            company="before",
        ),
    ),
    *in_two_modes(
        "leaving-with-finished-results",
        ("END-7", "END-10"),
        "b and c are finished, and d waits for room, when the consumer leaves: nothing more comes.",
        Scenario(
            capacity=2,
            inputs=at(0, *(Record(value) for value in "abcd")),
            plans=(replies("a", 40, "a1"), replies("b", 40, "b1"), replies("c", 0, "c1")),
            sink=(SinkStep("read", 1), SinkStep("pause", 80), SinkStep("leave")),
        ),
    ),
    *in_two_modes(
        "leaving-with-finished-results-and-a-back-off",
        ("END-7", "END-10", "RETRY-14"),
        "The same, while one record waits for its next attempt, which is due in ten seconds.",
        Scenario(
            capacity=3,
            retry=PlannedRetry(initial=10_000),
            inputs=at(0, *(Record(value) for value in "abc")),
            plans=(replies("a", 40, "a1"), raises("b", 40), replies("c", 80, "c1")),
            sink=(SinkStep("read", 1), SinkStep("pause", 80), SinkStep("leave")),
        ),
    ),
)
