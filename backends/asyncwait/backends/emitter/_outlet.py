"""Where the emitter hands out, and the consumer takes."""

from collections import deque

import anyio.lowlevel

from asyncwait.backends.emitter._entries import Entry
from asyncwait.backends.emitter._life import Life
from asyncwait.backends.emitter._lock import CheckpointLock
from asyncwait.backends.emitter._signal import Signal
from asyncwait.spec import Element, LatencyMarker, Record, Snapshot


class Outlet:
    """What lies behind the operator. An element is out in the step in which it is taken here.

    Args:
        life: of the operator.
        lock: held while the results of one record are taken.
        capacity: how much may overtake and not be taken (CAP-6).
    """

    def __init__(self, life: Life, lock: CheckpointLock, capacity: int) -> None:
        self._life = life
        self._lock = lock
        self._capacity = capacity
        self._offered: Entry | None = None
        self._ahead: deque[Element] = deque()
        self._requested: deque[Snapshot] = deque()
        self._news, self._taken, self._passed = Signal(), Signal(), Signal()
        self._is_awaited = self._is_drained = False
        lock.on_release = self._news.give
        life.when_over(self.close)

    # Of the emitter

    async def emit(self, entry: Entry) -> None:
        """Hand out what comes out for an entry; return when all of it was taken."""
        self._offered = entry
        self._news.give()
        while not (entry.is_taken or self._life.is_over):
            await self._taken.wait()
        self._offered = None

    def finish(self) -> None:
        """Take note that there is nothing more to emit."""
        self._is_drained = True
        self._news.give()

    # Of the task that reads

    async def overtake(self, element: LatencyMarker) -> None:
        """Put a marker out ahead of what is emitted (ELEM-6); then wait, if too many are there."""
        self.put_ahead(element)
        await self.passed()

    def put_ahead(self, element: Element) -> None:
        """Put an element out ahead of what is emitted, behind those that were there before."""
        self._ahead.append(element)
        self._news.give()

    def put_first(self, snapshot: Snapshot) -> None:
        """Put a snapshot out ahead of all but those that were requested before (SNAP-8)."""
        self._requested.append(snapshot)
        self._news.give()

    async def passed(self) -> None:
        """Wait until no more than the capacity is ahead of what is emitted (CAP-6)."""
        while len(self._ahead) > self._capacity and not self._life.is_over:
            await self._passed.outlast()

    # Of the consumer

    async def take(self) -> Element:
        """Return the next element; wait for it if there is none.

        Raises:
            RuntimeError: another task is waiting here (END-14).
            BaseException: the operator is over; see `Life.raise_end`.
        """
        if self._is_awaited:
            raise RuntimeError("another task waits for the next element; there is one consumer")
        # No await lies between taking an element and returning it: see END-9.
        while (element := self.next_element()) is None:
            if self._is_drained:
                self._life.finish()
            if self._life.is_interrupted:
                await anyio.lowlevel.checkpoint_if_cancelled()  # as the consumer mostly is
            if self._life.is_over:
                self._life.raise_end()
            await self._wait()
        return element

    def next_element(self) -> Element | None:
        """Take the rest of a record, or what overtakes, or the first of the next one, if any."""
        if self._life.is_over:
            return None
        if self._lock.is_held:
            return self._rest()
        if self._requested:
            return self._requested.popleft()
        if self._ahead:
            self._passed.give()
            return self._ahead.popleft()
        return self._begin()

    def lingering(self) -> int:
        """Count the records that were taken, and that the emitter has not removed yet."""
        entry = self._offered
        return entry is not None and entry.is_taken and isinstance(entry.element, Record)

    def close(self) -> None:
        """Let go of everything, and of whoever waits."""
        self._ahead.clear()
        self._requested.clear()
        for signal in (self._news, self._taken, self._passed):
            signal.give()

    def _begin(self) -> Element | None:
        entry = self._offered
        if entry is None:
            return None
        self._lock.hold()
        return self._hand_over(entry)

    def _rest(self) -> Element | None:
        entry = self._offered
        if entry is None or not entry.given or entry.is_taken:
            return None
        return self._hand_over(entry)

    def _hand_over(self, entry: Entry) -> Element:
        assert entry.outputs is not None
        output = entry.outputs[entry.given]
        entry.given += 1
        if entry.is_taken:
            self._taken.give()
        return output

    async def _wait(self) -> None:
        self._is_awaited = True
        try:
            await self._news.wait()
        finally:
            self._is_awaited = False
