"""Context variables on every shipped operator: who sees what was set where."""

from collections.abc import AsyncIterator, Generator
from contextvars import ContextVar, copy_context
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from operators import Source

from asyncwait.spec import OpenOperator, OperatorConfig

pytestmark = pytest.mark.anyio

REQUEST: ContextVar[str] = ContextVar("REQUEST", default="none")


@pytest.fixture(autouse=True)
def _opened() -> Generator[None]:
    token = REQUEST.set("opened")
    yield
    REQUEST.reset(token)


class Looking:
    def __init__(self) -> None:
        self.seen: list[str] = []

    def look(self, value: Any) -> None:
        self.seen.append(REQUEST.get())
        REQUEST.set(value)

    async def __call__(self, value: Any) -> list[Any]:
        self.look(value)
        await anyio.sleep(1)
        return [REQUEST.get()]


async def out_of(results: AsyncIterator[Any]) -> list[Any]:
    """The values of all records; the consumer sets something before each of them."""
    values: list[Any] = []
    while True:
        mine = f"consumer {len(values)}"
        REQUEST.set(mine)
        element = await anext(results, None)
        assert REQUEST.get() == mine
        if element is None:
            return values
        values.append(element.value)


async def test_a_thread_sees_what_its_call_has_set(open_operator: OpenOperator) -> None:
    async def fn(value: str) -> list[str]:
        before = await anyio.to_thread.run_sync(REQUEST.get)
        REQUEST.set(value)
        return [before, await anyio.to_thread.run_sync(REQUEST.get)]

    async with open_operator(OperatorConfig(capacity=1), fn, Source("a", "b")) as results:
        assert await out_of(results) == ["opened", "a", "opened", "b"]


async def test_open_and_close_share_the_context_of_the_consumer(
    open_operator: OpenOperator,
) -> None:
    fn: Any = Looking()
    tokens: list[Any] = []
    fn.open = lambda: tokens.append(REQUEST.set("span"))
    fn.close = lambda: REQUEST.reset(tokens.pop())

    async with open_operator(OperatorConfig(), fn, Source("a")) as results:
        assert (await anext(results)).value == "a"
    assert REQUEST.get() == "opened"

    assert (fn.seen, tokens) == (["span"], [])


class _Awkward:
    """Is equal to nothing: to ask raises, as with an array."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("ambiguous")

    __hash__ = object.__hash__


async def test_a_variable_may_hold_what_can_not_be_compared(open_operator: OpenOperator) -> None:
    held: ContextVar[Any] = ContextVar("held")
    base = _Awkward()
    held.set(base)
    seen: list[Any] = []

    async def fn(value: str) -> list[str]:
        seen.append(held.get())
        held.set(_Awkward())
        return [value]

    async with open_operator(OperatorConfig(capacity=1), fn, Source(*"abc")) as results:
        assert [each.value async for each in results] == list("abc")

    assert [one is base for one in seen] == [True] * 3


async def test_a_variable_that_is_set_and_reset_is_no_difference(
    open_operator: OpenOperator,
) -> None:
    fn = Looking()

    async def traced(value: str) -> list[str]:
        fn.seen.append(REQUEST.get())
        token = REQUEST.set("span")
        try:
            await anyio.sleep(1)
        finally:
            REQUEST.reset(token)
        return [value]

    before = copy_context()
    async with open_operator(OperatorConfig(), traced, Source(*"abc")) as results:
        assert [each.value async for each in results] == list("abc")

    assert fn.seen == ["opened"] * 3
    assert copy_context()[REQUEST] == before[REQUEST]
