"""Contract of the task mailbox, and the loop that it and an operator run on.

A mailbox belongs to the task that opened it, and to that task's thread. Any thread may call the
methods that send (`execute`, `submit`), the methods that steer the loop (`suspend`,
`all_actions_completed`, `report_error`, a suspension's `resume`) and `run_exclusively`. Only the
owner's thread may call the other methods.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from enum import Enum
from typing import Any, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from asyncwait.spec._errors import AsyncWaitError

CallAt: TypeAlias = Callable[[float, Callable[[], object]], asyncio.TimerHandle]


class Loop(Struct, frozen=True):
    """The loop that an operator was opened on.

    Args:
        time: clock of the loop, in seconds, and the only clock of an operator; for any thread.
        call_soon_threadsafe: runs a function on the loop soon; for any thread.
        call_at: runs a function at a time of the clock; None on trio, where only tasks sleep.
    """

    time: Callable[[], float]
    call_soon_threadsafe: Callable[[Callable[[], object]], Any]
    call_at: CallAt | None

    def call_from_thread(self, function: Callable[[], object]) -> None:
        """Run `function` on the loop soon, or never if the loop is closed."""
        with suppress(RuntimeError):  # of a closed asyncio loop; trio raises a subclass
            self.call_soon_threadsafe(function)


T = TypeVar("T")

MAIN = -1
"""The lowest priority, for the main loop and for mails that bring new work (Flink's MB-11)."""

HIGHEST = 2**31 - 1
"""The highest priority: its taker sees only mails for all parts of the task (Flink's MB-11)."""


class MailboxClosedError(AsyncWaitError, RuntimeError):
    """The mailbox no longer allows to put or to take a mail."""


class MailboxState(Enum):
    """State of a mailbox; each state leads to the next, and never back (Flink's MB-7).

    OPEN: mails can be put and taken. QUIESCED: mails can only be taken. CLOSED: neither.
    """

    OPEN = "open"
    QUIESCED = "quiesced"
    CLOSED = "closed"


class Mail(Protocol):
    """Work for the task that owns the mailbox, as the taker sees it."""

    @property
    def priority(self) -> int:
        """Priority with which it was sent, deferrable or not."""
        ...

    @property
    def description(self) -> str:
        """Description by its sender."""
        ...

    @property
    def run(self) -> Callable[[], object]:
        """Function that does the work."""
        ...


class Mailbox(Protocol):
    """Mails that were sent and not taken: a queue that any thread fills, and the owner's batch.

    A taker of priority p sees the mails that were sent with priority p or higher; it sees
    deferrable mails only if p is `MAIN`. It takes the visible urgent mails first, then the batch,
    then the queue, each in the order in which the mails were sent.
    """

    @property
    def has_mail(self) -> bool:
        """Whether any mail waits, visible or not; it takes no lock (FLINK-14747)."""
        ...

    def create_batch(self) -> bool:
        """Move all mails of the queue to the batch; return whether a mail can be taken.

        Urgent mails can be taken, and all mails in the batch, whether added now or before.
        """
        ...

    def try_take_from_batch(self) -> Mail | None:
        """Take the first urgent mail, or else the first of the batch; None without a mail."""
        ...

    def try_take(self, priority: int) -> Mail | None:
        """Take the first mail that this priority sees; None without a mail."""
        ...

    async def take(self, priority: int) -> Mail:
        """Wait for a mail that this priority sees, and take it. A cancelled wait takes no mail.

        Raises:
            MailboxClosedError: the mailbox is closed, or was closed meanwhile.
        """
        ...

    def quiesce(self) -> None:
        """Refuse new mails from now on."""
        ...

    def close(self) -> Sequence[Mail]:
        """Refuse all mails from now on; cancel the futures of the remaining mails, and return them.

        A second call does nothing.
        """
        ...

    def drain(self) -> Sequence[Mail]:
        """Take all mails: the urgent mails, then the batch, then the queue."""
        ...

    def run_exclusively(self, function: Callable[[], T]) -> T:
        """Run `function` and return its result; meanwhile no other thread puts or closes."""
        ...


class Executor(Protocol):
    """Access of one part of a program to the mailbox, filtered by its priority."""

    def execute(
        self,
        run: Callable[[], object],
        *,
        urgent: bool = False,
        deferrable: bool = False,
        description: str = "",
    ) -> None:
        """Send a mail.

        Args:
            run: function that does the work; it can't await.
            urgent: whether it precedes all mails that are not urgent. The same takers see it.
            deferrable: can wait until the main loop runs it; no taker above `MAIN` sees it.
            description: description of the mail.

        Raises:
            MailboxClosedError: the mailbox is not open.
        """
        ...

    def submit(
        self,
        run: Callable[[], T],
        *,
        urgent: bool = False,
        deferrable: bool = False,
        description: str = "",
    ) -> Future[T]:
        """Send a mail; return the future of its result or error. See `execute`.

        Only the future has the error.
        """
        ...

    async def run_one(self) -> None:
        """Wait for a mail that this priority sees, and run it (Flink's yield)."""
        ...

    def try_run_one(self, *, with_deferred: bool = False) -> bool:
        """Run a mail that this priority sees; return whether there was a mail (Flink's tryYield).

        Args:
            with_deferred: whether to run deferrable mails, too: for a part that finishes, and must
                leave no mail of its own behind.
        """
        ...


class Suspension(Protocol):
    """A default action that is suspended."""

    def resume(self) -> None:
        """Let the default action run again. For any thread; a second call does nothing."""
        ...


class Controller(Protocol):
    """Argument of a default action, by which the action steers its loop."""

    def suspend_default_action(self) -> Suspension:
        """Stop running the default action until it is resumed. For the owner's thread.

        Raises:
            RuntimeError: it is suspended already.
        """
        ...

    def all_actions_completed(self) -> None:
        """End the loop for good. For any thread; if the mailbox is not open, nothing happens."""
        ...


DefaultAction: TypeAlias = Callable[[Controller], object]
"""Work of a loop between the mails; it never waits."""


class Processor(Controller, Protocol):
    """The loop: runs the waiting mails, then the default action once, and so on."""

    @property
    def mailbox(self) -> Mailbox:
        """Mailbox of the loop."""
        ...

    def executor(self, priority: int) -> Executor:
        """Return access to the mailbox for a part with this priority."""
        ...

    async def run(self) -> None:
        """Run the loop until `suspend` or `all_actions_completed` stops it.

        Each round runs all waiting mails; while the default action is suspended, one mail after
        the other; then the default action once. Errors of a mail or the action are raised here.
        Other tasks of the loop run in each round.

        Raises:
            MailboxClosedError: the mailbox is not open.
        """
        ...

    def suspend(self) -> None:
        """End this run of the loop; `run` continues from there. For any thread."""
        ...


OpenProcessor: TypeAlias = Callable[[Loop, DefaultAction], Processor]
"""Opens a mailbox and its loop for the task that calls it."""
