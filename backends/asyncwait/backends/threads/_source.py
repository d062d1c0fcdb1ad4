"""A source that may block, read in a thread of its own, so that results come out meanwhile."""

import threading
from collections import deque
from collections.abc import AsyncIterator, Generator, Iterable, Iterator
from contextvars import copy_context
from typing import Any

import anyio

from asyncwait.toolkit import Bell, no_end_in_disguise, running_loop

_AHEAD = 64
"""Largest number of values that are read ahead of demand."""

_END = object()

_GRACE = 1.0
"""Seconds for a source that is being read to yield, so that it can be closed after that."""


class ReadAhead:
    """The values of an iterable, which a thread reads ahead; it wakes the loop for many at once.

    Args:
        source: iterated and read in the thread, from the first wait for a value on. On closing, the
            value that is being read is dropped, and nothing more is read. Then the thread closes a
            generator, because no other thread can while it runs.
    """

    def __init__(self, source: Iterable[Any]) -> None:
        self._source = source
        self._read: deque[Any] = deque()
        self._room = threading.Semaphore(_AHEAD)
        self._error: BaseException | None = None
        self._trouble: BaseException | None = None
        self._has_ended = self._is_closed = self._is_given_up = False
        self._is_told = self._is_asked = False
        self._bell = Bell()
        self._thread: threading.Thread | None = None

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        """Return the next value; raise the error of the source, after all its values."""
        if self._thread is None:
            self._call_on_loop = running_loop().call_from_thread
            thread = threading.Thread(
                target=copy_context().run,
                args=(self._read_all,),
                name="asyncwait-source",
                daemon=True,
            )
            thread.start()
            self._thread = thread
        while not self._read:
            # The end is checked first, because the last value comes before it.
            if self._has_ended and not self._read:
                raise StopAsyncIteration if self._error is None else self._error
            await self._bell.wait()
        self._room.release()
        return self._read.popleft()

    async def aclose(self) -> None:
        """Read nothing more, and wait until the source is closed, unless the source is silent.

        Raises:
            BaseException: closing the source has raised it.
        """
        self._is_closed = True
        self._read.clear()
        self._room.release()
        if self._thread is not None:
            try:
                with anyio.move_on_after(_GRACE):
                    await self._until_ended()
                if not (self._has_ended or self._is_asked):
                    await self._until_ended()  # The source cleans up, which may take time.
            finally:
                self._is_given_up = not self._has_ended
        if self._trouble is not None:
            raise self._trouble

    async def _until_ended(self) -> None:
        while not self._has_ended:
            await self._bell.wait()

    def _read_all(self) -> None:
        values: Any = None
        try:
            with no_end_in_disguise():
                self._is_asked = True
                values = iter(self._source)
                while self._take(values):
                    pass
            if self._is_closed:  # perhaps while the last value was stored
                self._read.clear()
        except BaseException as error:  # raised to the consumer, or on leaving
            if self._is_closed:
                self._trouble = error
            else:
                self._error = error
        finally:
            self._is_asked = False
        if isinstance(values, Generator):
            try:
                values.close()
            except BaseException as error:
                self._trouble = error
        self._has_ended = True
        self._tell()
        if self._is_given_up and self._trouble is not None:
            raise self._trouble  # otherwise the error would be lost

    def _take(self, values: Iterator[Any]) -> bool:
        """Read a value; return whether another may follow."""
        self._is_asked = True
        value = next(values, _END)
        self._is_asked = False
        if value is _END:
            return False
        self._room.acquire()
        if not self._is_closed:
            self._read.append(value)
            self._tell()
        return not self._is_closed

    def _tell(self) -> None:
        if not self._is_told:
            self._is_told = True
            self._call_on_loop(self._ring)

    def _ring(self) -> None:
        self._is_told = False
        self._bell.ring()
