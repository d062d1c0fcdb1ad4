"""The reader: it reads the source, fills the queue, and takes snapshots."""

from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import Any

import anyio

from asyncwait.backends.emitter._emitter import CheckpointLock, Outlet
from asyncwait.backends.emitter._queue import ElementQueue, Entry
from asyncwait.backends.emitter._tasks import Life
from asyncwait.spec import Barrier, Element, LatencyMarker, Record, Snapshot
from asyncwait.spec.snapshots import Stored
from asyncwait.spec.texts import shown
from asyncwait.toolkit import (
    call_scope,
    close_source,
    join_errors,
    reraise_fatal,
    unless_cancelled,
)


class Intake:
    """The way into the operator: an element is read when the one before has found its place.

    Records and fences go through the queue. Markers and snapshots overtake it.

    Args:
        stored: what is to be restored, and goes first.
        queue: where records and fences wait for room.
        outlet: where markers and snapshots come out.
        lock: held while a record is emitted; a snapshot waits for it, so no record is half out.
        start: calls the function for a record.
    """

    def __init__(
        self,
        stored: tuple[Stored, ...],
        queue: ElementQueue,
        outlet: Outlet,
        lock: CheckpointLock,
        start: Callable[[Entry], object],
    ) -> None:
        self.taken = 0
        """Elements taken from the source."""
        self.waiting: deque[Stored] = deque(stored)
        """Elements that wait for room: elements to restore, then the last element read."""
        self.queue = queue
        self.outlet = outlet
        self.lock = lock
        self._start = start

    async def restore(self) -> None:
        """Admit what was stored, as far as there is room, and then as there is (REST-4)."""
        while self.waiting and await self.admit():
            pass

    async def process(self, element: Any) -> None:
        """Take in an element of the source; wait until it has found its place.

        Raises:
            TypeError: it is none.
        """
        self.taken += 1
        if isinstance(element, Stored):
            self.waiting.append(element)
            await self.admit()
        elif isinstance(element, LatencyMarker):
            self.outlet.put_ahead(element)
            await self.outlet.passed()
        elif isinstance(element, Barrier | Snapshot):
            upstream = element if isinstance(element, Snapshot) else None  # SNAP-10
            await self.lock.run_and_wait(lambda: self._store(element.checkpoint_id, upstream))
            await self.outlet.passed()
        else:
            self.taken -= 1  # A program that goes on from a snapshot has it read once more.
            raise TypeError(f"expected an element, got {shown(element)}; wrap values in Record")

    async def admit(self) -> bool:
        """Put the first element that waits into the queue, as soon as there is room (CAP-3).

        Returns:
            Whether it was put; the queue may be closed instead.
        """
        entry = Entry.of(self.waiting[0])
        if not await self.queue.put(entry):
            return False
        self.waiting.popleft()
        if isinstance(entry.element, Record):
            self._start(entry)
        return True

    def request(self, checkpoint_id: int) -> None:
        """Put a snapshot out that says how much was read (SNAP-9), though an element waits."""
        self.lock.run(
            lambda: self.outlet.put_first(Snapshot(checkpoint_id, self.in_flight(), self.taken))
        )

    def _store(self, checkpoint_id: int, upstream: Snapshot | None) -> None:
        self.outlet.put_ahead(Snapshot(checkpoint_id, self.in_flight(), upstream=upstream))

    def in_flight(self) -> tuple[Stored, ...]:
        """Return all that was read and is not out, the element that waits for room included.

        That element is in no queue yet; Flink kept it apart, and at first forgot it (its SN-7).
        """
        return (*self.queue.values(), *self.waiting)

    def close(self) -> None:
        """Let go of what waits."""
        self.waiting.clear()


class Reader:
    """The task that reads one element after the other, and closes the source.

    It is one task from the first read to the close, and enters no scope in which the source goes
    on, so that a generator with a cancel scope round its `yield` finds what it left (END-16).

    Args:
        elements: the source.
        intake: takes each element in.
        queue: learns when there will be no more.
        life: of the operator.
    """

    def __init__(
        self, elements: AsyncIterable[Element], intake: Intake, queue: ElementQueue, life: Life
    ) -> None:
        self._elements = elements
        self._intake = intake
        self._queue = queue
        self._life = life
        self._iterator: AsyncIterator[Element] | None = None
        self._is_closed = False
        self._scope = call_scope(shield=True)
        self.trouble: BaseException | None = None
        """What closing the source has raised, be it in a read that was cancelled."""

    async def run(self) -> None:
        """Restore, read to the end, and close the source, even if cancelled meanwhile (END-5)."""
        with self._scope, anyio.CancelScope() as guard:
            try:
                self._life.source_error = await self._read()
                self._queue.end()
            finally:
                self._scope.shield = guard.shield = True
                await self.close()

    def stop(self) -> None:
        """Read no further, and give up the source if it is being asked."""
        self._scope.cancel()

    async def close(self) -> None:
        """Close the source, and the iterator that it made, once; shield it."""
        if not self._is_closed:
            self._is_closed = True
            trouble = await close_source(self._iterator, self._elements)
            self.trouble = join_errors(self.trouble, trouble)

    async def _read(self) -> BaseException | None:
        """Return what the source has raised; None if it has ended well, or is read no more."""
        try:
            await self._intake.restore()
            if not self._life.is_over:
                await self._read_elements()
        except BaseException as error:
            reraise_fatal(error)
            if self._scope.cancel_called:
                self.trouble = unless_cancelled(error)
                return None
            return error
        return None

    async def _read_elements(self) -> None:
        self._iterator = aiter(self._elements)
        async for element in self._iterator:
            await self._intake.process(element)
            if self._life.is_over:
                break
            del element  # it may be out long before the next one comes
