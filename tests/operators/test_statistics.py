"""The figures of a running operator: what is in flight, waits, is held, and was."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import anyio
import pytest
from operators import SIDE_BY_SIDE, Callbacks, Sleeper, Source

from asyncwait.spec import (
    Barrier,
    LatencyMarker,
    Mode,
    OpenOperator,
    OperatorConfig,
    Record,
    Snapshot,
    Statistics,
    Watermark,
)

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("mode", SIDE_BY_SIDE)
async def test_the_figures_of_each_moment(open_operator: OpenOperator, mode: Mode) -> None:
    """Records count as in flight until their last result is taken; fences, markers never do."""
    fn: Any = Sleeper()
    fn.timeout = lambda value: [value, value]
    source = Source(
        0.5, "a1", Watermark(1), LatencyMarker(1), Barrier(1), "b9", 0.5, "c1", "d1", "e1", 99
    )

    async with open_operator(OperatorConfig(mode, 4, 3), fn, source) as results:
        figures = [results.statistics()]
        for at in (0.75, 1.25, 2.25, 4.25):
            await anyio.sleep_until(at)
            figures.append(results.statistics())

    assert figures == [
        Statistics(),
        Statistics(in_flight=2, calls=2, max_in_flight=2, oldest=0.25),
        # The watermark has a slot, and the record behind the next one waits.
        Statistics(in_flight=3, waiting=1, calls=3, max_in_flight=3, oldest=0.75),
        Statistics(
            in_flight=3, waiting=1, held=2, calls=3, max_in_flight=3, max_held=2, oldest=1.75
        ),
        Statistics(
            in_flight=3,
            waiting=1,
            held=3,
            calls=3,
            timeouts=1,
            max_in_flight=3,
            max_held=3,
            oldest=3.75,
        ),
    ]


async def test_a_record_taken_in_part_is_in_flight(open_operator: OpenOperator) -> None:
    """Its slot is free when its last result is taken."""

    async def pair(value: str) -> list[str]:
        return [value, value.upper()]

    async with open_operator(OperatorConfig("ordered", 1), pair, Source("a", "b", 9)) as results:
        seen: list[tuple[int, int]] = []
        for _ in range(4):
            await anext(results)
            await anyio.sleep(1)
            figures = results.statistics()
            seen.append((figures.in_flight, figures.calls))

    assert seen == [(1, 1), (1, 2), (1, 2), (0, 2)]


async def test_what_is_to_be_restored_was_not_taken_from_the_source(
    open_operator: OpenOperator,
) -> None:
    """It waits for room, but not as an element of the source."""
    stored = Snapshot(1, (Record("a1"), Record("b1"), Record("c1")))

    async with open_operator(
        OperatorConfig("ordered", 1), Sleeper(), Source("d1", "e1", 99), stored
    ) as results:
        await anyio.sleep(0.5)
        first = results.statistics()
        for _ in range(3):
            await anext(results)
        await anyio.sleep(0.5)
        second = results.statistics()

    assert first == Statistics(in_flight=1, calls=1, max_in_flight=1, oldest=0.5)
    assert second == Statistics(
        in_flight=1, waiting=1, calls=4, max_in_flight=1, max_held=1, oldest=0.5
    )


async def test_calls_in_callback_form_are_never_abandoned(open_operator: OpenOperator) -> None:
    """Nobody knows whether they run on."""
    fn: Any = Callbacks()
    fn.timeout = lambda value: [value]

    async with open_operator(OperatorConfig("ordered", 1, 1), fn, Source(*"abcde", 9)) as results:
        for _ in range(5):
            await anext(results)
        await anyio.sleep(1)
        figures = results.statistics()

    assert figures == Statistics(calls=5, timeouts=5, max_in_flight=1, max_held=1)


def steps_of(read: Callable[[], object]) -> int:
    """Count the lines that are run."""
    steps, before = 0, sys.gettrace()

    def count(_frame: FrameType, _event: str, _argument: object) -> Any:
        nonlocal steps
        steps += 1
        return count

    sys.settrace(count)
    try:
        read()
    finally:
        sys.settrace(before)
    return steps


@pytest.mark.parametrize("mode", SIDE_BY_SIDE)
async def test_to_read_the_figures_takes_as_long_with_thousands_in_flight(
    open_operator: OpenOperator, mode: Mode
) -> None:
    """One record or 3,000 of them, every second decided, and watermarks that wait with them."""

    async def steps_with(records: int) -> tuple[int, Statistics]:
        async def answer(number: int) -> list[int]:
            await anyio.sleep(1 + number % 2)
            return [number]

        inputs = [Watermark(0), *map(Record, range(1, records + 1)), Watermark(1)]
        source = Source(*inputs, 9)
        async with open_operator(OperatorConfig(mode, 5_000), answer, source) as results:
            await anyio.sleep(1.5)
            return steps_of(results.statistics), results.statistics()

    few, many = await steps_with(2), await steps_with(3_000)

    assert few[0] == many[0]
    assert (many[1].in_flight, many[1].held, many[1].undecided) == (3_000, 1_500, 1_500)
    assert many[1].oldest == 1.5


async def test_the_oldest_is_found_without_those_before_it(open_operator: OpenOperator) -> None:
    """However many were called before it and are gone."""

    async def answer(number: int) -> list[int]:
        await anyio.sleep(100 if number == 2_000 else 0)
        return [number]

    async with open_operator(
        OperatorConfig("unordered", 3_000), answer, Source(*map(Record, range(3_000)), 99)
    ) as results:
        for _ in range(2_999):
            await anext(results)
        await anyio.sleep(5)
        figures = results.statistics()

        assert steps_of(results.statistics) < 100
    assert (figures.in_flight, figures.oldest) == (1, 5)
