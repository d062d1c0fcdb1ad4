"""Calls, consumers and their tasks are cancelled as their loop does it, and of no more."""

import asyncio
import math
from contextlib import suppress
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from operators import (
    Sleeper,
    Source,
    failure_of,
    read_all,
    read_timed,
    seconds_now,
    virtual_loop,
)

from asyncwait.spec import CallFailed, OpenOperator, OperatorConfig, Record

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


class Watched(Sleeper):
    """A function that keeps the task of each call, and its time limit and cancellations."""

    def __init__(self) -> None:
        super().__init__()
        self.tasks: dict[str, asyncio.Task[Any]] = {}
        self.seen: list[tuple[float, int]] = []
        self.counts: list[int] = []

    async def __call__(self, value: str) -> list[str]:
        task = self.tasks[value] = present_task()
        self.seen.append((anyio.current_effective_deadline(), task.cancelling()))
        try:
            return await super().__call__(value)
        except asyncio.CancelledError:
            self.counts.append(task.cancelling())
            raise

    def timeout(self, value: str) -> list[str]:
        return [f"no {value}"]


@on_asyncio
async def test_a_call_has_its_task_to_itself_and_sees_no_deadline(
    open_operator: OpenOperator,
) -> None:
    fn = Watched()
    config = OperatorConfig("ordered", 2, timeout=2)
    async with open_operator(config, fn, Source("a1", "b9", "c1", "d1")) as results:
        assert await read_all(results) == ["a1", "no b9", "c1", "d1"]

    assert len({*fn.tasks.values(), present_task()}) == 5
    assert fn.seen == [(math.inf, 0)] * 4
    assert fn.counts == [1]


@on_asyncio
async def test_the_task_of_a_running_call_may_be_cancelled_by_others(
    open_operator: OpenOperator,
) -> None:
    fn = Watched()
    async with open_operator(OperatorConfig(), fn, Source("a1", "b9", 99)) as results:
        assert await anext(results) == Record("a1")
        fn.tasks["b9"].cancel()
        error = await failure_of(results)

    assert isinstance(error, CallFailed)
    assert (error.record, type(error.__cause__)) == (Record("b9"), asyncio.CancelledError)


@on_asyncio
@pytest.mark.parametrize("when", [1.5, 3, 4.5], ids=["as b runs", "as c is read", "idle"])
async def test_who_cancels_the_task_of_a_call_that_is_over_ends_nothing(
    open_operator: OpenOperator, when: float
) -> None:
    fn = Watched()
    source = Source("a1", 1, "b1", 2, "c1", 2, "d1")
    async with open_operator(OperatorConfig(), fn, source) as results:
        await anyio.sleep(0.5)
        asyncio.get_running_loop().call_at(when, fn.tasks["a1"].cancel)
        assert await read_all(results) == ["a1", "b1", "c1", "d1"]
