"""Shapes of `docs/your-loop.md` as operators; none conforms, and the suite says why.

asyncwait verify shapes:sliding
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import Any, Self, TypeAlias

import aiostream

from asyncwait.conformance import StreamBackend, stream_backend
from asyncwait.spec import OperatorConfig, Record, Snapshot, Statistics
from asyncwait.toolkit import (
    FunctionParts,
    awaitable_of,
    call_failed,
    check_arguments,
    collect_results,
    run_hook,
)

Fetch: TypeAlias = Callable[[Record], Awaitable[list[Record]]]
Shape: TypeAlias = Callable[[AsyncIterator[Record], Fetch, int], Any]
"""Gives an async iterator of the results of each record, or a context of one."""


async def gather(values: AsyncIterator[Record], fetch: Fetch, size: int) -> Any:
    """Gather all calls, of which a semaphore lets so many run at once."""
    room = asyncio.Semaphore(size)

    async def limited(value: Record) -> list[Record]:
        async with room:
            return await fetch(value)

    for results in await asyncio.gather(*[limited(value) async for value in values]):
        yield results


async def workers(values: AsyncIterator[Record], fetch: Fetch, size: int) -> Any:
    """Let so many tasks work on one queue, and say what they have done at the end."""
    todo, done = asyncio.Queue[Record](), list[list[Record]]()

    async def work() -> None:
        while True:
            value = await todo.get()
            done.append(await fetch(value))
            todo.task_done()

    tasks = [asyncio.create_task(work()) for _ in range(size)]
    async for value in values:
        todo.put_nowait(value)
    await todo.join()
    for task in tasks:
        task.cancel()
    for results in done:
        yield results


async def window(values: AsyncIterator[Record], fetch: Fetch, size: int) -> Any:
    """Let a window of so many tasks slide over the values."""
    calls = deque[asyncio.Task[list[Record]]]()
    async for value in values:
        calls.append(asyncio.create_task(fetch(value)))
        if len(calls) == size:
            yield await calls.popleft()
    while calls:
        yield await calls.popleft()


def streamed(values: AsyncIterator[Record], fetch: Fetch, size: int) -> Any:
    """Map by `aiostream`, so many at once."""
    return aiostream.stream.map(values, fetch, ordered=True, task_limit=size).stream()


class Source:
    """A source as a shape reads it; closing it is left to `open_shape`."""

    def __init__(self, elements: Any) -> None:
        self._elements = aiter(elements)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Record:
        return await anext(self._elements)


class Results:
    """What comes out of a shape, one result after the other."""

    def __init__(self, results: AsyncIterator[list[Record]]) -> None:
        self._results = aiter(results)
        self._begun = deque[Record]()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Record:
        while not self._begun:
            self._begun.extend(await anext(self._results))
        return self._begun.popleft()

    def statistics(self) -> Statistics:
        """Return no figures: a shape has none."""
        return Statistics()


def fetching(parts: FunctionParts) -> Fetch:
    """Return the call of a function, and errors that name the value."""

    async def fetch(record: Record) -> list[Record]:
        try:
            returned = await awaitable_of(record, parts.call(record.value))
        except Exception as error:
            raise call_failed(record, error) from error
        results = collect_results(record, returned)
        return [Record(result, record.timestamp, record.key) for result in results]

    return fetch


@asynccontextmanager
async def open_shape(
    shape: Shape, config: OperatorConfig, fn: Any, elements: Any, restore: Snapshot | None = None
) -> AsyncIterator[Results]:
    """Open a shape, with all round it that its users would have to write too."""
    parts = check_arguments(config, fn, elements, restore, "a shape")
    await run_hook(parts.open)
    try:
        async with aclosing(elements):
            shaped = shape(Source(elements), fetching(parts), config.capacity)
            async with shaped if hasattr(shaped, "__aenter__") else aclosing(shaped) as results:
                yield Results(results)
    finally:
        await run_hook(parts.close)


def _backend(shape: Shape, mode: str = "ordered") -> Callable[[], StreamBackend]:
    return lambda: stream_backend(partial(open_shape, shape), profiles=[mode], loop="asyncio")


gathering = _backend(gather)
working = _backend(workers, "unordered")
sliding = _backend(window)
streaming = _backend(streamed)
