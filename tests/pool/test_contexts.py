"""Tasks and contexts that calls share, and the end of the sharing."""

import asyncio
from collections.abc import AsyncIterator
from contextvars import ContextVar, copy_context
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from asyncwait.backends.pool import open_operator
from asyncwait.backends.pool._coroutine_workers import within
from asyncwait.spec import CallFailed, OperatorConfig, Record

pytestmark = pytest.mark.anyio

PLACE: ContextVar[str] = ContextVar("PLACE", default="nowhere")


async def feed(*values: str) -> AsyncIterator[Record]:
    for value in values:
        yield Record(value)


def present() -> Any:
    return anyio.get_current_task().id


async def values_of(config: OperatorConfig, fn: Any, *values: str) -> list[Any]:
    async with open_operator(config, fn, feed(*values)) as results:
        return [element.value async for element in results if isinstance(element, Record)]


async def test_calls_that_set_nothing_share_a_task() -> None:
    tasks: set[int] = set()

    async def fn(value: str) -> list[str]:
        tasks.add(present())
        await anyio.lowlevel.checkpoint()
        return [value]

    assert await values_of(OperatorConfig("ordered", 1), fn, *"abcdef") == list("abcdef")
    assert len(tasks) == 1


async def test_calls_that_set_something_share_a_task_and_no_context() -> None:
    tasks: list[int] = []
    seen: list[str] = []

    async def fn(value: str) -> list[str]:
        tasks.append(present())
        seen.append(PLACE.get())
        PLACE.set(value)
        await anyio.sleep(1)
        return [PLACE.get()]

    assert await values_of(OperatorConfig("ordered", 1), fn, *"abcdef") == list("abcdef")
    assert seen == ["nowhere"] * 6
    assert len(set(tasks[1:])) == 1


async def test_a_function_that_is_none_is_told_in_any_context() -> None:
    def fn(value: str) -> Any:
        PLACE.set(value)
        return answer(value) if value == "a" else value

    async def answer(value: str) -> list[str]:
        return [value]

    async with open_operator(OperatorConfig("ordered", 1), fn, feed("a", "b")) as results:
        assert (await anext(results)) == Record("a")
        with pytest.raises(CallFailed, match="expected an awaitable from fn"):
            await anext(results)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_loop_that_ends_amid_a_call_closes_it() -> None:
    closed: list[str] = []

    async def fn(value: str) -> list[str]:
        PLACE.set(value)
        try:
            await asyncio.sleep(0 if value == "a" else 9)
        except GeneratorExit:
            closed.append(PLACE.get())
            raise
        return [value]

    step = within(copy_context(), fn("b"))
    step.send(None)
    step.close()

    assert closed == ["b"]
