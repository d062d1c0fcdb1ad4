"""A window over a stream, in plain asyncio: calls run at once, results keep their order."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Self

from asyncwait.spec import OperatorConfig, Record, Snapshot, Statistics
from asyncwait.toolkit import (
    FunctionParts,
    SourceTask,
    awaitable_of,
    call_failed,
    check_arguments,
    close_source,
    collect_results,
    join_errors,
    reraise_fatal,
    run_hook,
)


class Window:
    """What comes out; a call has its place in the window until its last result was taken."""

    def __init__(self, config: OperatorConfig, parts: FunctionParts, elements: Any) -> None:
        self._parts = parts
        self._room = asyncio.Semaphore(config.capacity)
        self._calls = deque[asyncio.Task[deque[Record]]]()
        self._news = asyncio.Event()
        self._is_awaited = False
        self._input_ended: BaseException | None = None  # what by
        self._over: BaseException | None = None  # what the stream ended with
        self._source = SourceTask(elements, self._begin, self._end, self._room.acquire)
        self._reader = asyncio.create_task(self._source.run())

    async def _begin(self, record: Record) -> None:
        self._calls.append(asyncio.create_task(self._call(record)))
        await self._room.acquire()

    def _end(self, error: BaseException | None) -> None:
        self._input_ended = StopAsyncIteration() if error is None else error
        self._news.set()

    async def _call(self, record: Record) -> deque[Record]:
        results: tuple[Any, ...] = ()
        try:
            assert self._parts.call is not None
            returned = await awaitable_of(record, self._parts.call(record.value))
            results = collect_results(record, returned)
        except BaseException as error:
            reraise_fatal(error)
            if self._over is None:
                self._stop(call_failed(record, error))
        self._news.set()
        return deque(Record(result, record.timestamp, record.key) for result in results)

    def _stop(self, over: BaseException) -> None:
        self._over = over
        self._source.stop()
        for call in self._calls:
            if not call.cancelling():
                call.cancel()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Record:
        if self._is_awaited:
            raise RuntimeError("another task waits for the next result")
        self._is_awaited = True
        try:
            while self._over is None:
                if self._calls and self._calls[0].done():
                    if (result := self._take()) is not None:
                        return result
                elif self._input_ended is not None and not self._calls:
                    self._over = self._input_ended
                else:
                    self._news.clear()
                    await self._news.wait()
            raise self._over
        finally:
            self._is_awaited = False

    def _take(self) -> Record | None:
        """Take a result of the first call; with its last one it leaves the window."""
        results = self._calls[0].result()
        result = results.popleft() if results else None
        if not results:
            self._calls.popleft()
            self._room.release()
        return result

    def statistics(self) -> Statistics:
        """Return the present figures."""
        return Statistics(in_flight=len(self._calls))

    async def leave(self) -> None:
        """Cancel what runs, wait for it, and raise what closing the input raised."""
        self._stop(StopAsyncIteration() if self._over is None else self._over)
        await asyncio.wait({self._reader, *self._calls})
        self._reader.result()
        await self._source.close()  # if its task was cancelled before it began
        if self._source.trouble is not None:
            raise self._source.trouble


async def undisturbed(work: Coroutine[Any, Any, None]) -> None:
    """Do `work` to its end, however often this task is cancelled meanwhile."""
    task, cancelled = asyncio.create_task(work), None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    task.result()


@asynccontextmanager
async def open_operator(
    config: OperatorConfig, fn: Any, elements: Any, restore: Snapshot | None = None
) -> AsyncIterator[Window]:
    """Open a window; see `asyncwait.spec.OpenOperator`."""
    # It refuses a `config` with `retry`; once you have that, name it: (..., "mypkg", "retry").
    parts = check_arguments(config, fn, elements, restore, "mypkg")
    try:
        await run_hook(parts.open)
    except BaseException as error:
        join_errors(error, await close_source(elements))
        raise
    window, raised = Window(config, parts, elements), None
    try:
        yield window
    except BaseException as error:
        raised = error
        raise
    finally:
        try:
            await undisturbed(_end(window, parts))
        except Exception as error:
            if join_errors(raised, error) is error:
                raise


async def _end(window: Window, parts: FunctionParts) -> None:
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
