"""Another operator on the same loop, on an errand of its own: neither may notice the other."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import anyio.lowlevel

from asyncwait.spec import OpenOperator, OperatorConfig, Record

_RECORDS = 6
ERRAND = 0.04
"""Seconds of each call of an errand."""
_WIDE = OperatorConfig("ordered", 64)


async def _records() -> AsyncIterator[Record]:
    for number in range(_RECORDS):
        yield Record(number, number, f"k{number}")


async def errand(open_operator: OpenOperator, *, takes: float) -> str:
    """Run an operator beside the one that is judged; return what was wrong with it, or nothing.

    Args:
        open_operator: opens it.
        takes: seconds of each call.
    """

    async def squared(value: int) -> list[int]:
        await (anyio.sleep(takes) if takes else anyio.lowlevel.checkpoint())
        return [value * value]

    came: list[Any] = []
    try:
        async with open_operator(OperatorConfig("ordered", 2, 1.0), squared, _records()) as results:
            try:
                while True:
                    came.append(await results.__anext__())
            except StopAsyncIteration:
                pass
    except Exception as error:
        return f"another operator on the loop raised {error!r}"
    due = [Record(n * n, n, f"k{n}") for n in range(_RECORDS)]
    return "" if came == due else f"another operator on the loop gave {came}, expected {due}"


def passing_on(open_operator: OpenOperator, elements: Any) -> AbstractAsyncContextManager[Any]:
    """Open an operator that passes on what it reads, for another one to read from."""

    async def same(value: Any) -> list[Any]:
        return [value]

    return open_operator(_WIDE, same, elements)
