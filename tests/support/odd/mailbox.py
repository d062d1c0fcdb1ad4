"""A sound mailbox that is built differently: no rule may convict it."""

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
    """An inbox without a lock: the owner sorts it when it takes mail; a stream wakes the owner."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._owner = threading.get_ident()
        self._lock = threading.RLock()
        self.state = MailboxState.OPEN
        self._inbox: SimpleQueue[Mail] = SimpleQueue()
        self._sorted: dict[str, list[Mail]] = {"urgent": [], "batch": [], "plain": []}
        self._waker: tuple[ObjectSendStream[None], ObjectReceiveStream[None]] | None = None

    def __len__(self) -> int:
        return self._inbox.qsize() + sum(map(len, self._sorted.values()))

    @property
    def has_mail(self) -> bool:
        return len(self) > 0

    def put(self, mail: Mail) -> None:
        with self._lock:
            if self.state is not MailboxState.OPEN:
                raise MailboxClosedError(f"the mailbox is {self.state.value}")
            self._inbox.put(mail)
        self._loop.call_from_thread(self._ring)

    def run_exclusively(self, function: Callable[[], T]) -> T:
        with self._lock:
            return function()

    def create_batch(self) -> bool:
        self._sort()
        self._sorted["batch"] += self._sorted["plain"]
        self._sorted["plain"] = []
        return bool(self._sorted["urgent"] or self._sorted["batch"])

    def try_take_from_batch(self) -> Mail | None:
        self._sort(taking=True)
        for kind in ("urgent", "batch"):
            if self._sorted[kind]:
                return self._sorted[kind].pop(0)
        return None

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        self._sort(taking=True)
        for mails in self._sorted.values():
            for mail in mails:
                if mail.is_visible_to(priority, with_deferred=with_deferred):
                    mails.remove(mail)
                    return mail
        return None

    async def take(self, priority: int) -> Mail:
        self._waker = sending, waking = anyio.create_memory_object_stream[None](1)
        with sending, waking:
            while (mail := self.try_take(priority)) is None:
                await waking.receive()
        return mail

    def drain(self) -> list[Mail]:
        self._sort()
        mails = [mail for kind in self._sorted.values() for mail in kind]
        self._sorted = {kind: [] for kind in self._sorted}
        return mails

    def quiesce(self) -> None:
        self._require()
        with self._lock:
            if self.state is MailboxState.OPEN:
                self.state = MailboxState.QUIESCED

    def close(self) -> list[Mail]:
        self._require()
        with self._lock:
            left = self.drain()
            self.state = MailboxState.CLOSED
        for mail in left:
            mail.cancel()
        self._ring()
        return left

    def _sort(self, *, taking: bool = False) -> None:
        self._require(taking=taking)
        try:
            while True:
                mail = self._inbox.get_nowait()
                self._sorted["urgent" if mail.urgent else "plain"].append(mail)
        except Empty:
            return

    def _ring(self) -> None:
        if self._waker is not None:
            try:
                self._waker[0].send_nowait(None)  # type: ignore[attr-defined]
            except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
                return

    def _require(self, *, taking: bool = False) -> None:
        if threading.get_ident() != self._owner:
            raise RuntimeError("only its owner may do that to a mailbox")
        if taking and self.state is MailboxState.CLOSED:
            raise MailboxClosedError("the mailbox is closed")
