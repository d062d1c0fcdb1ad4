"""A window of tasks that slides over the input, as many people write it in plain asyncio.

asyncwait verify asyncio_window:backend
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from functools import partial

from asyncwait.conformance.adapting import Function, Source, peer_backend
from asyncwait.spec import Record


async def window(records: Source, function: Function, capacity: int) -> AsyncIterator[list[Record]]:
    """Begin calls until the window is full, then wait for the first of them."""
    tasks = deque[asyncio.Task[list[Record]]]()
    async for record in records:
        tasks.append(asyncio.create_task(function.call(record)))
        if len(tasks) == capacity:
            yield await tasks.popleft()
    while tasks:
        yield await tasks.popleft()


backend = partial(peer_backend, window, "ordered")
