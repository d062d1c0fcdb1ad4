"""A source that may block, read in a thread of its own: results come out while it does."""

import threading
from collections import deque
from collections.abc import AsyncIterator, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from typing import Any

from asyncwait.toolkit import Bell, no_end_in_disguise, running_loop

_AHEAD = 64
"""Values that are read and not yet asked for, at most."""


class ReadAhead:
    """The values of an iterable, which a thread reads a few ahead; it wakes the loop for many.

    Args:
        source: iterated and read in that thread, from the first wait for a value on. A value that
            it is waiting for when this is closed is dropped, and nothing more is read.
    """

    def __init__(self, source: Iterable[Any]) -> None:
        self._source = source
        self._read: deque[Any] = deque()
        self._room = threading.Semaphore(_AHEAD)
        self._error: BaseException | None = None
        self._has_ended = self._is_closed = self._is_told = False
        self._bell = Bell()
        self._thread: threading.Thread | None = None

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        """Return the next value; raise what the source has raised, behind all that it gave."""
        if self._thread is None:
            self._call_on_loop = running_loop().call_from_thread
            self._thread = threading.Thread(
                target=copy_context().run,
                args=(self._read_all,),
                name="asyncwait-source",
                daemon=True,
            )
            self._thread.start()
        while not self._read:
            # Whether it has ended is asked first: the last value comes before that.
            if self._has_ended and not self._read:
                raise StopAsyncIteration if self._error is None else self._error
            await self._bell.wait()
        self._room.release()
        return self._read.popleft()

    async def aclose(self) -> None:
        """Read nothing more; wait for nobody who is silent."""
        self._is_closed = True
        self._read.clear()
        self._room.release()

    def _read_all(self) -> None:
        try:
            with no_end_in_disguise(), _closed_here(iter(self._source)) as values:
                for value in values:
                    self._room.acquire()
                    if self._is_closed:
                        break
                    self._read.append(value)
                    del value  # It may be emitted long before the next one comes.
                    self._tell()
            if self._is_closed:  # maybe while the last one was put down
                self._read.clear()
        except BaseException as error:  # the consumer gets it
            self._error = error
        self._has_ended = True
        self._tell()

    def _tell(self) -> None:
        if not self._is_told:
            self._is_told = True
            with suppress(RuntimeError):  # The loop is gone: nobody waits any more.
                self._call_on_loop(self._ring)

    def _ring(self) -> None:
        self._is_told = False
        self._bell.ring()


@contextmanager
def _closed_here(values: Iterator[Any]) -> Generator[Iterator[Any]]:
    """Close a generator in the thread that reads it: no other one can while it runs."""
    try:
        yield values
    finally:
        if isinstance(values, Generator):
            values.close()
