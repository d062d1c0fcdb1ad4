"""STAT: examples of operators whose statistics are read."""

from typing import Any

from asyncwait.conformance.evidence import Example, at, fails, never, outlives, raises, replies
from asyncwait.spec import Barrier, LatencyMarker, Record, Snapshot, Watermark
from asyncwait.spec.scenario import Handler, Plan, PlannedRetry, Scenario, SinkStep, Step

A, B, C, D = (Record(value) for value in "abcd")


def _quick(*values: str) -> tuple[Plan, ...]:
    return tuple(replies(value, 40, f"{value}1") for value in values)


def _scenario(*plans: Plan, **fields: Any) -> Scenario:
    return Scenario(plans=plans, **fields)


EXAMPLES: tuple[Example, ...] = (
    Example(
        "read-behind-one-slow-call",
        ("STAT-1", "STAT-3", "STAT-4", "STAT-9", "STAT-10"),
        "While a takes 200 ms two others are held; at 240 nothing is in flight any more.",
        _scenario(
            replies("a", 200, "a1"),
            *_quick("b", "c"),
            inputs=at(0, A, B, C),
            source_ends_at=280,
            figures_at=(0, 80, 160, 240),
        ),
    ),
    Example(
        "read-while-one-waits-for-room",
        ("STAT-1", "STAT-2", "STAT-9"),
        "b waits for a, which takes 120 ms, and the second watermark for b.",
        _scenario(
            replies("a", 120, "a1"),
            replies("b", 120, "b1"),
            capacity=1,
            inputs=at(0, A, B, Watermark(1)),
            figures_at=(40, 80, 160, 200),
        ),
    ),
    Example(
        "read-while-what-was-restored-waits",
        ("STAT-1", "STAT-2"),
        "Of three that are restored each takes 80 ms; d is read behind them, and waits.",
        _scenario(
            *(replies(value, 80, f"{value}1") for value in "abcd"),
            capacity=1,
            restore=Snapshot(9, (A, B, C)),
            inputs=at(0, D),
            figures_at=(40, 120, 200, 280),
        ),
    ),
    Example(
        "read-with-fences-in-between",
        ("STAT-1", "STAT-3", "STAT-9"),
        "A watermark takes room, and is neither in flight nor held.",
        _scenario(
            replies("a", 200, "a1"),
            *_quick("b"),
            inputs=at(0, A, Watermark(1), B, Watermark(2)),
            figures_at=(80, 160),
        ),
    ),
    Example(
        "read-in-unordered-mode",
        ("STAT-1", "STAT-3", "STAT-10"),
        "c is out at 40, and b is held by the watermark until a has come.",
        _scenario(
            replies("a", 200, "a1"),
            *_quick("b", "c"),
            mode="unordered",
            inputs=at(0, A, C, Watermark(1), B),
            figures_at=(80, 160),
        ),
    ),
    Example(
        "read-while-the-consumer-pauses",
        ("STAT-1", "STAT-3", "STAT-9"),
        "Two records are decided at 40 and held until 200; one of them has nothing to give.",
        _scenario(
            replies("a", 40, "a1", "a2"),
            replies("b", 40),
            inputs=at(0, A, B),
            sink=(SinkStep("pause", 200),),
            figures_at=(80, 160, 240),
            source_ends_at=280,
        ),
    ),
    Example(
        "read-when-the-service-recovers",
        ("STAT-1", "STAT-4", "STAT-9", "STAT-10"),
        "Twice something is in flight, and in between nothing.",
        _scenario(
            *(replies(value, 80, f"{value}1") for value in "abc"),
            inputs=at(0, A, B) + at(160, C),
            figures_at=(40, 120, 200, 280),
            source_ends_at=320,
        ),
    ),
    Example(
        "read-between-attempts",
        ("STAT-4", "STAT-5", "STAT-10"),
        "a is called at 0, 120, 240 and 360, and counts as in flight all the time.",
        _scenario(
            fails("a", 3, "a1", after=40),
            inputs=at(0, A),
            retry=PlannedRetry(max_attempts=4, initial=80, multiplier=1),
            figures_at=(80, 200, 320, 440),
            source_ends_at=480,
        ),
    ),
    Example(
        "read-while-attempts-take-too-long",
        ("STAT-5", "STAT-6"),
        "Each attempt may take 80 ms; only at 400 is the record itself too late.",
        _scenario(
            never("a", "late"),
            inputs=at(0, A),
            timeout=400,
            handled=True,
            retry=PlannedRetry(max_attempts=9, initial=80, multiplier=1, attempt_timeout=80),
            figures_at=(40, 120, 200, 360, 440),
            source_ends_at=480,
        ),
    ),
    Example(
        "read-after-deadlines",
        ("STAT-1", "STAT-6"),
        "Two deadlines pass at 80; c answers in time.",
        _scenario(
            never("a", "late"),
            never("b", "late", "later"),
            *_quick("c"),
            inputs=at(0, A, B, C),
            timeout=80,
            handled=True,
            figures_at=(40, 120),
            source_ends_at=160,
        ),
    ),
    Example(
        "read-after-handled-failures",
        ("STAT-7", "STAT-3"),
        "The failure handler has something for a, and nothing for b, which counts as well.",
        _scenario(
            Plan("a", raises("a", 40).steps, failure=Handler("reply", ("sorry",))),
            Plan("b", (Step("misreturn", 40, error="none"),), failure=Handler("reply")),
            replies("c", 120, "c1"),
            inputs=at(0, C, A, B),
            failures_handled=True,
            figures_at=(80, 160),
            source_ends_at=200,
        ),
    ),
    Example(
        "read-after-deadlines-that-the-failure-handler-meets",
        ("STAT-6", "STAT-7"),
        "a has no timeout handler; its deadline is a failure, and handled as one.",
        _scenario(
            Plan("a", (Step("never"),), failure=Handler("reply", ("sorry",))),
            inputs=at(0, A),
            timeout=80,
            failures_handled=True,
            figures_at=(40, 120),
            source_ends_at=160,
        ),
    ),
    Example(
        "read-while-a-call-runs-on",
        ("STAT-6", "STAT-8"),
        "a is cancelled at 40 and runs on until 440: it is abandoned, and stays counted.",
        _scenario(
            outlives("a", 400, "a1", "late"),
            inputs=at(0, A),
            timeout=40,
            handled=True,
            figures_at=(120, 320, 480),
            source_ends_at=520,
        ),
    ),
    Example(
        "read-after-an-attempt-that-runs-on",
        ("STAT-5", "STAT-8"),
        "The first attempt is cancelled at 80, and runs on while the second answers.",
        _scenario(
            Plan("a", (Step("never", swallow=True, clean_up=400), Step(after=40, results=("a1",)))),
            inputs=at(0, A),
            retry=PlannedRetry(initial=40, attempt_timeout=80),
            figures_at=(200, 320),
            source_ends_at=560,
        ),
    ),
    Example(
        "read-after-a-failure",
        ("STAT-11",),
        "b fails at 40, which the consumer learns at 240; until then nothing is in flight.",
        _scenario(
            never("a"),
            raises("b", 40),
            inputs=at(0, A, B, C),
            capacity=2,
            sink=(SinkStep("pause", 240),),
            figures_at=(0, 120, 200),
        ),
    ),
    Example(
        "read-when-it-was-left",
        ("STAT-1", "STAT-11"),
        "The consumer leaves while a is called and b waits for room.",
        _scenario(
            never("a"),
            inputs=at(0, A, B),
            capacity=1,
            sink=(SinkStep("pause", 80), SinkStep("leave")),
            figures_at=(40,),
        ),
    ),
    Example(
        "read-while-markers-and-barriers-find-no-room",
        ("STAT-1", "STAT-2", "STAT-3"),
        "Behind a, a marker and a barrier wait for the consumer, and another barrier for them; "
        "none of them is in flight, held, or waits for room.",
        _scenario(
            replies("a", 200, "a1"),
            capacity=1,
            inputs=at(0, A, LatencyMarker(1), Barrier(2), Barrier(3), B),
            sink=(SinkStep("pause", 160),),
            figures_at=(40, 120),
        ),
    ),
    Example(
        "read-while-others-wait-for-their-key",
        ("STAT-10",),
        "b was read at 0 and is called at 120: from then on its age counts.",
        _scenario(
            *(replies(value, 120, f"{value}1") for value in "ab"),
            mode="key-ordered",
            inputs=at(0, *(Record(value, key="k") for value in "ab")),
            figures_at=(80, 200),
        ),
    ),
)
