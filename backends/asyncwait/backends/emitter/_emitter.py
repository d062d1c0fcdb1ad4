"""The task that takes out of the queue and hands out."""

from asyncwait.backends.emitter._blocking import ElementQueue
from asyncwait.backends.emitter._life import Life
from asyncwait.backends.emitter._lock import CheckpointLock
from asyncwait.backends.emitter._outlet import Outlet


class Emitter:
    """Peeks, emits, and only then removes.

    So an element is in the queue until it is out, holds its slot for as long, and is missing in no
    snapshot (CAP-1, SNAP-2).

    Args:
        queue: to take from.
        outlet: to hand out at.
        lock: which the consumer has hold of when it begins to take; released here.
        life: of the operator.
    """

    def __init__(
        self, queue: ElementQueue, outlet: Outlet, lock: CheckpointLock, life: Life
    ) -> None:
        self._queue = queue
        self._outlet = outlet
        self._lock = lock
        self._life = life

    async def run(self) -> None:
        """Emit everything, and then tell the end (END-1, END-2)."""
        while await self.emit_next():
            pass
        self._outlet.finish()

    async def emit_next(self) -> bool:
        """Emit an element; return whether there was one."""
        entry = await self._queue.peek_blockingly()
        if entry is None:
            return False
        if entry.outputs:
            await self._outlet.emit(entry)
        if not self._life.is_over:
            self._queue.poll()
        if entry.outputs:
            self._lock.release()
        return True
