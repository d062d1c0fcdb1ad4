"""A source that may block, read in a thread of its own: results come out while it does."""

import threading
from collections import deque
from collections.abc import AsyncIterator, Generator, Iterable, Iterator
from contextvars import copy_context
from typing import Any

import anyio

from asyncwait.toolkit import Bell, no_end_in_disguise, running_loop

_AHEAD = 64
"""Values that are read and not yet asked for, at most."""

_END = object()

_GRACE = 1.0
"""Seconds that a source which is being read is given for its next value, to be closed behind it."""


class ReadAhead:
    """The values of an iterable, which a thread reads a few ahead; it wakes the loop for many.

    Args:
        source: iterated and read in that thread, from the first wait for a value on. A value that
            it is waiting for when this is closed is dropped, and nothing more is read. Then a
            generator is closed there, as no other thread can while it runs.
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
        """Return the next value; raise what the source has raised, behind all that it gave."""
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
            # Whether it has ended is asked first: the last value comes before that.
            if self._has_ended and not self._read:
                raise StopAsyncIteration if self._error is None else self._error
            await self._bell.wait()
        self._room.release()
        return self._read.popleft()

    async def aclose(self) -> None:
        """Read nothing more, and wait until the source is closed, but for none that is silent.

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
                    await self._until_ended()  # It cleans up, and that may take its time.
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
            if self._is_closed:  # maybe while the last one was put down
                self._read.clear()
        except BaseException as error:  # the consumer gets it, or who leaves
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
        """Read a value; return whether there may be another one."""
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
