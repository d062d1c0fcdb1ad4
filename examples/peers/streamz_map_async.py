"""streamz: `map_async` between a stream that is emitted into and a sink.

asyncwait verify streamz_map_async:backend
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial

from streamz import Stream

from asyncwait.conformance.adapting import Function, Source, peer_backend
from asyncwait.spec import Record


async def mapped(records: Source, function: Function, capacity: int) -> AsyncIterator[list[Record]]:
    """Emit the input, and read what the sink has put into a queue; `emit` says how far it is."""
    source, results = Stream(asynchronous=True), asyncio.Queue[list[Record] | None]()
    node = source.map_async(function.call, parallelism=capacity, stop_on_exception=True)
    node.sink(results.put_nowait)
    emitted = 0

    async def feed() -> None:
        nonlocal emitted
        async for record in records:
            await asyncio.gather(*source.emit(record))
            emitted += 1
        results.put_nowait(None)

    task, given = asyncio.create_task(feed()), 0
    try:
        while not (task.done() and given == emitted):
            if (got := await results.get()) is not None:
                yield got
                given += 1
        await task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        if node.work_task is not None:
            node.stop()


backend = partial(peer_backend, mapped, "ordered")
