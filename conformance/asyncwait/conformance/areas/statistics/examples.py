"""STAT: examples of operators whose statistics are read."""

from typing import Any

from asyncwait.conformance.evidence import (
    Example,
    at,
    examples_of,
    fails,
    never,
    outlives,
    raises,
    replies,
)
from asyncwait.spec import Barrier, LatencyMarker, Record, Snapshot, Watermark
from asyncwait.spec.scenario import Handler, Plan, PlannedRetry, Scenario, SinkStep, Step

A, B, C, D = (Record(value) for value in "abcd")


def _quick(*values: str) -> tuple[Plan, ...]:
    return tuple(replies(value, 40, f"{value}1") for value in values)


def _scenario(*plans: Plan, **fields: Any) -> Scenario:
    return Scenario(plans=plans, **fields)


_example = examples_of(_scenario)

EXAMPLES: tuple[Example, ...] = (
    _example(
        "read-behind-one-slow-call: STAT-1, STAT-3, STAT-4, STAT-9, STAT-10",
        "While a takes 200 ms two others are held; at 240 nothing is in flight any more.",
        replies("a", 200, "a1"),
        *_quick("b", "c"),
        inputs=at(0, A, B, C),
        source_ends_at=280,
        figures_at=(0, 80, 160, 240),
    ),
    _example(
        "read-while-one-waits-for-room: STAT-1, STAT-2, STAT-9",
        "b waits for a, which takes 120 ms, and the second watermark for b.",
        replies("a", 120, "a1"),
        replies("b", 120, "b1"),
        capacity=1,
        inputs=at(0, A, B, Watermark(1)),
        figures_at=(40, 80, 160, 200),
    ),
    _example(
        "read-while-what-was-restored-waits: STAT-1, STAT-2",
        "Of three that are restored each takes 80 ms; d is read behind them, and waits.",
        *(replies(value, 80, f"{value}1") for value in "abcd"),
        capacity=1,
        restore=Snapshot(9, (A, B, C)),
        inputs=at(0, D),
        figures_at=(40, 120, 200, 280),
    ),
    _example(
        "read-with-fences-in-between: STAT-1, STAT-3, STAT-9",
        "A watermark takes room, and is neither in flight nor held.",
        replies("a", 200, "a1"),
        *_quick("b"),
        inputs=at(0, A, Watermark(1), B, Watermark(2)),
        figures_at=(80, 160),
    ),
    _example(
        "read-in-unordered-mode: STAT-1, STAT-3, STAT-10",
        "c is out at 40, and b is held by the watermark until a has come.",
        replies("a", 200, "a1"),
        *_quick("b", "c"),
        mode="unordered",
        inputs=at(0, A, C, Watermark(1), B),
        figures_at=(80, 160),
    ),
    _example(
        "read-while-the-consumer-pauses: STAT-1, STAT-3, STAT-9",
        "Two records are decided at 40 and held until 200; one of them has nothing to give.",
        replies("a", 40, "a1", "a2"),
        replies("b", 40),
        inputs=at(0, A, B),
        sink=(SinkStep("pause", 200),),
        figures_at=(80, 160, 240),
        source_ends_at=280,
    ),
    _example(
        "read-when-the-service-recovers: STAT-1, STAT-4, STAT-9, STAT-10",
        "Twice something is in flight, and in between nothing.",
        *(replies(value, 80, f"{value}1") for value in "abc"),
        inputs=at(0, A, B) + at(160, C),
        figures_at=(40, 120, 200, 280),
        source_ends_at=320,
    ),
    _example(
        "read-between-attempts: STAT-4, STAT-5, STAT-10",
        "a is called at 0, 120, 240 and 360, and counts as in flight all the time.",
        fails("a", 3, "a1", after=40),
        inputs=at(0, A),
        retry=PlannedRetry(max_attempts=4, initial=80, multiplier=1),
        figures_at=(80, 200, 320, 440),
        source_ends_at=480,
    ),
    _example(
        "read-while-attempts-take-too-long: STAT-5, STAT-6",
        "Each attempt may take 80 ms; only at 400 is the record itself too late.",
        never("a", "late"),
        inputs=at(0, A),
        timeout=400,
        handled=True,
        retry=PlannedRetry(max_attempts=9, initial=80, multiplier=1, attempt_timeout=80),
        figures_at=(40, 120, 200, 360, 440),
        source_ends_at=480,
    ),
    _example(
        "read-after-deadlines: STAT-1, STAT-6",
        "Two deadlines pass at 80; c answers in time.",
        never("a", "late"),
        never("b", "late", "later"),
        *_quick("c"),
        inputs=at(0, A, B, C),
        timeout=80,
        handled=True,
        figures_at=(40, 120),
        source_ends_at=160,
    ),
    _example(
        "read-after-handled-failures: STAT-7, STAT-3",
        "The failure handler has something for a, and nothing for b, which counts as well.",
        Plan("a", raises("a", 40).steps, failure=Handler("reply", ("sorry",))),
        Plan("b", (Step("misreturn", 40, error="none"),), failure=Handler("reply")),
        replies("c", 120, "c1"),
        inputs=at(0, C, A, B),
        failures_handled=True,
        figures_at=(80, 160),
        source_ends_at=200,
    ),
    _example(
        "read-after-deadlines-that-the-failure-handler-meets: STAT-6, STAT-7",
        "a has no timeout handler; its deadline is a failure, and handled as one.",
        Plan("a", (Step("never"),), failure=Handler("reply", ("sorry",))),
        inputs=at(0, A),
        timeout=80,
        failures_handled=True,
        figures_at=(40, 120),
        source_ends_at=160,
    ),
    _example(
        "read-while-a-call-runs-on: STAT-6, STAT-8",
        "a is cancelled at 40 and runs on until 440: it is abandoned, and stays counted.",
        outlives("a", 400, "a1", "late"),
        inputs=at(0, A),
        timeout=40,
        handled=True,
        figures_at=(120, 320, 480),
        source_ends_at=520,
    ),
    _example(
        "read-after-an-attempt-that-runs-on: STAT-5, STAT-8",
        "The first attempt is cancelled at 80, and runs on while the second answers.",
        Plan("a", (Step("never", swallow=True, clean_up=400), Step(after=40, results=("a1",)))),
        inputs=at(0, A),
        retry=PlannedRetry(initial=40, attempt_timeout=80),
        figures_at=(200, 320),
        source_ends_at=560,
    ),
    _example(
        "read-after-a-failure: STAT-11",
        "b fails at 40, which the consumer learns at 240; until then nothing is in flight.",
        never("a"),
        raises("b", 40),
        inputs=at(0, A, B, C),
        capacity=2,
        sink=(SinkStep("pause", 240),),
        figures_at=(0, 120, 200),
    ),
    _example(
        "read-when-it-was-left: STAT-1, STAT-11",
        "The consumer leaves while a is called and b waits for room.",
        never("a"),
        inputs=at(0, A, B),
        capacity=1,
        sink=(SinkStep("pause", 80), SinkStep("leave")),
        figures_at=(40,),
    ),
    _example(
        "read-while-markers-and-barriers-find-no-room: STAT-1, STAT-2, STAT-3",
        "Behind a, a marker and a barrier wait for the consumer, and another barrier for them; "
        "none of them is in flight, held, or waits for room.",
        replies("a", 200, "a1"),
        capacity=1,
        inputs=at(0, A, LatencyMarker(1), Barrier(2), Barrier(3), B),
        sink=(SinkStep("pause", 160),),
        figures_at=(40, 120),
    ),
    _example(
        "read-while-others-wait-for-their-key: STAT-10",
        "b was read at 0 and is called at 120: from then on its age counts.",
        *(replies(value, 120, f"{value}1") for value in "ab"),
        mode="key-ordered",
        inputs=at(0, *(Record(value, key="k") for value in "ab")),
        figures_at=(80, 200),
    ),
)
