"""The reader: it reads the source, fills the queue, and takes snapshots."""

from collections import deque
from collections.abc import AsyncIterable, Callable

from asyncwait.backends.emitter._emitter import CheckpointLock, Outlet
from asyncwait.backends.emitter._queue import ElementQueue, Entry
from asyncwait.backends.emitter._tasks import Life
from asyncwait.spec import Element, LatencyMarker, Record, Snapshot
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import SourceTask


class Intake:
    """The way into the operator: an element is read when the one before has found its place.

    Records and fences go through the queue. Markers and snapshots overtake it.

    Args:
        stored: the elements to restore, which go first.
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
        """Admit the stored elements, each as soon as there is room (REST-4)."""
        while self.waiting and await self.admit():
            pass

    async def process(self, element: Element) -> None:
        """Admit an element of the source; wait until it has its place."""
        self.taken += 1
        if isinstance(element, Stored):
            self.waiting.append(element)
            await self.admit()
        elif isinstance(element, LatencyMarker):
            self.outlet.put_ahead(element)
            await self.outlet.passed()
        else:
            upstream = element if isinstance(element, Snapshot) else None  # SNAP-10
            await self.lock.run_and_wait(lambda: self._store(element.checkpoint_id, upstream))
            await self.outlet.passed()

    async def admit(self) -> bool:
        """Put the first element that waits into the queue, as soon as there is room (CAP-3).

        Returns:
            False if the queue was closed instead.
        """
        entry = Entry.of(self.waiting[0])
        if not await self.queue.put(entry):
            return False
        self.waiting.popleft()
        if isinstance(entry.element, Record):
            self._start(entry)
        return True

    def request(self, checkpoint_id: int) -> None:
        """Emit a snapshot with the number of elements read (SNAP-9), even if an element waits."""
        self.lock.run(
            lambda: self.outlet.put_first(Snapshot(checkpoint_id, self.in_flight(), self.taken))
        )

    def _store(self, checkpoint_id: int, upstream: Snapshot | None) -> None:
        self.outlet.put_ahead(Snapshot(checkpoint_id, self.in_flight(), upstream=upstream))

    def in_flight(self) -> tuple[Stored, ...]:
        """Return all elements that were read and are not out, with the element that waits for room.

        The waiting element is in no queue yet; Flink stored it apart, and at first forgot it (its
        SN-7).
        """
        return (*self.queue.values(), *self.waiting)

    def close(self) -> None:
        """Drop the waiting elements."""
        self.waiting.clear()


class Reader(SourceTask):
    """The task that reads one element after the other, and closes the source.

    Args:
        elements: the source.
        intake: admits each element, after the elements to restore.
        queue: notified of the end.
        life: of the operator.
    """

    def __init__(
        self, elements: AsyncIterable[Element], intake: Intake, queue: ElementQueue, life: Life
    ) -> None:
        super().__init__(elements, intake.process, self._end, intake.restore)
        self._queue = queue
        self._life = life

    def _end(self, error: BaseException | None) -> None:
        self._life.source_error = error
        self._queue.end()
