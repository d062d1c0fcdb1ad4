"""CTX: examples in which everybody sets a context variable, and looks."""

from typing import Any

from asyncwait.conformance.evidence import Example, at, examples_of, fails, never, raises, replies
from asyncwait.spec import Record, Watermark
from asyncwait.spec.scenario import Crash, Handler, Plan, PlannedRetry, Scenario, SinkStep, Step

A, B, C, D = (Record(value) for value in "abcd")


def _scenario(*plans: Plan, **fields: Any) -> Scenario:
    return Scenario(plans=plans, contexts=True, **{"inputs": at(0, A, B, C), **fields})


_example = examples_of(_scenario)

EXAMPLES: tuple[Example, ...] = (
    _example(
        "one-after-the-other-in-contexts-of-their-own: CTX-1, CTX-2, CTX-4, CTX-5",
        "With room for one, b is called when a has come out, and c behind it.",
        replies("a", 40, "a1"),
        replies("b", 0, "b1"),
        replies("c", 40),
        capacity=1,
    ),
    _example(
        "at-the-same-time-in-contexts-of-their-own: CTX-1, CTX-2, CTX-4",
        "a, b and c run at once, and each goes on while the others do.",
        replies("a", 120, "a1"),
        replies("b", 40, "b1"),
        replies("c", 80, "c1"),
    ),
    _example(
        "what-open-has-set: CTX-1",
        "`open` takes 40 ms and sets the variable; each call sees that.",
        replies("a", 40, "a1"),
        hooks="coroutine",
        hook_takes=40,
    ),
    _example(
        "called-when-a-consumer-makes-room: CTX-1, CTX-2, CTX-4",
        "The consumer pauses with a in its hands; b is called when it goes on.",
        replies("a", 0, "a1", "a2"),
        replies("b", 0, "b1"),
        capacity=1,
        sink=(SinkStep("read", 1), SinkStep("pause", 80)),
    ),
    _example(
        "callbacks-in-contexts-of-their-own: CTX-1, CTX-2, CTX-4, CTX-5",
        "a and c answer inside the call, b later and by a supplier, d from a thread.",
        replies("a", 0, "a1"),
        Plan("b", (Step(after=40, results=("b1",), supplied=True),)),
        Plan("c", (Step(results=("c1",), supplied=True),)),
        Plan("d", (Step(after=40, results=("d1",), thread=True),)),
        form="callback",
        inputs=at(0, A, B, C, D, A),
        capacity=2,
    ),
    _example(
        "awaitables-in-contexts-of-their-own: CTX-1, CTX-2",
        "The function returns what can be awaited and is no coroutine; b answers from a thread.",
        replies("a", 40, "a1"),
        Plan("b", (Step(after=40, results=("b1",), thread=True),)),
        function="awaitable",
        capacity=1,
    ),
    _example(
        "deadlines-in-the-opened-context: CTX-3",
        "a and b are late, and so is c behind them; the handler does not see what it has set.",
        never("a", "a?"),
        never("b", "b?"),
        never("c", "c?"),
        timeout=40,
        handled=True,
        capacity=2,
    ),
    _example(
        "deadlines-of-callbacks-in-the-opened-context: CTX-3",
        "a answers, then b and c are late: no handler sees what a call in callback form has set.",
        replies("a", 0, "a1"),
        never("b", "b?"),
        never("c", "c?"),
        timeout=40,
        handled=True,
        form="callback",
    ),
    _example(
        "failures-in-the-opened-context: CTX-3",
        "a and b raise after 40 ms, c at once; each time the failure handler has a result.",
        Plan("a", (Step("raise", 40),), failure=Handler("reply", ("a!",))),
        Plan("b", (Step("raise", 40),), failure=Handler("reply", ("b!",))),
        Plan("c", (Step("raise"),), failure=Handler("reply", ("c!",))),
        failures_handled=True,
    ),
    _example(
        "attempts-in-contexts-of-their-own: CTX-2, CTX-3",
        "a and b raise twice, and a predicate is asked; the third call of each gives something.",
        fails("a", 2, "a1", after=40),
        fails("b", 2, "b1"),
        replies("c", 0, "c1"),
        retry=PlannedRetry(on_error="asked", on_result="empty"),
        capacity=2,
    ),
    _example(
        "a-generator-with-one-context: CTX-5",
        "The source is an async generator, which is asked four times, and closed.",
        replies("a", 40, "a1"),
        source="generator",
        inputs=(*at(0, A), *at(40, B), *at(80, Watermark(1), C)),
        mode="unordered",
    ),
    _example(
        "a-source-that-is-left: CTX-4, CTX-5",
        "The consumer leaves with what a gave; the source is closed in its own context.",
        replies("a", 0, "a1"),
        replies("b", 400, "b1"),
        sink=(SinkStep("read", 1), SinkStep("leave")),
        source_ends_at=800,
    ),
    _example(
        "a-failure-among-contexts: CTX-1, CTX-4",
        "b raises, and the consumer that gets the error sees what it has set.",
        replies("a", 0, "a1"),
        raises("b", 40),
        replies("c", 80, "c1"),
    ),
    _example(
        "restored-into-the-opened-context: CTX-1, CTX-2",
        "After a crash a, b and c are read again, and called in the context of the new leg.",
        replies("a", 80, "a1"),
        replies("b", 80, "b1"),
        crashes=(Crash(40),),
    ),
)
