"""`aiometer.amap`, which takes a list and gives results as they are there.

asyncwait verify aiometer_amap:backend
"""

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import aiometer

from asyncwait.conformance.adapting import Function, Source, peer_backend
from asyncwait.spec import Record


@asynccontextmanager
async def mapped(
    records: Source, function: Function, capacity: int
) -> AsyncIterator[AsyncIterable[list[Record]]]:
    """Read everything, and map that."""
    listed = [record async for record in records]
    async with aiometer.amap(function.call, listed, max_at_once=capacity) as results:
        yield results


backend = partial(peer_backend, mapped, "unordered")
