"""The plain-value form of the reference."""

from typing import Any

import anyio
import pytest

from asyncwait.reference import ordered_wait, unordered_wait
from asyncwait.spec import CallFailed, CallTimedOut, InvalidResult

pytestmark = pytest.mark.anyio


async def slowly(seconds: float) -> float:
    """Reply after so many seconds, with as many."""
    await anyio.sleep(seconds)
    return seconds


async def test_values_go_in_and_results_come_out_in_order() -> None:
    """One result for each value, whatever it is."""
    async with ordered_wait([3, 1, 2], slowly) as results:
        assert [result async for result in results] == [3, 1, 2]


async def test_values_go_in_and_results_come_out_as_they_finish() -> None:
    """At most as many calls at a time as there is capacity."""
    async with unordered_wait([5, 1, 2], slowly, capacity=2) as results:
        assert [result async for result in results] == [1, 2, 5]


async def test_many_results_for_one_value() -> None:
    """With `many` the function returns an iterable."""

    async def up_to(number: int) -> range:
        return range(number)

    async with ordered_wait([2, 0, 1], up_to, many=True) as results:
        assert [result async for result in results] == [0, 1, 0]


async def test_a_dict_is_not_many_results() -> None:
    """Its values would be lost."""

    async def mapping(value: str) -> dict[str, int]:
        return {value: 1}

    async with ordered_wait(["a"], mapping, many=True) as results:
        with pytest.raises(InvalidResult) as caught:
            await anext(results)

    assert str(caught.value) == (
        "value 'a': expected an iterable of results, got {'a': 1} (dict); "
        "return [] for none and [result] for one"
    )


async def test_a_timeout_and_an_error_are_plain() -> None:
    """No exception group is seen through the sugar either."""

    async def bad(value: Any) -> Any:
        raise ValueError(value)

    async with ordered_wait([9], slowly, timeout=1) as results:
        with pytest.raises(CallTimedOut, match="value 9: no results after 1 s"):
            await anext(results)
    async with unordered_wait([9], bad) as results:
        with pytest.raises(CallFailed, match="value 9: the call failed"):
            await anext(results)
