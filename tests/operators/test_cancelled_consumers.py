"""A consumer that is cancelled learns of that and of nothing else, and its count stays right."""

import asyncio
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from operators import Sleeper, Source, failure_of, read_all, read_timed, seconds_now, virtual_loop

from asyncwait.spec import CallFailed, OpenOperator, OperatorConfig, Record

pytestmark = pytest.mark.anyio

on_asyncio = pytest.mark.parametrize("anyio_backend", [virtual_loop("asyncio")], ids=["asyncio"])
"""There tasks can be cancelled, and count how often they were; on trio scopes are alone."""


def present_task() -> asyncio.Task[Any]:
    """The task that runs."""
    task = asyncio.current_task()
    assert task is not None
    return task


@pytest.mark.parametrize("capacity", [1, 2, 5])
@pytest.mark.parametrize("number", range(0, 40, 3))
async def test_a_scope_that_is_cancelled_while_results_are_there_is_left_by_its_cancellation(
    open_operator: OpenOperator, capacity: int, number: int
) -> None:
    """Although the operator's tasks are cancelled by it as well, and may be gone first."""

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
    """Where a task group ends because another task of it has failed."""
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
    """As often as somebody asked for it, so that a time limit round the operator knows its own."""
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


@on_asyncio
async def test_a_call_that_cancels_its_own_task_fails_by_that(
    open_operator: OpenOperator,
) -> None:
    """Also if it awaits nothing behind that; nobody else is cancelled by it."""

    async def fn(value: str) -> list[str]:
        if value == "b":
            present_task().cancel()
        return [value]

    for capacity in (1, 2, 100):
        config = OperatorConfig("ordered", capacity)
        async with open_operator(config, fn, Source("a", 1, "b", 1, "c")) as results:
            assert await anext(results) == Record("a")
            error = await failure_of(results)

        assert type(error) is CallFailed
        assert error.record == Record("b")
        assert type(error.__cause__) is asyncio.CancelledError


@on_asyncio
async def test_a_call_that_cancels_its_own_task_and_raises_fails_by_what_it_raised(
    open_operator: OpenOperator,
) -> None:
    """The cancellation goes with it."""

    async def fn(value: str) -> list[str]:
        present_task().cancel()
        raise ValueError(value)

    fn.failure = lambda value, error: [value, repr(error.__cause__)]  # type: ignore[attr-defined]
    async with open_operator(OperatorConfig("ordered"), fn, Source("a", "b")) as results:
        assert await read_all(results) == ["a", "ValueError('a')", "b", "ValueError('b')"]


@on_asyncio
async def test_a_task_that_is_cancelled_when_its_call_has_ended_harms_nobody(
    open_operator: OpenOperator,
) -> None:
    """As a watchdog does that fires late; nothing else runs in that task then."""

    async def fn(value: str) -> list[str]:
        asyncio.get_running_loop().call_later(1, present_task().cancel)
        return [value]

    async with open_operator(OperatorConfig("ordered"), fn, Source("a", 3, "b", "c")) as results:
        came = await read_timed(results)

    assert came == [(0, "a"), (3, "b"), (3, "c")]
