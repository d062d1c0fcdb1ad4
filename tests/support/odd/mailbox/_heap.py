"""A mailbox that is a heap: the key of a mail says whether it is urgent, in the batch, and when."""

import heapq
import threading
from collections.abc import Callable
from itertools import count
from typing import TypeVar

import anyio

from asyncwait.reference import Mail, MailboxState
from asyncwait.spec.mailbox import Loop, MailboxClosedError

T = TypeVar("T")


class KeepsAHeap:
    """Batches are a number up to which mails belong to one; who waits looks at whatever comes.

    Args:
        loop: of the task that takes; it runs the caller.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._owner = threading.get_ident()
        self._lock = threading.RLock()
        self._numbers = count(1)
        self._heap: list[tuple[bool, int, Mail]] = []
        self._batch_ends = 0
        self.state = MailboxState.OPEN
        self._bell: anyio.Event | None = None

    @property
    def has_mail(self) -> bool:
        """Whether anything waits."""
        return len(self._heap) > 0

    def __len__(self) -> int:
        return len(self._heap)

    def put(self, mail: Mail) -> None:
        """Give it the next number."""
        with self._lock:
            if self.state is not MailboxState.OPEN:
                raise MailboxClosedError(f"the mailbox is {self.state.value}")
            heapq.heappush(self._heap, (not mail.urgent, next(self._numbers), mail))
        self._loop.call_from_thread(self._ring)

    def run_exclusively(self, function: Callable[[], T]) -> T:
        """Run it under the lock."""
        with self._lock:
            return function()

    def create_batch(self) -> bool:
        """Have what has a number by now belong to the batch."""
        self._check_owner()
        with self._lock:
            self._batch_ends = next(self._numbers)
            return bool(self._heap)

    def try_take_from_batch(self) -> Mail | None:
        """Take the first if it is urgent, or its number small enough."""
        self._check_owner(taking=True)
        with self._lock:
            if self._heap and (not self._heap[0][0] or self._heap[0][1] < self._batch_ends):
                return heapq.heappop(self._heap)[2]
        return None

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        """Take the least that is seen."""
        self._check_owner(taking=True)
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

    def quiesce(self) -> None:
        """Refuse what is sent."""
        self._check_owner()
        with self._lock:
            if self.state is not MailboxState.CLOSED:
                self.state = MailboxState.QUIESCED

    def close(self) -> list[Mail]:
        """Refuse everything."""
        self._check_owner()
        with self._lock:
            left = self.drain()
            self.state = MailboxState.CLOSED
        for mail in left:
            mail.cancel()
        self._ring()
        return left

    def drain(self) -> list[Mail]:
        """Take all, sorted."""
        self._check_owner()
        with self._lock:
            mails = [mail for _, _, mail in sorted(self._heap, key=lambda entry: entry[:2])]
            self._heap.clear()
        return mails

    def _ring(self) -> None:
        if self._bell is not None:
            self._bell.set()

    def _check_owner(self, *, taking: bool = False) -> None:
        if threading.get_ident() != self._owner:
            raise RuntimeError("only its owner may do that to a mailbox")
        if taking and self.state is MailboxState.CLOSED:
            raise MailboxClosedError("the mailbox is closed")
