"""The figures of a running operator: what is in flight, waits, is held, and was."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import anyio
import pytest
from operators import SIDE_BY_SIDE, Source

from asyncwait.spec import Mode, OpenOperator, OperatorConfig, Record, Statistics, Watermark

pytestmark = [pytest.mark.anyio, pytest.mark.all_profiles]


def steps_of(read: Callable[[], object]) -> int:
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
async def test_to_read_the_figures_takes_as_long_with_a_thousand_in_flight(
    open_operator: OpenOperator, mode: Mode
) -> None:
    async def steps_with(records: int) -> tuple[int, Statistics]:
        async def answer(number: int) -> list[int]:
            await anyio.sleep(1 + number % 2)
            return [number]

        inputs = [Watermark(0), *map(Record, range(1, records + 1)), Watermark(1)]
        source = Source(*inputs, 9)
        async with open_operator(OperatorConfig(mode, 5_000), answer, source) as results:
            await anyio.sleep(1.5)
            return steps_of(results.statistics), results.statistics()

    few, many = await steps_with(2), await steps_with(1_000)

    assert few[0] == many[0]
    assert (many[1].in_flight, many[1].held, many[1].undecided) == (1_000, 500, 500)
    assert many[1].oldest == 1.5


async def test_the_oldest_is_found_without_those_before_it(open_operator: OpenOperator) -> None:
    async def answer(number: int) -> list[int]:
        await anyio.sleep(100 if number == 700 else 0)
        return [number]

    async with open_operator(
        OperatorConfig("unordered", 1_000), answer, Source(*map(Record, range(1_000)), 99)
    ) as results:
        for _ in range(999):
            await anext(results)
        await anyio.sleep(5)
        figures = results.statistics()

        assert steps_of(results.statistics) < 100
    assert (figures.in_flight, figures.oldest) == (1, 5)
