"""A mailbox that is one list under one lock: where a mail stands in it says everything."""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import anyio

from asyncwait.reference import MAIN, Mail, MailboxState
from asyncwait.spec.mailbox import Loop, MailboxClosedError

T = TypeVar("T")


class KeepsOneList:
    """Urgent mails stand first, then the batch, then the others; two numbers tell the borders.

    Args:
        loop: of the task that takes; it runs the caller.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._owner = threading.get_ident()
        self._lock = threading.RLock()
        self._mails: list[Mail] = []
        self._urgent = 0
        self._batch = 0
        self.state = MailboxState.OPEN
        self._bells: list[anyio.Event] = []

    @property
    def has_mail(self) -> bool:
        """Whether anything waits."""
        return bool(self._mails)

    def __len__(self) -> int:
        return len(self._mails)

    def put(self, mail: Mail) -> None:
        """Put a mail in its place, and ring."""
        with self._lock:
            if self.state is not MailboxState.OPEN:
                raise MailboxClosedError(f"the mailbox is {self.state.value}")
            self._mails.insert(self._urgent if mail.urgent else len(self._mails), mail)
            self._urgent += mail.urgent
        self._loop.call_from_thread(self._ring)

    def run_exclusively(self, function: Callable[[], T]) -> T:
        """Run it under the lock."""
        with self._lock:
            return function()

    def create_batch(self) -> bool:
        """Move the border to the end."""
        self._require()
        with self._lock:
            self._batch = len(self._mails) - self._urgent
            return bool(self._mails)

    def try_take_from_batch(self) -> Mail | None:
        """Take the first, if that is not beyond the border."""
        self._require(taking=True)
        with self._lock:
            return self._pop(0) if self._urgent + self._batch > 0 else None

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        """Take the first that is seen."""
        self._require(taking=True)
        with self._lock:
            for place, mail in enumerate(self._mails):
                own = MAIN if mail.deferrable and not with_deferred else mail.priority
                if own >= priority:
                    return self._pop(place)
        return None

    async def take(self, priority: int) -> Mail:
        """Look each time that it rings."""
        while True:
            bell = anyio.Event()
            self._bells.append(bell)
            if (mail := self.try_take(priority)) is not None:
                return mail
            await bell.wait()

    def quiesce(self) -> None:
        """Refuse what is sent."""
        self._require()
        with self._lock:
            if self.state is MailboxState.OPEN:
                self.state = MailboxState.QUIESCED

    def close(self) -> list[Mail]:
        """Refuse everything."""
        self._require()
        with self._lock:
            self.state = MailboxState.CLOSED
            left = self.drain()
        for mail in left:
            mail.cancel()
        self._ring()
        return left

    def drain(self) -> list[Mail]:
        """Take the whole list."""
        self._require()
        with self._lock:
            mails, self._mails = self._mails, []
            self._urgent = self._batch = 0
        return mails

    def _pop(self, place: int) -> Mail:
        if place < self._urgent:
            self._urgent -= 1
        elif place < self._urgent + self._batch:
            self._batch -= 1
        return self._mails.pop(place)

    def _ring(self, *_: Any) -> None:
        bells, self._bells = self._bells, []
        for bell in bells:
            bell.set()

    def _require(self, *, taking: bool = False) -> None:
        if threading.get_ident() != self._owner:
            raise RuntimeError("only its owner may do that to a mailbox")
        if taking and self.state is MailboxState.CLOSED:
            raise MailboxClosedError("the mailbox is closed")
