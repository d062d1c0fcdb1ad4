"""A mailbox with an inbox without a lock of its own: the owner sorts what came when it looks."""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream

from asyncwait.reference import Mail, MailboxState
from asyncwait.spec.mailbox import Loop, MailboxClosedError

T = TypeVar("T")


class SortsItsInbox:
    """Senders fill a `SimpleQueue`, as one would use `asyncio.Queue`; a stream wakes the owner.

    Args:
        loop: of the task that takes; it runs the caller.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._owner = threading.get_ident()
        self._gate = threading.RLock()
        self._inbox: SimpleQueue[Mail] = SimpleQueue()
        self._sorted: dict[str, list[Mail]] = {"urgent": [], "batch": [], "plain": []}
        self.state = MailboxState.OPEN
        self._waker: tuple[ObjectSendStream[None], ObjectReceiveStream[None]] | None = None

    @property
    def has_mail(self) -> bool:
        """Whether anything waits."""
        return len(self) > 0

    def __len__(self) -> int:
        return self._inbox.qsize() + sum(map(len, self._sorted.values()))

    def put(self, mail: Mail) -> None:
        """Drop it into the inbox, unless the gate is shut."""
        with self._gate:
            if self.state is not MailboxState.OPEN:
                raise MailboxClosedError(f"the mailbox is {self.state.value}")
            self._inbox.put(mail)
        self._loop.call_from_thread(self._wake)

    def run_exclusively(self, function: Callable[[], T]) -> T:
        """Run it while the gate is kept."""
        with self._gate:
            return function()

    def create_batch(self) -> bool:
        """Add what is sorted to the batch."""
        self._sort()
        self._sorted["batch"] += self._sorted["plain"]
        self._sorted["plain"] = []
        return bool(self._sorted["urgent"] or self._sorted["batch"])

    def try_take_from_batch(self) -> Mail | None:
        """Take the first that is urgent, or else of the batch."""
        self._sort()
        self._check_taking()
        for kind in ("urgent", "batch"):
            if self._sorted[kind]:
                return self._sorted[kind].pop(0)
        return None

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        """Take the first that is seen."""
        self._sort()
        self._check_taking()
        for mails in self._sorted.values():
            for mail in mails:
                if mail.is_visible_to(priority, with_deferred=with_deferred):
                    mails.remove(mail)
                    return mail
        return None

    async def take(self, priority: int) -> Mail:
        """Look after each item of the stream."""
        self._waker = sending, waking = anyio.create_memory_object_stream[None](1)
        with sending, waking:
            while (mail := self.try_take(priority)) is None:
                await waking.receive()
        return mail

    def quiesce(self) -> None:
        """Shut the gate."""
        self._sort()
        with self._gate:
            if self.state is MailboxState.OPEN:
                self.state = MailboxState.QUIESCED

    def close(self) -> list[Mail]:
        """Shut the gate, and take everything."""
        with self._gate:
            left = self.drain()
            self.state = MailboxState.CLOSED
        for mail in left:
            mail.cancel()
        self._wake()
        return left

    def drain(self) -> list[Mail]:
        """Take everything, kind by kind."""
        self._sort()
        mails = [mail for kind in self._sorted.values() for mail in kind]
        self._sorted = {kind: [] for kind in self._sorted}
        return mails

    def _sort(self) -> None:
        if threading.get_ident() != self._owner:
            raise RuntimeError("only its owner may do that to a mailbox")
        try:
            while True:
                mail = self._inbox.get_nowait()
                self._sorted["urgent" if mail.urgent else "plain"].append(mail)
        except Empty:
            return

    def _wake(self) -> None:
        if self._waker is not None:
            try:
                self._waker[0].send_nowait(None)  # type: ignore[attr-defined]
            except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
                return

    def _check_taking(self) -> None:
        if self.state is MailboxState.CLOSED:
            raise MailboxClosedError("the mailbox is closed")
