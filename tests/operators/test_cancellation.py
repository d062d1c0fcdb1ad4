"""Calls, consumers and their tasks are cancelled as their loop does it, and of no more."""

import asyncio
from contextlib import suppress
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from operators import Sleeper, Source, read_all, read_timed, seconds_now, virtual_loop

from asyncwait.spec import OpenOperator, OperatorConfig

pytestmark = pytest.mark.anyio

on_asyncio = pytest.mark.parametrize("anyio_backend", [virtual_loop("asyncio")], ids=["asyncio"])
"""For what trio does not have."""


def present_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


@on_asyncio
@pytest.mark.parametrize("times", [1, 2, 3])
async def test_each_cancellation_of_its_task_is_counted(
    open_operator: OpenOperator, times: int
) -> None:
    fn = Sleeper()
    fn.clean_up = 3.0
    counts: list[int] = []

    async def use() -> None:
        try:
            async with open_operator(OperatorConfig(), fn, Source("a99")) as results:
                await read_all(results)
        finally:
            counts.append(present_task().cancelling())

    user = asyncio.create_task(use())
    await asyncio.sleep(1)
    for _ in range(times):
        user.cancel()
        await asyncio.sleep(0.5)
    with pytest.raises(asyncio.CancelledError):
        await user

    assert counts == [times]
    assert seconds_now() == 4


async def test_a_cancelled_call_that_makes_up_a_cancellation_ends_nothing_else(
    open_operator: OpenOperator,
) -> None:
    class Stubborn(Sleeper):
        async def __call__(self, value: str) -> list[str]:
            with suppress(anyio.get_cancelled_exc_class()):
                return await super().__call__(value)
            raise asyncio.CancelledError(value)

        def timeout(self, value: str) -> list[str]:
            return [f"no {value}"]

    config = OperatorConfig(timeout=2)
    async with open_operator(config, Stubborn(), Source("a9", 5, "b1")) as results:
        assert await read_timed(results) == [(2, "no a9"), (6, "b1")]
