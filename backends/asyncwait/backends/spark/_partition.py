"""The operator on one partition: batches of rows in, batches of rows out.

The pool runs on an event loop in a thread of its own. A reader fills it from the input, and Spark's
task thread takes results out of it and hands them on. So while the input stalls, or the output is
not read, calls go on, deadlines fire, and handlers run; the capacity of the operator and of the
reader bounds the rows in memory meanwhile.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import AbstractAsyncContextManager, ExitStack, suppress
from itertools import islice
from traceback import format_exception
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias

import pyarrow as pa

from asyncwait.backends.pool import open_operator
from asyncwait.backends.spark._rows import RowCodec
from asyncwait.backends.threads import LoopThread, OperatorHost
from asyncwait.spec import Element, OperatorConfig, OperatorError, Snapshot, Statistics
from asyncwait.spec.texts import block, shown
from asyncwait.toolkit import ValuesAhead

_AHEAD = 2
"""Number of chunks that are decoded ahead of demand."""


class PartitionSource(Protocol):
    """A source of elements, made from batches of rows.

    It is iterated and closed on the loop; `join` is called outside, after the loop has closed.
    """

    def __aiter__(self) -> "PartitionSource":
        """Return itself."""
        ...

    async def __anext__(self) -> Any:
        """Return the next element; raise an error of the batches or the codec."""
        ...

    async def aclose(self) -> None:
        """Yield no further element; this does not block."""

    def join(self) -> None:
        """Wait until the batches are read to their end, and drop their errors."""


Reader: TypeAlias = Callable[[Iterator[pa.RecordBatch], RowCodec], PartitionSource]
"""Makes the source of a partition."""


class ThreadedSource(ValuesAhead):
    """Reads batches in a thread, a bounded number of rows ahead: a slow input stops no call.

    A closed source still reads its batches to the end, because Spark gives a worker that leaves
    input unread no other task.

    Args:
        chunk: number of rows that are decoded at once; the rest of a larger batch stays encoded.
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
        """Number of elements that were requested and yielded."""

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
        """Return the next requested elements that are decoded, without waiting."""
        elements = [*islice(self._current, most)]
        self.given += len(elements)
        return elements

    async def aclose(self) -> None:
        """Yield no further element; the thread drops the rows that it reads from now on."""
        self._closed = True
        self._room.release()

    def join(self) -> None:
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
        """Wait for room, and hand over the rows decoded before a row that can't be."""
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
        """Hand chunks or the end to the loop; drop them if the loop has closed."""
        assert self._loop is not None
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._arrive, elements, error)

    def _arrive(self, elements: list[Element] | None, error: BaseException | None) -> None:
        if elements is not None:
            self._chunks.append(elements)
        else:
            self._ended, self._error = True, error
        self._arrived.set()


def exhaust(batches: Iterator[pa.RecordBatch]) -> None:
    with suppress(BaseException):
        for _ in batches:
            pass


BATCH_SIZE = 1000
"""Largest number of rows in a batch of output; a batch has the ready rows, and never waits."""


Opens: TypeAlias = Callable[[PartitionSource], AbstractAsyncContextManager[Any]]
"""Opens an operator on a source; called on the loop."""


def on_elements(config: OperatorConfig, fn: Any, restore: Snapshot | None = None) -> Opens:
    """Return a function that opens the pool on elements; see `asyncwait.spec.OpenOperator`.

    Raises:
        InvalidConfig: `cache` is set: the cache of a task would end with it.
    """
    config.require_only("Spark's elements", "retry", "max_held", "batch")
    return lambda source: open_operator(config, fn, source, restore)


class Partition:
    """An iterator over the results of a partition, as batches of rows.

    It must be closed: by `close`, or as a context manager. Closing early cancels running calls and
    waits for them. On every way out the input is read to its end.

    Args:
        opens: opens the operator on the source that `reader` makes.
        rows: converts rows to the operator's values, and its results to rows.
        reader: makes a source of elements out of `batches`.
        batch_size: largest number of rows in a batch of output.
        watch: receives, before the operator opens, a function that returns the present figures to
            any thread, without the loop; None for no figures.

    Raises:
        InvalidConfig: an argument of the operator is invalid.
        Exception: the error of the function's `open`.
    """

    def __init__(
        self,
        batches: Iterator[pa.RecordBatch],
        opens: Opens,
        rows: RowCodec,
        *,
        loop_factory: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
        reader: Reader = ThreadedSource,
        batch_size: int = BATCH_SIZE,
        watch: Callable[[Callable[[], Statistics]], object] | None = None,
    ) -> None:
        self._rows = rows
        self._batch_size = batch_size
        self._final: BaseException | None = None
        self._traceback: TracebackType | None = None
        self._closed = False
        self._source = reader(batches, rows)
        self._host = OperatorHost(lambda: opens(self._source))
        if watch is not None:
            watch(self._host.figures)
        self._loop = LoopThread(loop_factory)
        try:
            self._loop.ask(self._host.open())
        except BaseException as error:
            self.__exit__(type(error), error, error.__traceback__)
            raise

    def __iter__(self) -> "Partition":
        return self

    def __next__(self) -> pa.RecordBatch:
        """Return the next results: all that are ready, and at least one.

        Raises:
            StopIteration: there are no more.
            OperatorError: the operator failed; further calls raise the same error again. Its notes
                hold the traceback of its cause, because Spark does not show causes.
            BaseException: the error of the input, after the results of all earlier rows.
        """
        if self._final is not None:
            # Without this each further raise would add its frames to the error.
            raise self._final.with_traceback(self._traceback)
        if self._closed:
            raise StopIteration
        try:
            elements = self._loop.ask(self._host.take(self._batch_size))
            if not elements:
                raise StopIteration
            return self._rows.encode(elements)
        except CancelledError:
            raise  # Only the wait was cancelled; no result was taken.
        except BaseException as error:
            self._final, self._traceback = error, error.__traceback__
            if isinstance(error, OperatorError) and error.__cause__ is not None:
                _without_ours(error.__cause__)
                error.add_note("\n".join(block("".join(format_exception(error.__cause__)))))
            raise

    def close(self) -> None:
        """Leave the operator, end both threads, and read the input to its end; only once."""
        if not self._closed:
            self._closed = True
            with ExitStack() as closing:
                closing.callback(self._source.join)
                closing.callback(self._loop.stop)
                self._loop.ask(self._host.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, exc: BaseException | None, __: object) -> None:
        try:
            self.close()
        except Exception as error:
            if exc is None or isinstance(exc, GeneratorExit):  # leaving alone raises no error
                raise
            # The first error says more than a source that does not close after it.
            exc.add_note(f"closing raised {shown(error)}")

    def statistics(self) -> Statistics:
        """Return the present figures, in any thread; after closing, the last figures."""
        return self._host.figures()


def _without_ours(error: BaseException | None) -> None:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        frames, behind, kept = list[TracebackType](), error.__traceback__, None
        while behind is not None:
            frames.append(behind)
            behind = behind.tb_next
        for each in reversed(frames):
            if not str(each.tb_frame.f_globals.get("__name__")).startswith("asyncwait."):
                kept = TracebackType(kept, each.tb_frame, each.tb_lasti, each.tb_lineno)
        error.__traceback__ = kept
        error = error.__context__ if error.__cause__ is None else error.__cause__
