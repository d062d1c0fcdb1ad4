"""The input of a partition: rows that Spark hands over, as a source of elements."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from asyncwait.backends.spark._rows import RowCodec
from asyncwait.spec import Element
from asyncwait.toolkit import ValuesAhead

_AHEAD = 2
"""Chunks that are decoded and not yet asked for."""


class PartitionSource(Protocol):
    """A source of elements, made from batches of rows.

    It is iterated and closed on the loop; `join` is called from outside when the loop is gone.
    """

    def __aiter__(self) -> "PartitionSource":
        """Return itself."""
        ...

    async def __anext__(self) -> Any:
        """Return the next element; raise what the batches or the codec have raised."""
        ...

    async def aclose(self) -> None:
        """Hand out nothing more; blocks nothing."""

    def join(self) -> None:
        """Wait until the batches are read to their end; what they raise meanwhile is dropped."""


Reader: TypeAlias = Callable[[Iterator[pa.RecordBatch], RowCodec], PartitionSource]
"""Makes the source of a partition."""


class ThreadedSource(ValuesAhead):
    """Reads batches in a thread, a bounded number of rows ahead: a slow input stops nothing.

    A closed source still reads its batches to the end, because Spark gives a worker that leaves
    input behind no other task.

    Args:
        batches: the input.
        rows: what makes elements of it.
        chunk: rows that are decoded at once; of a larger batch the rest stays as it came.
    """

    def __init__(
        self, batches: Iterator[pa.RecordBatch], rows: RowCodec, *, chunk: int = 1000
    ) -> None:
        self._batches = batches
        self._chunk = chunk
        self._rows = rows
        self._room = threading.Semaphore(_AHEAD)
        self._closed = False
        self._current: Iterator[Element] = iter(())
        self._chunks: deque[list[Element]] = deque()
        self._arrived = asyncio.Event()
        self._ended = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._read, name="asyncwait-input", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self.given = 0
        """Elements that were asked for and given."""

    def __aiter__(self) -> "ThreadedSource":
        return self

    async def __anext__(self) -> Element:
        """Return the next element; the first call starts the thread."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._thread.start()
        for element in self._current:
            self.given += 1
            return element
        while not self._chunks:
            if self._ended:
                raise StopAsyncIteration if self._error is None else self._error
            self._arrived.clear()
            await self._arrived.wait()
        self._current = iter(self._chunks.popleft())
        self._room.release()
        self.given += 1
        return next(self._current)

    def at_hand(self, most: int) -> list[Element]:
        """Return the next elements, as many as are decoded and asked for, without a wait."""
        elements = [*islice(self._current, most)]
        self.given += len(elements)
        return elements

    async def aclose(self) -> None:
        """Hand out nothing more; the thread drops what it reads from now on."""
        self._closed = True
        self._room.release()

    def join(self) -> None:
        """Wait until the batches are read to their end."""
        if self._loop is None:
            exhaust(self._batches)
        else:
            self._thread.join()

    def _read(self) -> None:
        error = None
        try:
            for batch in self._batches:
                for start in range(0, batch.num_rows, self._chunk):
                    self._read_chunk(batch.slice(start, self._chunk))
        except BaseException as raised:
            error = raised
        self._tell(None, error)
        exhaust(self._batches)

    def _read_chunk(self, rows: pa.RecordBatch) -> None:
        """Wait for room, and hand over what can be decoded, also where a later row can't."""
        elements: list[Element] = []
        if self._closed:
            return
        try:
            elements.extend(self._rows.decode(rows))
        finally:
            if elements:
                self._room.acquire()
                self._tell(elements)

    def _tell(self, elements: list[Element] | None, error: BaseException | None = None) -> None:
        """Hand something to the loop; when that is gone nobody wants it."""
        assert self._loop is not None
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._arrive, elements, error)

    def _arrive(self, elements: list[Element] | None, error: BaseException | None) -> None:
        if elements is not None:
            self._chunks.append(elements)
        else:
            self._ended, self._error = True, error
        self._arrived.set()


class InMemorySource:
    """Reads all batches before the first element is asked for; for partitions that fit."""

    def __init__(self, batches: Iterator[pa.RecordBatch], rows: RowCodec) -> None:
        self._elements: deque[Element] = deque()
        self._error: BaseException | None = None
        try:
            for batch in batches:
                self._elements.extend(rows.decode(batch))
        except Exception as error:
            self._error = error
        exhaust(batches)

    def __aiter__(self) -> "InMemorySource":
        return self

    async def __anext__(self) -> Element:
        """Return the next element."""
        if self._elements:
            return self._elements.popleft()
        raise StopAsyncIteration if self._error is None else self._error

    async def aclose(self) -> None:
        """Hand out nothing more."""
        self._elements.clear()

    def join(self) -> None:
        """Return at once: everything was read at the beginning."""


def exhaust(batches: Iterator[pa.RecordBatch]) -> None:
    """Read `batches` to the end, or until they raise."""
    with suppress(BaseException):
        for _ in batches:
            pass
