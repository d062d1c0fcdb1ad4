"""CANCEL: examples of calls that clean up without a shield."""

from typing import Any

from asyncwait.conformance.evidence import Example, at, examples_of, handler, raises, replies
from asyncwait.spec import Record
from asyncwait.spec.scenario import Crash, Plan, PlannedRetry, Scenario, SinkStep, Step

A, B, C, D = (Record(value) for value in "abcd")


def _cleans_up(value: str, clean_up: int, *handled: str, swallow: bool = False) -> Plan:
    """Return a plan by which a call of `value` never answers, and cleans up for so long."""
    step = Step("never", results=(f"{value}!",), clean_up=clean_up, swallow=swallow)
    return Plan(value, (step,), handler(*handled))


def _scenario(*plans: Plan, **fields: Any) -> Scenario:
    fields = {"inputs": at(0, A, B), "handled": "timeout" in fields, **fields}
    return Scenario(plans=plans, unshielded=True, **fields)


_example = examples_of(_scenario)

EXAMPLES: tuple[Example, ...] = (
    _example(
        "clean-ups-at-deadlines: CANCEL-1, CANCEL-2, CANCEL-3",
        "a and b are late; each cleans up for 80 ms, b in a task group and under a time limit.",
        _cleans_up("a", 80, "a?"),
        _cleans_up("b", 80, "b?"),
        replies("c", 200, "c1"),
        timeout=40,
        inputs=(*at(0, A, B), *at(200, A)),
    ),
    _example(
        "a-clean-up-while-the-operator-is-left: CANCEL-1, END-3",
        "The consumer leaves at 40 while a runs, and leaving waits until a has cleaned up.",
        _cleans_up("a", 120),
        replies("b", 0, "b1"),
        mode="unordered",
        sink=(SinkStep("read", 1), SinkStep("pause", 40), SinkStep("leave")),
    ),
    _example(
        "a-clean-up-that-is-left-meanwhile: CANCEL-1, CANCEL-2, END-3",
        "a is late and cleans up for 200 ms; when the consumer leaves, it is not cancelled again.",
        _cleans_up("a", 200, "a?"),
        _cleans_up("b", 200, "b?"),
        timeout=40,
        contexts=True,
        sink=(SinkStep("read", 2), SinkStep("pause", 40), SinkStep("leave")),
    ),
    *(
        _example(
            f"a-clean-up-while-the-consumer-is-cancelled-{cancel}: CANCEL-1, END-3",
            "The consumer is cancelled at 40; what a and b await in their clean-up is not.",
            _cleans_up("a", 80),
            _cleans_up("b", 120),
            cancel_at=40,
            cancel=cancel,
        )
        for cancel in ("once", "scope")
    ),
    *(
        _example(
            f"a-clean-up-while-leaving-is-cancelled-{cancel}: CANCEL-1, END-3",
            "The consumer leaves at 40 and is cancelled at 80; a cleans up until 160 all the same.",
            _cleans_up("a", 120),
            replies("b", 0, "b1"),
            mode="unordered",
            sink=(SinkStep("read", 1), SinkStep("pause", 40), SinkStep("leave")),
            cancel_at=80,
            cancel=cancel,
        )
        for cancel in ("once", "scope")
    ),
    _example(
        "a-clean-up-after-a-failure: CANCEL-1, END-3",
        "b raises at 40; a is cancelled, and cleans up before the context has been left.",
        _cleans_up("a", 80),
        raises("b", 40),
    ),
    _example(
        "a-clean-up-between-two-attempts: CANCEL-1, CANCEL-2",
        "An attempt may take 40 ms; the next one begins when the first has cleaned up, or later.",
        Plan("a", (Step("never", clean_up=40), Step(results=("a1",)))),
        replies("b", 0, "b1"),
        retry=PlannedRetry(initial=80, attempt_timeout=40),
        contexts=True,
    ),
    _example(
        "a-cancellation-that-is-swallowed: CANCEL-1, CANCEL-2",
        "a cleans up and answers all the same, which nobody hears; c begins with a count of none.",
        _cleans_up("a", 40, "a?", swallow=True),
        replies("b", 0, "b1"),
        timeout=40,
        capacity=1,
        contexts=True,
        inputs=at(0, A, B, A, B),
    ),
    _example(
        "a-clean-up-when-a-run-crashes: CANCEL-1",
        "The run crashes at 40; a cleans up, and is called again in the next leg.",
        Plan("a", (Step(after=80, results=("a1",), clean_up=80),)),
        replies("b", 0, "b1"),
        crashes=(Crash(40),),
    ),
    _example(
        "tasks-of-calls-side-by-side: CANCEL-2, CANCEL-3",
        "Four calls with a deadline, of which two run at once; each is in a task of its own.",
        *(replies(value, 40 * n, f"{value}1") for n, value in enumerate("abcd")),
        inputs=at(0, A, B, C, D),
        capacity=2,
        timeout=400,
    ),
    _example(
        "a-thread-beside-a-clean-up: CANCEL-1, CANCEL-2",
        "b answers from a thread while a cleans up.",
        _cleans_up("a", 80, "a?"),
        Plan("b", (Step(after=40, results=("b1",), thread=True),)),
        timeout=40,
        inputs=(*at(0, A), *at(40, B)),
    ),
)
