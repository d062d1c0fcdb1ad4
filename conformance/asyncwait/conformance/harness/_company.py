"""Another operator on the same loop, on an errand of its own: neither may notice the other.

It is of the same kind: it has the mode of the one that is judged, and a timeout if that has one.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

import anyio
import anyio.lowlevel

from asyncwait.conformance.harness._recorder import Recorder
from asyncwait.conformance.harness._script import TimedElements
from asyncwait.spec import OpenOperator, OperatorConfig, Record
from asyncwait.spec.scenario import LegStart
from asyncwait.spec.texts import shown

_RECORDS = 6
_THE_END = "the end"

ERRAND = 0.04
"""Seconds of each call of an errand."""


async def _records() -> AsyncIterator[Record]:
    for number in range(_RECORDS):
        yield Record(number, number, f"k{number}")


async def errand(open_operator: OpenOperator, kind: OperatorConfig, *, takes: float) -> str:
    """Run an operator beside the one that is judged; return what was wrong with it, or nothing."""
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
        await anyio.lowlevel.checkpoint()  # What a cancelled errand raises says nothing.
        return f"another operator on the loop raised {shown(error)}"
    due = [Record(n * n, n, f"k{n}") for n in range(_RECORDS)]
    if config.mode != "ordered":
        came, due = sorted(came, key=str), sorted(due, key=str)
    return "" if came == due else f"another operator on the loop gave {came}, expected {due}"


@asynccontextmanager
async def passing_on(
    open_operator: OpenOperator, plan: LegStart, elements: Any, recorder: Recorder
) -> AsyncGenerator["PassedOn"]:
    """Open an operator that passes on what it reads, in order, for another one to read from."""

    async def same(value: Any) -> list[Any]:
        return [value]

    mode = plan.config.mode
    config = OperatorConfig(mode, 64 if mode == "ordered" else 1)
    async with open_operator(config, same, elements) as results:
        yield PassedOn(results, plan, recorder)


class PassedOn:
    """What an operator passes on to the one that is judged, which reads as planned in any case.

    From the first element on that is not as planned, the elements of the plan are given instead:
    what is wrong with the one operator is no input of the other, and other scenarios show it.

    Args:
        results: of the operator before.
        plan: of the leg.
        recorder: whose clock it is.
    """

    def __init__(self, results: AsyncIterator[Any], plan: LegStart, recorder: Recorder) -> None:
        self._results = results
        self._plan, self._recorder = plan, recorder
        self._passed = 0
        self._planned: TimedElements | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        """Return the next element, whoever gives it."""
        if self._planned is not None:
            return await self._planned.__anext__()
        inputs, element = self._plan.inputs, None
        due = shown(inputs[self._passed].element) if self._passed < len(inputs) else _THE_END
        try:
            element = await self._results.__anext__()
            came = shown(element)
        except StopAsyncIteration:
            came = _THE_END
        except Exception as error:
            came = f"the error {shown(error)}"
        if came != due:
            self._planned = TimedElements(self._plan, self._recorder, first=self._passed)
            return await self._planned.__anext__()
        if came == _THE_END:
            raise StopAsyncIteration
        self._passed += 1
        return element
