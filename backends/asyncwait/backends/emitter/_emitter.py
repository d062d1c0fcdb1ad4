"""The emitter: it takes entries out of the queue and hands them out, under the checkpoint lock."""

from collections import deque
from collections.abc import Callable

import anyio.lowlevel

from asyncwait.backends.emitter._queue import ElementQueue, Entry
from asyncwait.backends.emitter._tasks import Life, outlast
from asyncwait.spec import Element, Snapshot
from asyncwait.toolkit import Bell


class CheckpointLock:
    """The lock that keeps emission and snapshot apart.

    With threads, this lock protected every step of the operator. On one loop a step is never
    interrupted, and only a sequence of steps needs protection: the emission of a record, from
    the moment when the consumer takes its first result until it has taken the last, and the emitter
    has removed the record from the queue. A snapshot in between would store results that came out,
    or come out between them (SNAP-3, SNAP-6). A snapshot is a single step, so no task waits for it.

    Args:
        life: of the operator; when it is over, the reader waits no longer.
    """

    def __init__(self, life: Life) -> None:
        self._life = life
        self._steps: deque[Callable[[], object]] = deque()
        self._freed = Bell()
        self.is_held = False
        """Whether an emission has begun, and is not over."""
        self.on_release: Callable[[], object] = lambda: None
        """Called after the steps that waited for the lock."""
        life.when_over(self._freed.ring)

    def hold(self) -> None:
        """Take the lock for a sequence of steps; no other task may hold it."""
        assert not self.is_held
        self.is_held = True

    def release(self) -> None:
        """Release the lock; waiting steps run now, before another task may hold it."""
        self.is_held = False
        while self._steps and not self.is_held:
            self._steps.popleft()()
        self._freed.ring()
        self.on_release()

    def run(self, step: Callable[[], object]) -> None:
        """Run a step now or, if the lock is held, as soon as it is released."""
        if self.is_held:
            self._steps.append(step)
        else:
            step()

    async def run_and_wait(self, step: Callable[[], object]) -> None:
        """Run a step like `run`; return when it has run, or the life is over.

        Only the reader waits here.
        """
        done: list[object] = []
        self.run(lambda: done.append(step()))
        while not (done or self._life.is_over):
            await outlast(self._freed)


class Outlet:
    """The place behind the operator: an element is out in the step in which it is taken here.

    Args:
        life: of the operator.
        lock: held while the consumer takes the results of one record.
        capacity: number of elements that may overtake and wait for the consumer (CAP-6).
    """

    def __init__(self, life: Life, lock: CheckpointLock, capacity: int) -> None:
        self._life = life
        self._lock = lock
        self._capacity = capacity
        self._offered: Entry | None = None
        self._ahead: deque[Element] = deque()
        self._requested: deque[Snapshot] = deque()
        self._news, self._taken, self._passed = Bell(), Bell(), Bell()
        self._is_awaited = self._is_drained = False
        lock.on_release = self._news.ring
        life.when_over(self._close)

    # Called by the emitter

    async def emit(self, entry: Entry) -> None:
        """Hand out the outputs of an entry; return when the consumer has taken all of them."""
        self._offered = entry
        self._news.ring()
        while not (entry.is_taken or self._life.is_over):
            await self._taken.wait()
        self._offered = None

    def finish(self) -> None:
        """Note that all entries were emitted."""
        self._is_drained = True
        self._news.ring()

    # Called by the task that reads

    def put_ahead(self, element: Element) -> None:
        """Emit a marker or a snapshot before queued entries, behind earlier ones (ELEM-6)."""
        self._ahead.append(element)
        self._news.ring()

    def put_first(self, snapshot: Snapshot) -> None:
        """Emit a snapshot ahead of all elements, behind earlier requested snapshots (SNAP-8)."""
        self._requested.append(snapshot)
        self._news.ring()

    async def passed(self) -> None:
        """Wait until no more than the capacity waits ahead of the entries (CAP-6)."""
        while len(self._ahead) > self._capacity and not self._life.is_over:
            await outlast(self._passed)

    # Called by the consumer

    async def take(self) -> Element:
        """Return the next element; wait until the queue has an element.

        Raises:
            RuntimeError: another task is waiting here.
            BaseException: the operator is over; see `Life.raise_end`.
        """
        if self._is_awaited:
            raise RuntimeError("another task waits for the next element; there is one consumer")
        # No await lies between taking an element and returning it: see END-9.
        while (element := self._next_element()) is None:
            if self._is_drained:
                self._life.finish()
            if self._life.is_interrupted:
                await anyio.lowlevel.checkpoint_if_cancelled()  # the consumer mostly is
            if self._life.is_over:
                self._life.raise_end()
            await self._wait()
        return element

    def _next_element(self) -> Element | None:
        """Take the rest of a record, an overtaking element, or the next record's first output."""
        if self._life.is_over:
            return None
        if self._requested and not self._lock.is_held:
            return self._requested.popleft()
        if self._ahead and not self._lock.is_held:
            self._passed.ring()
            return self._ahead.popleft()
        entry = self._offered
        # If the lock is held for another reason than the rest of this record, nothing begins.
        if entry is None or entry.is_taken or self._lock.is_held != bool(entry.given):
            return None
        if not self._lock.is_held:
            self._lock.hold()
        return self._hand_over(entry)

    def _hand_over(self, entry: Entry) -> Element:
        assert entry.outputs is not None
        output = entry.outputs[entry.given]
        entry.given += 1
        if entry.is_taken:
            self._taken.ring()
        return output

    def _close(self) -> None:
        self._ahead.clear()
        self._requested.clear()
        for bell in (self._news, self._taken, self._passed):
            bell.ring()

    async def _wait(self) -> None:
        self._is_awaited = True
        try:
            await self._news.wait()
        finally:
            self._is_awaited = False


class Emitter:
    """The task that peeks, emits, and only then removes.

    So an element stays in the queue until it is out, keeps its slot for that time, and is missing
    in no snapshot (CAP-1, SNAP-2).

    Args:
        queue: the source of the entries.
        outlet: hands the entries out.
        lock: taken by the consumer with its first element of a record; released here.
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
        """Emit everything, and then report the end (END-1, END-2)."""
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
