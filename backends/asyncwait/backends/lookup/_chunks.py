"""Values on their way to the pool and back: in chunks, each of which is one value of the pool.

A chunk contains the values that the source yields without waiting, so a fast source makes few
calls, and no value of a slow source waits for the next. The capacity bounds the number of values in
flight, not the number of chunks, whatever their sizes.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import islice
from typing import Any, Generic, TypeVar

from asyncwait.backends.lookup._table import LookupStatistics, Rows
from asyncwait.backends.pool._core import Core
from asyncwait.backends.pool._operator import PlainFeeder, PoolValues
from asyncwait.spec import OperatorError
from asyncwait.toolkit import PlainSource, no_end_in_disguise, running_loop, running_trio

A = TypeVar("A")

SHARE = 4
"""Smallest number of chunks that fit into the capacity: while one is read, others are in flight."""

LARGEST = 500
"""Largest number of values in a chunk; with more, a value costs hardly less."""


class Room:
    """The number of values in flight."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.chunk = max(1, min(LARGEST, capacity // SHARE))
        """Largest number of values in a chunk."""
        self.inside = 0
        self.core: Core
        """The pool's core; its bell `room` wakes the feeder."""
        self.hurry: Callable[[], None] = lambda: None
        """Called when waiting for further keys would be in vain."""
        self._has_ended = False

    def wake(self) -> None:
        if self.capacity - self.inside >= self.chunk:
            self.core.room.ring()

    def consumer_waits(self) -> None:
        """Wake the feeder if it has any room: the consumer waits, and makes no more room."""
        if self.inside < self.capacity:
            self.core.room.ring()
        else:
            self.hurry()

    def end(self) -> None:
        self._has_ended = True
        self.hurry()

    def is_last(self) -> bool:
        """Return whether no value will come before a value in flight has been looked up."""
        is_full = self.inside >= self.capacity
        return self._has_ended or (is_full and self.core.output.sleeper is not None)


class ChunkFeeder(PlainFeeder):
    """Reads a source into the pool, chunk by chunk."""

    def __init__(self, core: Core, source: PlainSource, room: Room) -> None:
        super().__init__(core, source)
        self._space = room
        self._chunk: list[Any] = []
        room.core = core

    async def read_all(self) -> None:
        self._soon = _runs_soon()
        values = self._source.values()
        try:
            if isinstance(values, AsyncIterator):
                await self._iterate(values, self._gather)
            else:
                await self._read_at_once(values)
        finally:
            self._flush()
            self._space.end()

    async def _read_at_once(self, values: Iterator[Any]) -> None:
        space = self._space
        with no_end_in_disguise():
            while True:
                wanted = min(space.chunk, space.capacity - space.inside)
                # In place, to keep the values that were read before the source raised.
                self._chunk.extend(islice(values, wanted))
                is_over = len(self._chunk) < wanted
                space.inside += len(self._chunk)
                self._flush()
                if is_over or not (self._may_go_on() or await self._room()):
                    return

    def _gather(self, value: Any) -> bool:
        """Take a value of a source that may wait before the next; return the result of `read`."""
        chunk = self._chunk
        if not chunk:
            self._soon(self._flush)  # that is, when the source waits
        chunk.append(value)
        self._space.inside += 1
        if len(chunk) >= self._space.chunk:
            self._flush()
        return self._may_go_on()

    def _flush(self) -> None:
        if self._chunk:
            chunk, self._chunk = self._chunk, []
            self._core.read_value(chunk)

    def _may_go_on(self) -> bool:
        return self._space.inside < self._space.capacity and not self._core.closed

    async def _until_room(self) -> None:
        while not (self._may_go_on() or self._core.closed):
            await self._core.room.wait()


def _runs_soon() -> Callable[[Callable[[], None]], object]:
    if running_trio() is not None:
        return running_loop().call_soon_threadsafe
    call_soon = asyncio.get_running_loop().call_soon
    return lambda function: call_soon(_as_in_a_task, function)


def _as_in_a_task(function: Callable[[], None]) -> None:
    """Run a function that may start tasks of anyio, which requires a current asyncio task."""
    known: Any = sys.modules.get("sniffio")
    if known is None:
        function()
        return
    before, known.thread_local.name = known.thread_local.name, "asyncio"
    try:
        function()
    finally:
        known.thread_local.name = before


class LookupResults(Generic[A]):
    """Values with the rows of their keys, in input order, for one consumer at a time.

    Cancelling a wait for the next value loses none, and a failure is raised again by each further
    read.

    Args:
        chunks: results of the pool: for each chunk its number of values, and their results.
        room: for values.
        told: returns the figures of the table.
    """

    def __init__(
        self, chunks: PoolValues, room: Room, told: Callable[[], LookupStatistics]
    ) -> None:
        self._chunks = chunks
        self._space = room
        self._told = told
        self._pairs: Iterator[tuple[A, Rows]] = iter(())

    def __aiter__(self) -> AsyncIterator[tuple[A, Rows]]:
        return self

    async def __anext__(self) -> tuple[A, Rows]:
        """Return the next value, with its rows."""
        space = self._space
        core = space.core
        if core.closed:
            self._pairs = iter(())  # Nothing comes out after a failure, or after leaving.
        while True:
            for pair in self._pairs:
                space.inside -= 1
                if core.room.sleeper is not None:
                    space.wake()
                return pair
            space.consumer_waits()
            try:
                count, pairs = await self._chunks.__anext__()
            except OperatorError as failure:
                reason = failure.__cause__
                if isinstance(reason, OperatorError):  # the cause names the key, not the chunk
                    raise reason from reason.__cause__
                raise
            self._pairs = iter(pairs)
            space.inside -= count - len(pairs)  # values that an inner join drops

    def statistics(self) -> LookupStatistics:
        """Return the present figures."""
        return self._told()
