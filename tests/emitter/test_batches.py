"""Records that gather for a batch: when it goes, what it is given, and what is kept of them."""

import gc
import weakref
from collections.abc import AsyncIterator
from math import inf
from typing import Any

import anyio
import pytest

from asyncwait.backends.emitter import open_operator, unordered_wait
from asyncwait.spec import Batch, Element, OperatorConfig, Record, Retry, RetryAfter, Watermark

pytestmark = pytest.mark.anyio

PAIRS = Batch(max_size=2, max_wait=inf)


class Refusing:
    """Refuses the first value that it is asked for, once."""

    def __init__(self) -> None:
        self.calls: list[list[Any]] = []

    async def __call__(self, values: list[Any]) -> list[Any]:
        """Answer."""
        self.calls.append(values)
        return [RetryAfter(1) if len(self.calls) == 1 else [values[0]], *map(list, values[1:])]


async def given(*elements: Any) -> AsyncIterator[Element]:
    """Give these, and never end."""
    for each in elements:
        yield each if isinstance(each, Watermark) else Record(each)
    await anyio.sleep_forever()


@pytest.mark.parametrize(
    ("mode", "elements", "size"),
    [("ordered", "abcd", 2), ("unordered", ["a", Watermark(1), "b", "c"], 3)],
    ids=["ordered", "behind a fence"],
)
async def test_a_batch_goes_where_all_that_is_decided_waits_behind_it(
    mode: Any, elements: Any, size: int
) -> None:
    """Nothing makes room but this batch: to wait for more would be for ever (BAT-3)."""
    fn = Refusing()
    config = OperatorConfig(mode, size, retry=Retry(), batch=PAIRS)
    async with open_operator(config, fn, given(*elements)) as results:
        with anyio.fail_after(5):
            assert (await anext(results)).value == "a"  # type: ignore[union-attr]
    assert fn.calls[:2] == [["a", "b"], ["a"]]


async def test_a_function_may_change_the_list_that_it_is_given() -> None:
    async def fn(values: list[int]) -> dict[int, list[int]]:
        values.sort()
        found = {value: [10 * value] for value in values}
        values.clear()
        return found

    config = OperatorConfig(capacity=3, batch=Batch(max_size=3))
    async with open_operator(config, fn, given(3, 1, 2)) as results:
        found = [(await anext(results)).value for _ in range(3)]  # type: ignore[union-attr]
    assert found == [30, 10, 20]


class Value:
    """What can be watched."""


async def test_records_that_are_late_while_they_gather_again_are_not_kept() -> None:
    """Their places are taken, so that they gather until their deadlines (CAP-7)."""
    alive: weakref.WeakSet[Value] = weakref.WeakSet()
    calls = 0

    async def values() -> AsyncIterator[Value]:
        for _ in range(6):
            alive.add(value := Value())
            yield value
            del value
        await anyio.sleep_forever()

    async def fn(values: list[Value]) -> list[Any]:
        nonlocal calls
        calls += 1
        if calls == 3:
            await anyio.sleep(60)
        return [RetryAfter(1) for _ in values]

    options: dict[str, Any] = {"timeout": 5, "retry": Retry(), "on_error": "skip"}
    batch = Batch(max_size=2, in_flight=1)
    async with unordered_wait(values(), fn, capacity=6, batch=batch, **options) as results:
        with anyio.move_on_after(20):
            await anext(results)
        assert results.statistics().in_flight == 0
        gc.collect()
        assert len(alive) == 0
