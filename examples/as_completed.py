"""`asyncio.as_completed` for a stream: results come as calls end, so many of which run at once.

It does everything while it is asked for the next result, and knows one mode only:

    asyncwait verify as_completed:backend
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any, Self

from asyncwait.conformance import StreamBackend, stream_backend
from asyncwait.spec import (
    FunctionParts,
    OperatorConfig,
    OperatorError,
    Record,
    Snapshot,
    Statistics,
    awaitable_of,
    call_failed,
    collect_results,
    run_hook,
)


class AsCompleted:
    """What comes out: of whichever call has ended."""

    def __init__(self, config: OperatorConfig, parts: FunctionParts, elements: Any) -> None:
        self._size = config.capacity
        self._parts = parts
        self._source = aiter(elements)
        self._reading: asyncio.Task[Record] | None = None
        self._calls: list[asyncio.Task[list[Record]]] = []
        self._results = deque[Record]()  # of the record that is being handed out
        self._read_out: BaseException | None = None  # what the source ended with
        self._over: BaseException | None = None  # what the stream ended with

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Record:
        while self._over is None:
            if self._results:
                return self._results.popleft()
            self._read_on()
            ended = next((call for call in self._calls if call.done()), None)
            if ended is not None:
                self._calls.remove(ended)
                self._results.extend(ended.result())
            elif awaited := self._running():
                await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
            else:
                self._over = self._read_out or StopAsyncIteration()
        raise self._over

    def _read_on(self) -> None:
        """Call the function for what was read; read on if there is room."""
        if self._reading is not None and self._reading.done():
            try:
                self._calls.append(asyncio.create_task(self._call(self._reading.result())))
            except (Exception, asyncio.CancelledError) as error:
                self._read_out = error
            self._reading = None
        if self._reading is None and self._read_out is None and len(self._calls) < self._size:
            self._reading = asyncio.create_task(self._read())

    async def _read(self) -> Record:
        record: Record = await anext(self._source)
        return record

    async def _call(self, record: Record) -> list[Record]:
        try:
            results = await self._returned(record)
        except OperatorError as error:
            self._over = self._over or error
            return []
        return [Record(result, record.timestamp, record.key) for result in results]

    async def _returned(self, record: Record) -> tuple[Any, ...]:
        assert self._parts.call is not None
        try:
            returned = await awaitable_of(record, self._parts.call(record.value))
        except (Exception, asyncio.CancelledError) as error:
            raise call_failed(record, error) from error
        return collect_results(record, returned)

    def _running(self) -> set[asyncio.Task[Any]]:
        return {*self._calls, *([self._reading] if self._reading is not None else [])}

    def statistics(self) -> Statistics:
        """Return the present figures."""
        return Statistics(in_flight=len(self._calls))

    async def leave(self) -> None:
        """Cancel what runs, and wait for it."""
        self._over = self._over or StopAsyncIteration()
        running = self._running()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


@asynccontextmanager
async def open_operator(
    config: OperatorConfig, fn: Any, elements: Any, restore: Snapshot | None = None
) -> AsyncIterator[AsCompleted]:
    """Open an operator."""
    parts = FunctionParts.of(fn)
    async with aclosing(elements):
        await run_hook(parts.open)
        results = AsCompleted(config, parts, elements)
        try:
            yield results
        finally:
            await results.leave()
            await run_hook(parts.close)


def backend() -> StreamBackend:
    """Say what it has besides the core."""
    return stream_backend(open_operator, profiles=["unordered"])
