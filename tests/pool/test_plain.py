"""The form for plain values, and the public face."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

import asyncwait.backends.pool
from asyncwait.backends.pool import PoolResults, open_operator, ordered_wait, unordered_wait
from asyncwait.spec import CallFailed, CallTimedOut, OperatorConfig, OperatorResults, Record

pytestmark = pytest.mark.anyio


async def double(value: int) -> int:
    """Sleep for `value` seconds."""
    await anyio.sleep(value)
    return 2 * value


async def test_ordered_wait_gives_one_result_per_value_in_order() -> None:
    """From any iterable."""
    async with ordered_wait([3, 1, 2], double) as results:
        assert [value async for value in results] == [6, 2, 4]


async def test_unordered_wait_gives_them_as_they_finish() -> None:
    """From an async iterable, too."""

    async def source() -> AsyncIterator[int]:
        for value in (3, 1, 2):
            yield value

    async with unordered_wait(source(), double) as results:
        assert [value async for value in results] == [2, 4, 6]


async def test_a_result_may_be_anything() -> None:
    """None, text and lists are results like others where there is one per value."""

    async def same(value: Any) -> Any:
        return value

    values: list[Any] = [None, "text", [], {"a": 1}, b""]
    async with ordered_wait(values, same) as results:
        assert [value async for value in results] == values


async def test_many_gives_all_results_of_each_value() -> None:
    """In their order."""

    async def below(value: int) -> range:
        return range(value)

    async with ordered_wait([2, 0, 3], below, many=True) as results:
        assert [value async for value in results] == [0, 1, 0, 1, 2]


async def test_timeout_and_capacity_are_the_operators() -> None:
    """Seconds, and calls at a time."""
    async with ordered_wait([1, 2, 9], double, timeout=5, capacity=1) as results:
        assert await anext(results) == 2
        assert await anext(results) == 4
        with pytest.raises(CallTimedOut, match=r"^value 9: no results after 5 s, "):
            await anext(results)

    assert anyio.current_time() == 8


async def test_a_failure_is_the_plain_error() -> None:
    """It names the value."""

    async def fails(value: int) -> int:
        raise ValueError(value)

    with pytest.raises(CallFailed, match=r"^value 7: the call failed: ValueError\(7\)$"):
        async with unordered_wait([7], fails) as results:
            await anext(results)


async def test_the_public_face_is_sorted_and_complete() -> None:
    """What the package says it has."""
    names = asyncwait.backends.pool.__all__

    assert names == sorted(names)
    waits = ["key_ordered_wait", "open_operator", "open_plain", "ordered_wait", "unordered_wait"]
    assert names == ["PoolResultFuture", "PoolResults", "RunningCall", *waits]
    assert ordered_wait.__name__ == "ordered_wait"  # type: ignore[attr-defined]


async def test_results_are_what_the_contract_says(feed: Any) -> None:
    """The protocol, and the further ability of the pool."""

    async def once(value: str) -> list[str]:
        return [value]

    async with open_operator(OperatorConfig(), once, feed("a")) as results:
        assert isinstance(results, PoolResults)
        assert isinstance(results, OperatorResults)
        assert aiter(results) is results
        assert [element async for element in results] == [Record("a")]
