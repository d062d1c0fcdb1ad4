"""What these mailboxes share: an owner, a lock, and what a mailbox says of its state."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from asyncwait.reference import Mail, MailboxState
from asyncwait.spec.mailbox import Loop, MailboxClosedError

T = TypeVar("T")


class Shell(ABC):
    """A mailbox without what keeps its mails, and wakes its owner."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._owner = threading.get_ident()
        self._lock = threading.RLock()
        self.state = MailboxState.OPEN

    @property
    def has_mail(self) -> bool:
        return len(self) > 0

    @abstractmethod
    def __len__(self) -> int: ...

    def put(self, mail: Mail) -> None:
        with self._lock:
            if self.state is not MailboxState.OPEN:
                raise MailboxClosedError(f"the mailbox is {self.state.value}")
            self._keep(mail)
        self._loop.call_from_thread(self._ring)

    @abstractmethod
    def _keep(self, mail: Mail) -> None: ...

    @abstractmethod
    def _ring(self) -> None: ...

    def run_exclusively(self, function: Callable[[], T]) -> T:
        with self._lock:
            return function()

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

    @abstractmethod
    def drain(self) -> list[Mail]:
        """Take everything."""

    def _require(self, *, taking: bool = False) -> None:
        if threading.get_ident() != self._owner:
            raise RuntimeError("only its owner may do that to a mailbox")
        if taking and self.state is MailboxState.CLOSED:
            raise MailboxClosedError("the mailbox is closed")
