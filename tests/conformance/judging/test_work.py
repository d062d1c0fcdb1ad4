"""What judging costs grows with the size of a trace, and no faster.

Work is counted in instructions of the interpreter, not in seconds.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from types import FrameType
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from asyncwait.backends.pool import open_operator
from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import impossible, judge
from asyncwait.spec import Barrier, Element, LatencyMarker, Record, Watermark
from asyncwait.spec.scenario import (
    CallCancelled,
    CallEnded,
    CallStarted,
    Event,
    Handler,
    Plan,
    Scenario,
    SinkStep,
    SinkTook,
    Step,
    Timed,
    Trace,
)

FEW, MANY = 40, 400
MOST_GROWTH = 1.5
"""Sorting and heaps cost a little more than their size; what is squared costs ten times as much."""


class Work:
    instructions = 0


@contextmanager
def counted() -> Iterator[Work]:
    work, before = Work(), sys.gettrace()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        work.instructions += event == "opcode"
        return trace

    sys.settrace(trace)
    try:
        yield work
    finally:
        sys.settrace(before)


def element(rng: Random, number: int) -> Element:
    chance = rng.random()
    if chance < 0.08:
        return Watermark(number)
    if chance < 0.14:
        return Barrier(number)
    if chance < 0.2:
        return LatencyMarker(number)
    return Record(f"v{rng.randrange(5)}", rng.choice([None, number]), rng.choice([None, "k"]))


def stream(size: int, **changes: Any) -> Scenario:
    rng = Random(size)
    times = sorted(40 * rng.randrange(size // 3) for _ in range(size))
    steps = tuple(
        Step(after=rng.choice([0, 40, 80, 120]), results=tuple(f"{n}.{p}" for p in range(n % 4)))
        for n in range(12)
    )
    plans = tuple(Plan(f"v{n}", steps, Handler("reply", (f"{n}?",))) for n in range(5))
    inputs = tuple(Timed(at, element(rng, number)) for number, at in enumerate(times))
    planned = Scenario(capacity=5, timeout=120, handled=True, inputs=inputs, plans=plans)
    return replace(planned, **changes)


def whole(events: tuple[Event, ...]) -> tuple[Event, ...]:
    return events


def without_outputs(events: tuple[Event, ...]) -> tuple[Event, ...]:
    return tuple(event for event in events if not isinstance(event, SinkTook))


def without_calls(events: tuple[Event, ...]) -> tuple[Event, ...]:
    calls = CallStarted | CallCancelled | CallEnded
    return tuple(event for event in events if not isinstance(event, calls))


def turned_round(events: tuple[Event, ...]) -> tuple[Event, ...]:
    out = [event.element for event in events if isinstance(event, SinkTook)]
    return tuple(
        SinkTook(event.at, out.pop()) if isinstance(event, SinkTook) else event for event in events
    )


def work_of(planned: Scenario, damaged: Callable[[tuple[Event, ...]], tuple[Event, ...]]) -> float:
    """What it costs to judge a run of the pool after it was damaged, for each byte of it.

    An operator that holds ten times as much puts out Snapshots that are ten times as large.
    """
    (leg,) = play(open_operator, planned).legs
    trace = Trace((replace(leg, events=damaged(leg.events)),))
    with counted() as work:
        judged = judge(planned, trace, CHECKS)
        impossible(planned, trace)
    assert not judged.error
    assert any(judged.violations()) == (damaged is not whole)
    return work.instructions / len(msgspec.json.encode((planned, trace)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("damaged", [whole, without_outputs, without_calls, turned_round])
@pytest.mark.parametrize("mode", ["ordered", "unordered"])
@pytest.mark.parametrize("is_wide", [False, True], ids=["narrow", "wide"])
def test_judging_a_trace_of_ten_times_the_size_is_ten_times_the_work(
    damaged: Callable[[tuple[Event, ...]], tuple[Event, ...]], mode: str, *, is_wide: bool
) -> None:
    pause = (SinkStep("pause", 80 * MANY),)
    few, many = (
        stream(size, mode=mode, **({"capacity": size, "sink": pause} if is_wide else {}))
        for size in (FEW, MANY)
    )

    assert work_of(many, damaged) < MOST_GROWTH * work_of(few, damaged)
