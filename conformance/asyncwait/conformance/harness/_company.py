"""Another operator on the same loop, with its own stream: neither may notice the other.

It is of the same kind: it has the mode of the judged operator, and a timeout if that operator has.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import anyio.lowlevel

from asyncwait.spec import OpenOperator, OperatorConfig, Record
from asyncwait.spec.texts import shown

_RECORDS = 6
ERRAND = 0.04
"""Seconds that each call of the other operator takes."""


async def _records() -> AsyncIterator[Record]:
    for number in range(_RECORDS):
        yield Record(number, number, f"k{number}")


async def errand(open_operator: OpenOperator, kind: OperatorConfig, *, takes: float) -> str:
    """Run an operator beside the judged operator; return its fault, or an empty text."""
    config = OperatorConfig(kind.mode, 2, None if kind.timeout is None else 1.0)

    async def squared(value: int) -> list[int]:
        await (anyio.sleep(takes) if takes else anyio.lowlevel.checkpoint())
        return [value * value]

    came: list[Any] = []
    try:
        async with open_operator(config, squared, _records()) as results:
            try:
                while True:
                    came.append(await results.__anext__())
            except StopAsyncIteration:
                pass
    except Exception as error:
        await anyio.lowlevel.checkpoint()  # The error of a cancelled operator says nothing.
        return f"another operator on the loop raised {shown(error)}"
    due = [Record(n * n, n, f"k{n}") for n in range(_RECORDS)]
    if config.mode != "ordered":
        came, due = sorted(came, key=str), sorted(due, key=str)
    return "" if came == due else f"another operator on the loop gave {came}, expected {due}"


def passing_on(
    open_operator: OpenOperator, kind: OperatorConfig, elements: Any
) -> AbstractAsyncContextManager[Any]:
    """Open an operator that passes on its elements in order, as the source of another operator."""

    async def same(value: Any) -> list[Any]:
        return [value]

    config = OperatorConfig(kind.mode, 64 if kind.mode == "ordered" else 1)
    return open_operator(config, same, elements)
