"""What was taken from the source, on its way into the queue."""

from collections import deque
from collections.abc import Callable
from typing import Any

from asyncwait.backends.emitter._blocking import ElementQueue
from asyncwait.backends.emitter._checkpoints import Checkpoints
from asyncwait.backends.emitter._entries import Entry
from asyncwait.backends.emitter._outlet import Outlet
from asyncwait.spec import Barrier, LatencyMarker, Record, Snapshot
from asyncwait.spec.snapshots import Stored
from asyncwait.spec.texts import shown


class Intake:
    """Processes elements one by one: the next one is read when the last one has found its place.

    Args:
        stored: what is to be restored, and goes first.
        queue: where records and fences wait for room.
        start: calls the function for a record.
        outlet: where markers go.
        checkpoints: where barriers go.
    """

    def __init__(
        self,
        stored: tuple[Stored, ...],
        queue: ElementQueue,
        start: Callable[[Entry], object],
        outlet: Outlet,
        checkpoints: Checkpoints,
    ) -> None:
        self._queue = queue
        self._start = start
        self._outlet = outlet
        self._checkpoints = checkpoints
        self.waiting: deque[Stored] = deque(stored)
        """What waits for room: an element, and what is still to be restored."""
        self.taken = 0
        """Elements taken from the source."""
        self.max_in_flight = 0
        """Most records in flight so far."""

    async def restore(self) -> None:
        """Admit what was stored, as far as there is room, and then as there is (REST-4)."""
        while self.waiting and await self.admit():
            pass

    async def process(self, element: Any) -> None:
        """Take in an element of the source.

        Raises:
            TypeError: it is none.
        """
        self.taken += 1
        if isinstance(element, Stored):
            self.waiting.append(element)
            await self.admit()
        elif isinstance(element, LatencyMarker):
            await self._outlet.overtake(element)
        elif isinstance(element, Barrier | Snapshot):
            await self._checkpoints.take(element)
        else:
            self.taken -= 1  # Whoever goes on from a snapshot has it read once more.
            raise TypeError(f"expected an element, got {shown(element)}; wrap values in Record")

    async def admit(self) -> bool:
        """Put the first element that waits into the queue, as soon as there is room (CAP-3).

        Until then a snapshot has to hold it as something that waits (Flink's SN-7).

        Returns:
            Whether it was put; the queue may be closed instead.
        """
        entry = Entry.of(self.waiting[0])
        if not await self._queue.put(entry):
            return False
        self.waiting.popleft()
        if isinstance(entry.element, Record):
            in_flight = self._queue.records() - self._outlet.lingering()
            self.max_in_flight = max(in_flight, self.max_in_flight)
            self._start(entry)
        return True

    def close(self) -> None:
        """Let go of what waits."""
        self.waiting.clear()
