"""Workers of a task group between two memory object streams of anyio, with a limit for each call.

asyncwait verify anyio_workers:backend
"""

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from anyio import create_memory_object_stream, create_task_group, fail_after

from asyncwait.conformance.adapting import Function, Source, peer_backend
from asyncwait.spec import Record


async def feed(records: Source, todo: Any) -> None:
    """Send the input to whichever worker is free."""
    async with todo:
        async for record in records:
            await todo.send(record)


async def work(todo: Any, function: Function, done: Any) -> None:
    """Call for one record after the other."""
    async with todo, done:
        async for record in todo:
            await done.send(await limited(function, record))


async def limited(function: Function, record: Record) -> list[Record]:
    """Call, and give up when the time is over."""
    try:
        with fail_after(function.timeout):
            return await function.call(record)
    except TimeoutError:
        return function.late(record)


@asynccontextmanager
async def workers(
    records: Source, function: Function, capacity: int
) -> AsyncIterator[AsyncIterable[list[Record]]]:
    """Start a feeder and the workers; whoever leaves cancels them."""
    todo_in, todo_out = create_memory_object_stream[Record]()
    done_in, done_out = create_memory_object_stream[list[Record]]()
    async with create_task_group() as group:
        group.start_soon(feed, records, todo_in)
        async with todo_out, done_in:
            for _ in range(capacity):
                group.start_soon(work, todo_out.clone(), function, done_in.clone())
        async with done_out:
            yield done_out
        group.cancel_scope.cancel()


backend = partial(peer_backend, workers, "unordered", "timeouts")
