"""The executor: the mailbox as one part of the operator sees it."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from asyncwait.reference._mailbox import Mail, TaskMailbox
from asyncwait.spec.mailbox import MAIN, Description, MailboxState
from asyncwait.toolkit import reraise_fatal

T = TypeVar("T")


class MailboxExecutor:
    """The mailbox through the filter of a priority.

    Args:
        mailbox: whose mails to send and to run.
        priority: of the mails sent, and the lowest one of the mails run.
        is_suspended: says whether the default action of the mailbox's loop is suspended; left out
            if there is no such loop.

    Raises:
        ValueError: the priority is below that of the main loop, which has to see every mail.
    """

    def __init__(
        self,
        mailbox: TaskMailbox,
        priority: int,
        is_suspended: Callable[[], bool] = lambda: True,
    ) -> None:
        if priority < MAIN:
            raise ValueError(f"priority must be {MAIN} (MAIN) or more, got {priority!r}")
        self._mailbox = mailbox
        self._priority = priority
        self._is_suspended = is_suspended

    def execute(
        self,
        run: Callable[[], object],
        *,
        urgent: bool = False,
        deferrable: bool = False,
        description: Description = "",
    ) -> None:
        """Have `run` run as a mail. For any thread.

        Args:
            run: does it; it can't await.
            urgent: ahead of all mails that are not urgent.
            deferrable: only by the main loop.
            description: what it is about, or a function that says so.

        Raises:
            MailboxClosedError: the mailbox is not open.
        """
        self._mailbox.put(Mail(run, self._priority, urgent, deferrable, description))

    def submit(
        self,
        run: Callable[[], T],
        *,
        urgent: bool = False,
        deferrable: bool = False,
        description: Description = "",
    ) -> Future[T]:
        """Have `run` run as a mail, and return the future of what it returns. See `execute`.

        What it raises is in the future and nowhere else (Flink's MB-17).

        Raises:
            MailboxClosedError: the mailbox is not open.
        """
        future: Future[T] = Future()

        def complete() -> None:
            if future.set_running_or_notify_cancel():
                _complete(future, run)

        self._mailbox.put(Mail(complete, self._priority, urgent, deferrable, description, future))
        return future

    async def run_one(self) -> None:
        """Wait for one visible mail and run it; what it raises is raised here (Flink's yield)."""
        mail = await self._mailbox.take(self._priority)
        mail.run()

    def try_run_one(self, *, with_deferred: bool = False) -> bool:
        """Run one visible mail, if there is one, and say whether there was (Flink's tryYield).

        Args:
            with_deferred: also one that could wait for the main loop. Who finishes needs that, or
                its own mails come too late (FLINK-39481).
        """
        mail = self._mailbox.try_take(self._priority, with_deferred=with_deferred)
        if mail is None:
            return False
        mail.run()
        return True

    def should_interrupt(self) -> bool:
        """Whether a long computation should make way for a mail (Flink's MB-22)."""
        return self._mailbox.has_mail

    def is_idle(self) -> bool:
        """Whether nothing happens unless somebody sends a mail, and he can (Flink's MB-21)."""
        is_open = self._mailbox.state is MailboxState.OPEN
        return is_open and not self._mailbox.has_mail and self._is_suspended()


def _complete(future: Future[T], run: Callable[[], T]) -> None:
    """Let `future` have what `run` returns, or raises."""
    try:
        result = run()
    except BaseException as error:
        future.set_exception(error)
        reraise_fatal(error)
    else:
        future.set_result(result)
