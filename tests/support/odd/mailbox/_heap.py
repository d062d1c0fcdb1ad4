"""A mailbox that is a heap: the key of a mail says whether it is urgent, in the batch, and when."""

import heapq
from itertools import count

import anyio

from asyncwait.reference import Mail
from asyncwait.spec.mailbox import Loop
from odd.mailbox._shell import Shell


class KeepsAHeap(Shell):
    """Batches are a number up to which mails belong to one; who waits looks at whatever comes."""

    def __init__(self, loop: Loop) -> None:
        super().__init__(loop)
        self._numbers = count(1)
        self._heap: list[tuple[bool, int, Mail]] = []
        self._batch_ends = 0
        self._bell: anyio.Event | None = None

    def __len__(self) -> int:
        return len(self._heap)

    def _keep(self, mail: Mail) -> None:
        heapq.heappush(self._heap, (not mail.urgent, next(self._numbers), mail))

    def create_batch(self) -> bool:
        """Have what has a number by now belong to the batch."""
        self._require()
        with self._lock:
            self._batch_ends = next(self._numbers)
            return bool(self._heap)

    def try_take_from_batch(self) -> Mail | None:
        """Take the first if it is urgent, or its number small enough."""
        self._require(taking=True)
        with self._lock:
            if self._heap and (not self._heap[0][0] or self._heap[0][1] < self._batch_ends):
                return heapq.heappop(self._heap)[2]
        return None

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        """Take the least that is seen."""
        self._require(taking=True)
        with self._lock:
            seen = [
                entry
                for entry in self._heap
                if entry[2].is_visible_to(priority, with_deferred=with_deferred)
            ]
            if not seen:
                return None
            found = min(seen, key=lambda entry: entry[:2])
            self._heap.remove(found)
            heapq.heapify(self._heap)
        return found[2]

    async def take(self, priority: int) -> Mail:
        """Look whenever somebody has rung."""
        while True:
            self._bell = bell = anyio.Event()
            if (mail := self.try_take(priority)) is not None:
                return mail
            await bell.wait()

    def drain(self) -> list[Mail]:
        """Take all, sorted."""
        self._require()
        with self._lock:
            mails = [mail for _, _, mail in sorted(self._heap, key=lambda entry: entry[:2])]
            self._heap.clear()
        return mails

    def _ring(self) -> None:
        if self._bell is not None:
            self._bell.set()
