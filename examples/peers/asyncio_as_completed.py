"""`asyncio.as_completed` over all calls, of which a semaphore lets so many run at once.

asyncwait verify asyncio_as_completed:backend
"""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

from asyncwait.conformance.adapting import Function, Source, peer_backend
from asyncwait.spec import Record


async def completed(
    records: Source, function: Function, capacity: int
) -> AsyncIterator[list[Record]]:
    """Read everything, and give results as calls end."""
    room = asyncio.Semaphore(capacity)

    async def limited(record: Record) -> list[Record]:
        async with room:
            return await function.call(record)

    tasks = [asyncio.create_task(limited(record)) async for record in records]
    for next_one in asyncio.as_completed(tasks):
        yield await next_one


backend = partial(peer_backend, completed, "unordered")
