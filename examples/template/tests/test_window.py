"""Tests of your own stand beside the gate: the plug-in of asyncwait stays out of them."""

import asyncio
from collections.abc import AsyncIterator

from asyncwait.spec import OperatorConfig, Record

from mypkg import open_operator


async def numbers() -> AsyncIterator[Record]:
    """Give three records."""
    for number in (3, 1, 2):
        yield Record(number)


async def ten_times(number: int) -> list[int]:
    """Answer a small number sooner than a large one."""
    for _ in range(number):
        await asyncio.sleep(0)
    return [10 * number]


async def results() -> list[int]:
    """Read a window to its end."""
    async with open_operator(OperatorConfig(capacity=2), ten_times, numbers()) as window:
        return [record.value async for record in window]


def test_results_keep_the_order_of_the_records() -> None:
    """Whichever is answered first."""
    assert asyncio.run(results()) == [30, 10, 20]
