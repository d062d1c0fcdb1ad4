"""The contract of the task mailbox, and the loop that it and an operator run on.

A mailbox belongs to the task that opened it, and to that task's thread. From any thread: what
sends (`execute`, `submit`), what steers the loop (`suspend`, `all_actions_completed`,
`report_error`, a suspension's `resume`) and `run_exclusively`. Everything else is for the owner's
thread alone.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
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
        time: its clock, in seconds, and the only one that an operator knows; for any thread.
        call_soon_threadsafe: runs a function on the loop soon; for any thread.
        call_at: runs a function at a time of the clock; None on trio, where only tasks sleep.
    """

    time: Callable[[], float]
    call_soon_threadsafe: Callable[[Callable[[], object]], Any]
    call_at: CallAt | None

    def call_from_thread(self, function: Callable[[], object]) -> None:
        """Run `function` on the loop soon, or never if the loop is closed."""
        with suppress(RuntimeError):  # what a closed asyncio loop raises; trio's is a kind of it
            self.call_soon_threadsafe(function)


T = TypeVar("T")

MAIN = -1
"""The lowest priority, that of the main loop: what brings new work has it (Flink's MB-11)."""

HIGHEST = 2**31 - 1
"""The highest priority: who takes with it sees only what concerns everybody (Flink's MB-11)."""

Description: TypeAlias = str | Callable[[], str]
"""What a mail is about; a function is called when somebody asks, and not before (Flink's MB-3)."""


class MailboxClosedError(AsyncWaitError, RuntimeError):
    """A mail was put or taken, and the mailbox no longer allows it."""


class MailboxState(Enum):
    """What a mailbox allows; it goes from each to the next, and never back (Flink's MB-7).

    OPEN: mails come and go. QUIESCED: they only go. CLOSED: neither.
    """

    OPEN = "open"
    QUIESCED = "quiesced"
    CLOSED = "closed"


class MailboxMetrics(Struct, frozen=True):
    """Figures of a processor.

    Args:
        mails: number of mails that its loop has run.
        queued: number of mails that wait now.
    """

    mails: int
    queued: int


class Mail(Protocol):
    """Something to do for the task that owns the mailbox, as the one who takes it sees it."""

    @property
    def priority(self) -> int:
        """The one it was sent with, whether it can be deferred or not."""
        ...

    @property
    def description(self) -> str:
        """What its sender said of it; worked out when asked for."""
        ...

    @property
    def run(self) -> Callable[[], object]:
        """Does it."""
        ...


class Mailbox(Protocol):
    """What was sent and not taken: a queue that any thread fills, and a batch of the owner's.

    A taker of priority p sees the mails that were sent with p or more, and of those that can be
    deferred none unless p is `MAIN`. Of what it sees it gets the urgent ones first, then the batch,
    then the queue, each in the order in which they were sent.
    """

    @property
    def state(self) -> MailboxState:
        """What it allows now."""
        ...

    @property
    def has_mail(self) -> bool:
        """Whether anything waits, seen or unseen; it takes no lock (FLINK-14747)."""
        ...

    def __len__(self) -> int:
        """Return how many wait, in batch and queue."""
        ...

    def create_batch(self) -> bool:
        """Add all that waits in the queue to the batch; say whether there is anything to take.

        That is what is urgent, and what is in the batch, whether it was added now or before.
        """
        ...

    def try_take_from_batch(self) -> Mail | None:
        """Take the first urgent mail, or else the first of the batch; None if there is none."""
        ...

    def try_take(self, priority: int) -> Mail | None:
        """Take the first mail that this priority sees; None if there is none."""
        ...

    async def take(self, priority: int) -> Mail:
        """Take the first mail that this priority sees; wait for one. A cancelled wait takes none.

        Raises:
            MailboxClosedError: the mailbox is closed, or was closed meanwhile.
        """
        ...

    def quiesce(self) -> None:
        """Refuse what is sent from now on."""
        ...

    def close(self) -> Sequence[Mail]:
        """Refuse everything from now on; cancel the futures of what nobody took, and return that.

        Again it does nothing.
        """
        ...

    def drain(self) -> Sequence[Mail]:
        """Take everything: what is urgent, then the batch, then the queue."""
        ...

    def run_exclusively(self, function: Callable[[], T]) -> T:
        """Return what `function` returns; until then no other thread puts or closes."""
        ...


