"""Calls, consumers and their tasks are cancelled as their loop does it, and of no more."""

import asyncio
import sys
from contextlib import suppress
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from operators import Sleeper, Source, read_all, read_timed, seconds_now, virtual_loop

from asyncwait.spec import OpenOperator, OperatorConfig, Record

pytestmark = pytest.mark.anyio

on_asyncio = pytest.mark.parametrize("anyio_backend", [virtual_loop("asyncio")], ids=["asyncio"])
"""For what trio does not have."""


def present_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


@pytest.mark.parametrize("capacity", [1, 2, 5])
@pytest.mark.parametrize("number", range(0, 40, 6))
async def test_a_scope_that_is_cancelled_while_results_are_there_is_left_by_its_cancellation(
    open_operator: OpenOperator, capacity: int, number: int
) -> None:
    async def fn(value: int) -> list[int]:
        if value == number:
            scope.cancel()
        if value % 3:
            await anyio.lowlevel.checkpoint()
        return [value]

    source = Source(*map(Record, range(60)))
    with anyio.CancelScope() as scope:
        async with open_operator(OperatorConfig("ordered", capacity), fn, source) as results:
            async for _ in results:
                pass

    assert scope.cancelled_caught
    assert source.log == ["closed"]


async def test_an_error_beside_the_operator_is_the_only_one(open_operator: OpenOperator) -> None:
    reached = anyio.Event()

    async def fn(value: int) -> list[int]:
        if value == 20:
            reached.set()
        await anyio.lowlevel.checkpoint()
        return [value]

    async def read() -> None:
        source = Source(*map(Record, range(60)))
        async with open_operator(OperatorConfig("ordered", 3), fn, source) as results:
            async for _ in results:
                pass

    async def fail() -> None:
        await reached.wait()
        raise ValueError("beside")

    async def both() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(read)
            group.start_soon(fail)

    with pytest.raises(ExceptionGroup) as caught:
        await both()

    assert [repr(error) for error in caught.value.exceptions] == ["ValueError('beside')"]


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


@on_asyncio
async def test_a_time_limit_fires_in_a_call_and_in_its_clean_up(
    open_operator: OpenOperator,
) -> None:
    """It knows its own cancellation, also behind that of the call, as in a task of its own.

    Python before 3.11.3 takes the call's for its own there, whoever awaits it.
    """
    counts: list[int] = []

    async def limited() -> None:
        try:
            async with asyncio.timeout(1), asyncio.TaskGroup() as group:
                group.create_task(asyncio.sleep(9))
        except TimeoutError:
            counts.append(present_task().cancelling())

    async def fn(value: str) -> list[str]:
        try:
            if value == "late":
                await anyio.sleep_forever()
        finally:
            await limited()
        return [value]

    alone = asyncio.create_task(fn("late"))
    await asyncio.sleep(1)
    alone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await alone
    expected = [*counts, 0]
    counts.clear()

    fn.timeout = lambda value: [f"{value}?"]  # type: ignore[attr-defined]
    source = Source(Record("late"), 5, Record("b"), 5)
    config = OperatorConfig("ordered", 1, 2)
    async with open_operator(config, fn, source) as results:
        assert await read_all(results) == ["late?", "b"]
    assert counts == expected
    assert counts == [1, 0] or sys.version_info < (3, 11, 3)
