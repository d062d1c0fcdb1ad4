"""Taking snapshots."""

from collections.abc import Callable

from asyncwait.backends.emitter._blocking import ElementQueue
from asyncwait.backends.emitter._life import Life
from asyncwait.backends.emitter._lock import CheckpointLock
from asyncwait.backends.emitter._outlet import Outlet
from asyncwait.spec import Barrier, Snapshot
from asyncwait.spec.snapshots import Stored


class Checkpoints:
    """Takes snapshots: under the lock, so that no record in them is half out.

    Args:
        queue: what is in flight.
        outlet: where snapshots come out.
        lock: held while a record is emitted.
        life: of the operator.
    """

    def __init__(
        self, queue: ElementQueue, outlet: Outlet, lock: CheckpointLock, life: Life
    ) -> None:
        self._queue = queue
        self._outlet = outlet
        self.lock = lock
        """Held while a record is emitted."""
        self._life = life
        self.waiting: Callable[[], tuple[Stored, ...]] = tuple
        """Gives what waits for room, or is still to be restored."""
        self.taken: Callable[[], int] = int
        """Gives the number of elements taken from the source."""

    def elements(self) -> tuple[Stored, ...]:
        """Return all that was read and is not out, the element that waits for room included.

        That one is in no queue yet; Flink kept it apart, and at first forgot it (its SN-7).
        """
        return (*self._queue.values(), *self.waiting())

    async def take(self, barrier: Barrier | Snapshot) -> None:
        """Put the snapshot of a barrier out; whatever is read next comes behind it (SNAP-7).

        A record that is half out goes first. Then wait, if too many snapshots are there already.
        """
        await self.lock.run_and_wait(lambda: self.answer_barrier(barrier))
        await self._outlet.passed()

    def answer_barrier(self, barrier: Barrier | Snapshot) -> None:
        """Put the snapshot of a barrier out; one that stands for it is carried along (SNAP-10)."""
        upstream = barrier if isinstance(barrier, Snapshot) else None
        snapshot = Snapshot(barrier.checkpoint_id, self.elements(), upstream=upstream)
        self._outlet.put_ahead(snapshot)

    def request(self, checkpoint_id: int) -> None:
        """Put a snapshot out ahead of all but a record that is half out (SNAP-8)."""
        self.lock.run(lambda: self.answer_request(checkpoint_id))

    def answer_request(self, checkpoint_id: int) -> None:
        """Put a snapshot out that says how much was read (SNAP-9); nothing after the end."""
        if not self._life.is_over:
            self._outlet.put_first(Snapshot(checkpoint_id, self.elements(), self.taken()))
