"""The form for plain values, and the public face."""

from typing import Any

import anyio
import pytest

import asyncwait.backends.pool
from asyncwait.backends.pool import PoolResults, open_operator, ordered_wait, unordered_wait
from asyncwait.spec import CallFailed, OperatorConfig, OperatorResults, Record

pytestmark = pytest.mark.anyio


async def double(value: int) -> int:
    """Sleep for `value` seconds."""
    await anyio.sleep(value)
    return 2 * value


async def test_a_result_may_be_anything() -> None:
    """None, text and lists are results like others where there is one per value."""

    async def same(value: Any) -> Any:
        return value

    values: list[Any] = [None, "text", [], {"a": 1}, b""]
    async with ordered_wait(values, same) as results:
        assert [value async for value in results] == values


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
    """The protocol, and the further capability of the pool."""

    async def once(value: str) -> list[str]:
        return [value]

    async with open_operator(OperatorConfig(), once, feed("a")) as results:
        assert isinstance(results, PoolResults)
        assert isinstance(results, OperatorResults)
        assert aiter(results) is results
        assert [element async for element in results] == [Record("a")]
