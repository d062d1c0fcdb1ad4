"""Tasks that batches share, and the end of the sharing."""

import asyncio
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from asyncwait.backends.pool import ordered_wait
from asyncwait.spec import Batch

pytestmark = pytest.mark.anyio


PAIRS = Batch(max_size=2, max_wait=1, in_flight=1)


async def values_of(source: Any, fn: Any, **options: Any) -> list[Any]:
    async with ordered_wait(source, fn, capacity=2, **options) as results:
        return [value async for value in results]


async def test_batches_that_set_nothing_share_a_task() -> None:
    tasks: set[int] = set()

    async def fn(values: list[int]) -> list[int]:
        tasks.add(anyio.get_current_task().id)
        await anyio.lowlevel.checkpoint()
        return values

    assert await values_of(range(8), fn, batch=PAIRS) == list(range(8))
    assert len(tasks) == 1


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_late_cancellation_of_a_batch_hits_no_further_one() -> None:
    kept: list[asyncio.Task[Any]] = []

    async def fn(values: list[int]) -> list[int]:
        if kept:
            kept[0].cancel()
        task = asyncio.current_task()
        assert task is not None
        kept.append(task)
        await asyncio.sleep(0)
        return values

    assert await values_of(range(6), fn, batch=PAIRS) == list(range(6))
    assert len(set(kept)) == 3
