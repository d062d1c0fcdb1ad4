"""Daft: `daft.func` of a coroutine function over a DataFrame, on the loop that Daft keeps.

asyncwait verify daft_func:backend
"""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import daft
from elsewhere import elsewhere

from asyncwait.conformance import StreamBackend


def mapped(count: int, call: Callable[[int], Future[Any]], capacity: int) -> Iterator[int]:
    """Iterate over the rows of a DataFrame with a column that is called for."""

    @daft.func(max_concurrency=capacity)
    async def called(number: int) -> int:
        await asyncio.wrap_future(call(number))
        return number

    if count:
        frame = daft.from_pydict({"number": list(range(count))})
        for row in frame.select(called(daft.col("number"))).iter_rows():
            yield row["number"]


def backend() -> StreamBackend:
    """Say what it has: results in the order of the rows."""
    return elsewhere(mapped, "ordered")
