"""A sliding window in plain asyncio, as somebody would write it who has never heard of the suite.

It calls a function for the next records at once, and gives the results in the records' order.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import Any


class OperatorError(Exception):
    """The operator failed because of one record."""

    def __init__(self, record: dict[str, Any]) -> None:
        super().__init__(f"because of {record}")
        self.record = record


class CallFailed(OperatorError):
    """The call raised, or its results broke while they were read."""


class InvalidResult(OperatorError):
    """The call gave what is no list of results."""


class Window:
    """Iterate over it to read."""

    def __init__(self, capacity: int, fn: Any, source: Any) -> None:
        self.fn, self.source = fn, source
        self.room = asyncio.Semaphore(capacity)
        self.calls = deque[asyncio.Task[deque[Any]]]()  # each until its last result is taken
        self.news = asyncio.Event()
        self.over: BaseException | None = None  # what the stream ended with
        self.told: BaseException | None = None  # the same, once the reader has heard of it
        self.read_out: BaseException | None = None  # what the source ended with
        self.not_closed: Exception | None = None
        self.reader = asyncio.create_task(self.read())

    async def read(self) -> None:
        """Call the function for each record, as there is room."""
        try:
            while await self.room.acquire():
                record = await anext(self.source)
                self.calls.append(asyncio.create_task(self.call(record)))
        except (Exception, asyncio.CancelledError) as error:
            self.read_out = error
        self.news.set()
        self.not_closed = await close(self.source)

    async def call(self, record: dict[str, Any]) -> deque[Any]:
        """Return the results of a record; what is wrong with them ends the stream."""
        results: list[Any] = []
        try:
            returned = await self.fn(record["value"])
            if returned is None or isinstance(returned, str | bytes | int):
                raise InvalidResult(record)
            results = [record | {"value": each} for each in returned]
        except InvalidResult as error:
            self.end(error)
        except (Exception, asyncio.CancelledError) as error:
            failed = CallFailed(record)
            failed.__cause__ = error
            self.end(failed)
        self.news.set()
        return deque(results)

    def __aiter__(self) -> "Window":
        return self

    async def __anext__(self) -> Any:
        while not self.over:
            if self.calls and self.calls[0].done():
                results = self.calls[0].result()
                result = results.popleft() if results else None
                if not results:
                    self.calls.popleft()
                    self.room.release()
                if result:
                    return result
            elif self.read_out and not self.calls:
                self.over = self.read_out
            else:
                self.news.clear()
                await self.news.wait()
        self.told = self.over
        raise self.told

    def end(self, error: BaseException) -> None:
        """End the stream, unless it has ended, and cancel what runs, once."""
        if self.over:
            return
        self.over = error
        if not self.read_out:
            self.reader.cancel()
        for call in self.calls:
            if call is not asyncio.current_task():
                call.cancel()

    async def leave(self) -> Exception | None:
        """Cancel what runs, and wait for it; return what closing the source has raised."""
        await asyncio.sleep(0)  # what was started has begun, and can be cancelled
        self.end(StopAsyncIteration())
        self.over = self.told or StopAsyncIteration()
        await asyncio.wait({self.reader, *self.calls})
        return await hook(self.fn, "close") or self.not_closed


async def close(source: Any) -> Exception | None:
    """Close the source; return what that raises."""
    try:
        await source.aclose()
    except Exception as error:
        return error
    return None


async def hook(fn: Any, name: str) -> Exception | None:
    """Run `open` or `close` of the function, if it has one; return what that raises."""
    try:
        if hasattr(fn, name):
            await getattr(fn, name)()
    except Exception as error:
        return error
    return None


async def undisturbed(work: Coroutine[Any, Any, Exception | None]) -> Exception | None:
    """Wait for `work` to its end, however often this task is cancelled meanwhile."""
    task, cancelled = asyncio.create_task(work), None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
    return task.result()


@asynccontextmanager
async def open_window(capacity: int, fn: Any, source: Any) -> AsyncGenerator[Window]:
    """Open a window, and leave nothing behind."""
    try:
        if error := await hook(fn, "open"):
            raise error
    except BaseException:
        await undisturbed(close(source))
        raise
    window, raised = Window(capacity, fn, source), False
    try:
        yield window
    except BaseException:
        raised = True
        raise
    finally:
        not_closed = await undisturbed(window.leave())
        if not_closed is not None and not raised:
            raise not_closed
