"""Shapes of `docs/your-loop.md` as operators; none conforms, and the suite says why.

asyncwait verify shapes:sliding

What stands round each is what stands round a peer, and three of the shapes are peers.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

from asyncwait.conformance.adapting import Function, Source, peer_backend
from asyncwait.spec import Record

sys.path.append(str(Path(__file__).resolve().parents[1] / "peers"))

from aiostream_map import mapped
from asyncio_peers import gathered, windowed


async def workers(values: Source, function: Function, size: int) -> AsyncIterator[list[Record]]:
    """Let so many tasks work on one queue, and say what they have done at the end."""
    todo, done = asyncio.Queue[Record](), list[list[Record]]()

    async def work() -> None:
        while True:
            value = await todo.get()
            done.append(await function.call(value))
            todo.task_done()

    tasks = [asyncio.create_task(work()) for _ in range(size)]
    async for value in values:
        todo.put_nowait(value)
    await todo.join()
    for task in tasks:
        task.cancel()
    for results in done:
        yield results


gathering = partial(peer_backend, gathered, "ordered")
working = partial(peer_backend, workers, "unordered")
sliding = partial(peer_backend, windowed, "ordered")
streaming = partial(peer_backend, partial(mapped, in_order=True), "ordered")
