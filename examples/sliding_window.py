"""A sliding window in plain asyncio: the next records are called at once, results keep their order.

It knows no timeouts, watermarks, snapshots or callbacks, and says so:

    asyncwait verify sliding_window:backend
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Self

from asyncwait.conformance import StreamBackend, stream_backend
from asyncwait.spec import OperatorConfig, OperatorError, Record, Snapshot, Statistics
from asyncwait.toolkit import (
    FunctionParts,
    awaitable_of,
    call_failed,
    check_arguments,
    close_source,
    collect_results,
    join_errors,
    reraise_fatal,
    run_hook,
    unless_cancelled,
)


class SlidingWindow:
    """What comes out: calls are made as there is room, and stand in the window until it is read."""

    def __init__(self, config: OperatorConfig, parts: FunctionParts, elements: Any) -> None:
        self._parts = parts
        self._room = asyncio.Semaphore(config.capacity)
        self._window = deque[asyncio.Task[deque[Record]]]()
        self._news = asyncio.Event()
        self._is_awaited = False
        self._read_out: BaseException | None = None  # what the source ended with
        self._over: BaseException | None = None  # what the stream ended with
        self._reader = asyncio.create_task(self._read(elements))

    async def _read(self, elements: Any) -> None:
        opened, raised = [elements], None
        try:
            opened.insert(0, aiter(elements))
            while await self._room.acquire():
                record = await anext(opened[0])
                self._window.append(asyncio.create_task(self._call(record)))
                self._news.set()
        except BaseException as error:
            reraise_fatal(error)
            self._read_out = error
            if self._reader.cancelling() and not isinstance(error, StopAsyncIteration):
                raised = unless_cancelled(error)  # It has cleaned up, as a generator does then.
        finally:
            self._news.set()
            await close(raised, *opened)

    async def _call(self, record: Record) -> deque[Record]:
        try:
            results = await self._results(record)
            return deque(Record(result, record.timestamp, record.key) for result in results)
        except OperatorError as error:
            self._end(error)
            return deque()
        finally:
            self._news.set()

    async def _results(self, record: Record) -> tuple[Any, ...]:
        assert self._parts.call is not None
        try:
            returned = await awaitable_of(record, self._parts.call(record.value))
        except BaseException as error:
            reraise_fatal(error)
            raise call_failed(record, error) from error
        return collect_results(record, returned)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Record:
        if self._is_awaited:
            raise RuntimeError("another task waits for the next result")
        self._is_awaited = True
        try:
            while self._over is None:
                if (call := self._turn()) is not None:
                    if (result := self._take(call)) is not None:
                        return result
                elif self._read_out is not None and not self._window:
                    self._end(self._read_out)
                else:
                    self._news.clear()
                    await self._news.wait()
            raise self._over
        finally:
            self._is_awaited = False

    def _turn(self) -> asyncio.Task[deque[Record]] | None:
        """Return the call whose results are next: the first one, once it has ended."""
        return self._window[0] if self._window and self._window[0].done() else None

    def _take(self, call: asyncio.Task[deque[Record]]) -> Record | None:
        """Take a result of a call that has ended; with its last one it leaves the window."""
        results = call.result()
        result = results.popleft() if results else None
        if not results:
            self._window.remove(call)
            self._room.release()
        return result

    def statistics(self) -> Statistics:
        """Return the present figures."""
        return Statistics(in_flight=len(self._window))

    def _end(self, error: BaseException) -> None:
        """End the stream with an error, unless it has ended, and cancel what runs."""
        if self._over is not None:
            return
        self._over = error
        if self._read_out is None:
            self._reader.cancel()
        for call in self._window:
            if call is not asyncio.current_task():
                call.cancel()

    async def leave(self) -> None:
        """End the stream, and wait for what runs."""
        self._end(StopAsyncIteration())
        _ = await asyncio.wait({self._reader, *self._window})
        self._reader.result()


async def close(raised: BaseException | None, *opened: Any) -> None:
    """Close a source that can be closed, behind the iterator that it made, and what that raised."""
    if (error := join_errors(raised, await close_source(*opened))) is not None:
        raise error


async def undisturbed(work: Coroutine[Any, Any, None]) -> None:
    """Do `work` to its end, however often this task is cancelled meanwhile."""
    task, cancelled = asyncio.create_task(work), None
    while not task.done():
        try:
            _ = await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    task.result()


@asynccontextmanager
async def open_operator(
    config: OperatorConfig,
    fn: Any,
    elements: Any,
    restore: Snapshot | None = None,
    window_class: type[SlidingWindow] = SlidingWindow,
) -> AsyncIterator[SlidingWindow]:
    """Open a sliding window."""
    parts = check_arguments(config, fn, elements, restore, "the sliding window")
    try:
        await run_hook(parts.open)
    except BaseException:
        await undisturbed(close(None, elements))
        raise
    window, raised = window_class(config, parts, elements), None
    try:
        await undisturbed(asyncio.sleep(0))  # the reader has begun, and will close what it reads
        yield window
    except BaseException as error:
        raised = error
        raise
    finally:
        try:
            await undisturbed(end(window, parts))
        except Exception as error:
            if join_errors(raised, error) is error:
                raise


async def end(window: SlidingWindow, parts: FunctionParts) -> None:
    """Leave the window, and close the function behind it."""
    raised: BaseException | None = None
    try:
        await window.leave()
    except BaseException as error:
        raised = error
    try:
        await run_hook(parts.close)
    except BaseException as error:
        raised = join_errors(raised, error)
    if raised is not None:
        raise raised


def backend() -> StreamBackend:
    """Say what it has besides the core."""
    return stream_backend(open_operator, profiles=["ordered", "copies"])
