"""Operators that people write in plain asyncio, with a semaphore or a window for the capacity.

asyncwait verify asyncio_peers:as_completed asyncio_peers:window
asyncwait verify asyncio_peers:gathering asyncio_peers:grouping
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
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


async def windowed(
    records: Source, function: Function, capacity: int
) -> AsyncIterator[list[Record]]:
    """Begin calls until the window is full, then wait for the first of them."""
    tasks = deque[asyncio.Task[list[Record]]]()
    async for record in records:
        tasks.append(asyncio.create_task(function.call(record)))
        if len(tasks) == capacity:
            yield await tasks.popleft()
    while tasks:
        yield await tasks.popleft()


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


as_completed = partial(peer_backend, completed, "unordered")
window = partial(peer_backend, windowed, "ordered")
gathering = partial(peer_backend, gathered, "ordered")
grouping = partial(peer_backend, grouped, "ordered")
