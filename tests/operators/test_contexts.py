"""Context variables on every shipped operator: who sees what was set where."""

from collections.abc import AsyncIterator, Generator
from contextvars import ContextVar
from typing import Any

import pytest
from operators import Source, echo

from asyncwait.spec import OpenOperator, OperatorConfig, Record

pytestmark = pytest.mark.anyio

REQUEST: ContextVar[str] = ContextVar("REQUEST", default="none")


@pytest.fixture(autouse=True)
def _opened() -> Generator[None]:
    token = REQUEST.set("opened")
    yield
    REQUEST.reset(token)


async def test_open_and_close_share_the_context_of_the_consumer(
    open_operator: OpenOperator,
) -> None:
    seen: list[str] = []
    tokens: list[Any] = []

    async def look(value: str) -> list[str]:
        seen.append(REQUEST.get())
        return [value]

    fn: Any = look
    fn.open = lambda: tokens.append(REQUEST.set("span"))
    fn.close = lambda: REQUEST.reset(tokens.pop())

    async with open_operator(OperatorConfig(), fn, Source("a")) as results:
        assert (await anext(results)).value == "a"
    assert REQUEST.get() == "opened"

    assert (seen, tokens) == (["span"], [])


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


@pytest.mark.parametrize("is_left", [False, True])
async def test_a_source_has_one_context_which_the_consumer_does_not_see(
    open_operator: OpenOperator, *, is_left: bool
) -> None:
    seen: list[str] = []

    async def source() -> AsyncIterator[Record]:
        token = REQUEST.set("source")
        try:
            for name in "ab":
                yield Record(name)
                seen.append(REQUEST.get())
        finally:
            REQUEST.reset(token)
            seen.append("closed")

    async with open_operator(OperatorConfig(capacity=1), echo, source()) as results:
        async for _ in results:
            assert REQUEST.get() == "opened"
            if is_left:
                break

    assert {*seen[:-1]} <= {"source"}
    assert seen[-1] == "closed"
