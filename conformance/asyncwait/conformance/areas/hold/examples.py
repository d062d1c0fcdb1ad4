"""HOLD: examples of results that wait, and of calls that go on meanwhile."""

from typing import Any

from asyncwait.conformance.evidence import Example, at, examples_of, never, raises, replies
from asyncwait.spec import Barrier, Record, Snapshot, Watermark
from asyncwait.spec.scenario import Crash, Plan, PlannedRetry, Scenario, SinkStep, Step

A, B, C, D, E = (Record(value) for value in "abcde")
_MANY = tuple(Record(number) for number in range(12))


def _quick(*numbers: int, after: int = 40) -> tuple[Plan, ...]:
    return tuple(replies(number, after, -number) for number in numbers)


def _scenario(*plans: Plan, **fields: Any) -> Scenario:
    fields = {"capacity": 2, "max_held": 3, "inputs": at(0, A, B, C, D, E), **fields}
    return Scenario(plans=plans, **fields)


_example = examples_of(_scenario)

EXAMPLES: tuple[Example, ...] = (
    _example(
        "behind-one-slow-call: HOLD-1, HOLD-2, HOLD-3",
        "a takes 200 ms; meanwhile three others are called and held, one after the other.",
        replies("a", 200, "a1"),
        *(replies(value, 40, f"{value}1") for value in "bcde"),
    ),
    _example(
        "behind-one-slow-call-until-enough-is-held: HOLD-2, HOLD-3, HOLD-4",
        "With room for one, c is the last that is called before a has come out.",
        replies("a", 400, "a1"),
        *(replies(value, 40, f"{value}1") for value in "bcde"),
        max_held=1,
    ),
    _example(
        "called-for-a-consumer-that-pauses: HOLD-3, HOLD-4",
        "The consumer pauses for 800 ms; five of twelve records are called, at most.",
        *_quick(*range(12)),
        inputs=at(0, *_MANY),
        sink=(SinkStep("pause", 800),),
    ),
    _example(
        "held-in-unordered-mode: HOLD-1, HOLD-2, HOLD-3, HOLD-5",
        "A watermark holds the results behind it up until a has come out; a snapshot holds all.",
        replies("a", 200, "a1"),
        *(replies(value, 40, f"{value}1") for value in "bcd"),
        mode="unordered",
        inputs=at(0, A, Watermark(1), B, C, D) + at(120, Barrier(1)),
        max_held=4,
    ),
    _example(
        "watermarks-are-finished-from-birth: HOLD-1",
        "Two watermarks are held like finished records, and b is called behind them.",
        replies("a", 120, "a1"),
        replies("b", 40, "b1"),
        inputs=at(0, A, Watermark(1), Watermark(2), B),
        capacity=2,
        max_held=2,
    ),
    _example(
        "a-back-off-is-not-finished: HOLD-2",
        "a fails and backs off; its slot is not free for another call.",
        Plan("a", (Step("raise", 40, error="ValueError"), Step(after=40, results=("a1",)))),
        *(replies(value, 40, f"{value}1") for value in "bcde"),
        retry=PlannedRetry(initial=200),
    ),
    _example(
        "a-snapshot-while-results-are-held: HOLD-5, SNAP-2, REST-1",
        "At 120 three records are finished and held; after the crash all four are called anew.",
        replies("a", 400, "a1"),
        *(replies(value, 40, f"{value}1") for value in "bcd"),
        inputs=at(0, A, B, C, D) + at(120, Barrier(1)),
        crashes=(Crash(160),),
    ),
    _example(
        "restored-with-room-for-results: HOLD-1, HOLD-2",
        "Of six that are restored two are called at once, and others as these are finished.",
        replies("a", 200, "a1"),
        *_quick(1, 2, 3, 4, 5),
        inputs=(),
        restore=Snapshot(9, (A, *_MANY[1:6])),
    ),
    _example(
        "late-and-held: HOLD-3, TIME-3",
        "While the consumer pauses, a and b are finished by their deadlines, and held.",
        never("a", "a?"),
        never("b", "b?"),
        *(replies(value, 40, f"{value}1") for value in "cde"),
        timeout=120,
        handled=True,
        sink=(SinkStep("pause", 400),),
    ),
    _example(
        "failing-behind-what-is-held: HOLD-2, FAIL-2",
        "d is called because b and c are held; it fails, and that waits for nobody.",
        never("a"),
        *(replies(value, 40, f"{value}1") for value in "bc"),
        raises("d", 40),
    ),
)
