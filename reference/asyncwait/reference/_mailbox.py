"""The mailbox: what happens to an operator is a mail, and one task runs one mail after the other.

Mails come from any thread; only the task that owns the mailbox takes them. What a mail touches is
touched by nobody else meanwhile, so the rest of the operator needs no lock.

A mailbox is open at first (mails come and go), then quiesced (they only go), then closed
(neither); there is no way back (Flink's MB-7).
"""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import anyio

from asyncwait.spec import Loop

MAIN = -1
"""Priority of mails that wait while the operator waits for room: what brings new work."""

OPERATOR = 0
"""Priority of mails that run even then: what finishes old work (Flink's BP-2, BP-3)."""


class MailboxState(Enum):
    """What a mailbox allows."""

    OPEN = "open"
    QUIESCED = "quiesced"
    CLOSED = "closed"


class MailboxClosedError(RuntimeError):
    """A mail was put or taken, and the mailbox no longer allows it."""


@dataclass(frozen=True, slots=True, eq=False)
class Mail:
    """Something to do for the task that owns the mailbox.

    Args:
        run: does it; it can't await.
        priority: a filter, not an order: who takes with a higher one does not see this mail
            (Flink's MB-10).
        urgent: goes ahead of all mails that are not urgent. Among urgent ones the order stays,
            and none of them is visible to more takers than before (Flink's MB-14, MB-15).
    """

    run: Callable[[], object]
    priority: int = OPERATOR
    urgent: bool = False


class TaskMailbox:
    """A queue of mails with many senders and one taker (Flink's MB-1).

    Args:
        loop: of the task that takes; it runs the caller.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._state = MailboxState.OPEN
        self._urgent: deque[Mail] = deque()
        self._mails: deque[Mail] = deque()
        self._arrival: anyio.Event | None = None

    @property
    def state(self) -> MailboxState:
        """What the mailbox allows now."""
        return self._state

    def __len__(self) -> int:
        return len(self._urgent) + len(self._mails)

    def put(self, mail: Mail) -> None:
        """Put `mail` behind those of its kind. For any thread; never blocks.

        Raises:
            MailboxClosedError: the mailbox is not open.
        """
        with self._lock:
            self._require("putting a mail", MailboxState.OPEN)
            (self._urgent if mail.urgent else self._mails).append(mail)
        if threading.get_ident() == self._thread:
            self._wake_taker()
        else:
            self._loop.call_from_thread(self._wake_taker)

    def try_take(self, priority: int) -> Mail | None:
        """Take the first mail of at least `priority`; return None if there is none.

        Raises:
            MailboxClosedError: the mailbox is closed.
            RuntimeError: this is not the thread of the mailbox's loop (Flink's TH-4).
        """
        if threading.get_ident() != self._thread:
            raise RuntimeError("mails are taken in the thread of the mailbox's loop, not elsewhere")
        with self._lock:
            self._require("taking a mail", MailboxState.OPEN, MailboxState.QUIESCED)
            for mails in (self._urgent, self._mails):
                for mail in mails:
                    if mail.priority >= priority:
                        mails.remove(mail)
                        return mail
        return None

    async def take(self, priority: int) -> Mail:
        """Take the first mail of at least `priority`; wait for one if there is none.

        Raises:
            MailboxClosedError: the mailbox is closed, or was closed meanwhile.
        """
        while (mail := self.try_take(priority)) is None:
            # A thread that puts a mail just now wakes the taker on the loop, hence after this.
            self._arrival = arrival = anyio.Event()
            await arrival.wait()
        return mail

    def quiesce(self) -> None:
        """Refuse mails from now on; those inside can still be taken."""
        with self._lock:
            if self._state is MailboxState.OPEN:
                self._state = MailboxState.QUIESCED

    def close(self) -> list[Mail]:
        """Refuse everything from now on, and return the mails that nobody took (Flink's MB-8)."""
        with self._lock:
            self._state = MailboxState.CLOSED
            left = [*self._urgent, *self._mails]
            self._urgent.clear()
            self._mails.clear()
        self._wake_taker()
        return left

    def _wake_taker(self) -> None:
        if self._arrival is not None:
            self._arrival.set()

    def _require(self, action: str, *states: MailboxState) -> None:
        if self._state not in states:
            needed = " or ".join(state.value for state in states)
            message = f"{action} needs a mailbox that is {needed}, this one is {self._state.value}"
            raise MailboxClosedError(message)


class MailboxExecutor:
    """The mailbox as one part of the operator sees it: through the filter of a priority.

    Args:
        mailbox: whose mails to send and to run.
        priority: of the mails sent, and the lowest one of the mails run.
    """

    def __init__(self, mailbox: TaskMailbox, priority: int) -> None:
        self._mailbox = mailbox
        self._priority = priority

    def execute(self, run: Callable[[], object], *, urgent: bool = False) -> None:
        """Have `run` run as a mail. For any thread.

        Raises:
            MailboxClosedError: the mailbox is not open.
        """
        self._mailbox.put(Mail(run, self._priority, urgent))

    async def run_one(self) -> None:
        """Wait for one visible mail and run it; what it raises is raised here (Flink's yield)."""
        mail = await self._mailbox.take(self._priority)
        mail.run()

    def try_run_one(self) -> bool:
        """Run one visible mail, if there is one, and say whether there was (Flink's tryYield)."""
        mail = self._mailbox.try_take(self._priority)
        if mail is None:
            return False
        mail.run()
        return True
