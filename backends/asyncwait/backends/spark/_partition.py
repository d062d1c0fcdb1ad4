"""The operator on one partition: batches of rows in, batches of rows out.

The pool runs on an event loop in a thread of its own. A reader fills it from the input, and the
thread that Spark gives the task takes results out of it and hands them on. So while the input
stalls, or the output is not read, calls go on, deadlines are kept, and their handlers are asked;
what is held meanwhile is bounded by the operator's capacity and the reader's.
"""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import AbstractAsyncContextManager, ExitStack
from traceback import format_exception
from types import FrameType, TracebackType
from typing import Any, Self, TypeAlias

import pyarrow as pa

from asyncwait.backends.pool import open_operator
from asyncwait.backends.spark._reader import PartitionSource, Reader, ThreadedSource
from asyncwait.backends.spark._rows import RowCodec
from asyncwait.backends.threads import LoopThread, OperatorHost
from asyncwait.spec import OperatorConfig, OperatorError, Snapshot, Statistics
from asyncwait.spec.texts import block, shown

BATCH_SIZE = 1000
"""Rows in a batch of output at most; it holds what is ready, and never waits to be full."""


Opens: TypeAlias = Callable[[PartitionSource], AbstractAsyncContextManager[Any]]
"""Opens an operator on a source; it is called on the loop."""


def on_elements(config: OperatorConfig, fn: Any, restore: Snapshot | None = None) -> Opens:
    """Return how the pool is opened on elements; see `asyncwait.spec.OpenOperator`.

    Raises:
        InvalidConfig: it is to cache: what a task keeps is gone with it.
    """
    config.require_only("Spark's elements", "retry", "max_held", "batch")
    return lambda source: open_operator(config, fn, source, restore)


class Partition:
    """An iterator over the results of a partition, as batches of rows.

    It has to be closed: by `close`, or as a context manager. Closing early cancels what runs and
    waits for it. On every way out the input is read to its end.

    Args:
        batches: the input.
        opens: the operator, on the source that `reader` makes.
        rows: how rows become what the operator takes, and what it gives rows.
        loop_factory: makes the event loop.
        reader: makes a source of elements out of `batches`.
        batch_size: rows in a batch of output at most.
        watch: is given, before anything is opened, what returns the present figures to any thread,
            without asking the loop; None for nobody.

    Raises:
        InvalidConfig: what the operator is opened with is not what it should be.
        Exception: what `open` of the function raised.
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
            BaseException: what the input has raised, after all that was read before it.
        """
        if self._final is not None:
            # Without this each of many raises would add its frames to the one error.
            raise self._final.with_traceback(self._traceback)
        if self._closed:
            raise StopIteration
        try:
            elements = self._loop.ask(self._host.take(self._batch_size))
            if not elements:
                raise StopIteration
            return self._rows.encode(elements)
        except CancelledError:
            raise  # Only the wait is over; nothing was taken.
        except BaseException as error:
            self._final, self._traceback = error, error.__traceback__
            if isinstance(error, OperatorError) and error.__cause__ is not None:
                _without_ours(error.__cause__)
                error.add_note("\n".join(block("".join(format_exception(error.__cause__)))))
            raise

    def close(self) -> None:
        """Leave the operator, end both threads, and read the input to its end; never twice."""
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
            if exc is None or isinstance(exc, GeneratorExit):  # who only leaves has no error
                raise
            # What went wrong first says more than a source that does not close after it.
            exc.add_note(f"closing raised {shown(error)}")

    def statistics(self) -> Statistics:
        """Return the present figures, on the loop or to another thread; after closing, the last."""
        if self._closed or self._loop.is_here:
            return self._host.figures()
        return self._loop.ask(self._host.statistics())


def _without_ours(error: BaseException | None) -> None:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        kept = None
        for frame in reversed([*_frames(error.__traceback__)]):
            if not _is_ours(frame.tb_frame):
                kept = TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
        error.__traceback__ = kept
        error = error.__context__ if error.__cause__ is None else error.__cause__


def _frames(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).startswith("asyncwait.")