class Executor(Protocol):
    """The mailbox as one part of a program sees it: through the filter of its priority."""

    def execute(
        self,
        run: Callable[[], object],
        *,
        urgent: bool = False,
        deferrable: bool = False,
        description: Description = "",
    ) -> None:
        """Send a mail.

        Args:
            run: does it; it can't await.
            urgent: goes ahead of all that is not urgent. It is seen by nobody else than before.
            deferrable: can wait until the main loop runs it; no taker above `MAIN` sees it.
            description: what it is about.

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
        description: Description = "",
    ) -> Future[T]:
        """Send a mail; return the future of what it returns or raises. See `execute`.

        An error is in the future and nowhere else. A mail whose future was cancelled does nothing.
        """
        ...

    async def run_one(self) -> None:
        """Wait for a mail that this priority sees, and run it (Flink's yield)."""
        ...

    def try_run_one(self, *, with_deferred: bool = False) -> bool:
        """Run a mail that this priority sees, and say whether there was one (Flink's tryYield).

        Args:
            with_deferred: as if none could be deferred: for who finishes, and must leave nothing
                of its own behind.
        """
        ...

    def should_interrupt(self) -> bool:
        """Whether a long computation should make way: there is a mail."""
        ...

    def is_idle(self) -> bool:
        """Whether nothing happens unless a mail comes: none waits, and one could still come.

        The default action is suspended, then.
        """
        ...


class Suspension(Protocol):
    """A default action that is suspended."""

    def resume(self) -> None:
        """Let it run again. For any thread; if it did already, nothing happens."""
        ...


class Controller(Protocol):
    """What a default action is given to steer its loop."""

    def suspend_default_action(self) -> Suspension:
        """Have the default action not run until it is resumed. For the owner's thread.

        Raises:
            RuntimeError: it is suspended already.
        """
        ...

    def all_actions_completed(self) -> None:
        """End the loop for good. For any thread; if the mailbox is not open, nothing happens."""
        ...


DefaultAction: TypeAlias = Callable[[Controller], Awaitable[object] | None]
"""What a loop does when there is no mail: a plain or a coroutine function."""


class Processor(Controller, Protocol):
    """The loop: runs the mails that are there, then the default action once, and so on."""

    @property
    def mailbox(self) -> Mailbox:
        """Its mails."""
        ...

    def executor(self, priority: int) -> Executor:
        """Return the mailbox as a part of this priority sees it."""
        ...

    async def run(self) -> None:
        """Run the loop until it is told to stop.

        Each round: all mails that are there; while the default action is suspended, one mail after
        the other; the default action once. What a mail or the action raises is raised here. Other
        tasks get their turn in each round.

        Raises:
            MailboxClosedError: the mailbox is not open.
        """
        ...

    def suspend(self) -> None:
        """End this run of the loop; `run` goes on where it ended. For any thread."""
        ...

    def report_error(self, error: BaseException) -> None:
        """Have the loop raise `error`, ahead of what waits. For any thread.

        Raises:
            MailboxClosedError: the mailbox is not open.
        """
        ...

    def prepare_close(self) -> None:
        """Quiesce the mailbox."""
        ...

    def drain(self) -> None:
        """Run the mails that are there, once; what one raises is raised, and the others stay."""
        ...

    def close(self) -> None:
        """Close the mailbox, and cancel the futures of the mails that nobody took."""
        ...

    def metrics(self) -> MailboxMetrics:
        """Return the present figures."""
        ...


OpenProcessor: TypeAlias = Callable[[Loop, DefaultAction], Processor]
"""Opens a mailbox and its loop for the task that calls it."""
