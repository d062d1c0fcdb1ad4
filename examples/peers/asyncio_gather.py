"""`asyncio.gather`, and tasks of a `TaskGroup`, of which a semaphore lets so many run at once.

asyncwait verify asyncio_gather:gathering asyncio_gather:grouping
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

from asyncwait.conformance.adapting import Function, Source, peer_backend
from asyncwait.spec import Record


async def limited(
    records: Source, function: Function, capacity: int
) -> list[Callable[[], Awaitable[list[Record]]]]:
    """Read everything; return what calls for each record when there is room."""
    room = asyncio.Semaphore(capacity)

    async def call(record: Record) -> list[Record]:
        async with room:
            return await function.call(record)

    return [lambda record=record: call(record) async for record in records]


async def gathered(*given: object) -> AsyncIterator[list[Record]]:
    """Gather, and give the results."""
    for results in await asyncio.gather(*(call() for call in await limited(*given))):
        yield results


async def grouped(*given: object) -> AsyncIterator[list[Record]]:
    """Have a task for each in a group, and give the results behind it."""
    calls = await limited(*given)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(call()) for call in calls]
    for task in tasks:
        yield task.result()


gathering = partial(peer_backend, gathered, "ordered")
grouping = partial(peer_backend, grouped, "ordered")
