"""The executor: access of one part of the operator to the mailbox."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from asyncwait.reference._mailbox import Mail, TaskMailbox
from asyncwait.spec.mailbox import MAIN, Description, MailboxState
from asyncwait.toolkit import reraise_fatal

T = TypeVar("T")


class MailboxExecutor:
    """Access to the mailbox, filtered by a priority.

    Args:
        mailbox: mailbox to send mails to, and to run mails from.
        priority: priority of the mails sent, and the lowest priority of the mails run.
        is_suspended: returns whether the default action of the mailbox's loop is suspended; True
            without such a loop.

    Raises:
        ValueError: the priority is below `MAIN`, the priority of the main loop, which has to see
            every mail.
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
        """Send a mail that calls `run`. For any thread.

        Args:
            run: function that does the work; it can't await.
            urgent: whether it precedes all mails that are not urgent.
            deferrable: whether only the main loop runs it.
            description: description of the mail, or a function that returns it.

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
        """Send a mail that calls `run`, and return the future of its result. See `execute`.

        Only the future has the error of `run` (Flink's MB-17).

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
        """Wait for one visible mail and run it; raise its error (Flink's yield)."""
        mail = await self._mailbox.take(self._priority)
        mail.run()

    def try_run_one(self, *, with_deferred: bool = False) -> bool:
        """Run one visible mail; return whether a mail was visible (Flink's tryYield).

        Args:
            with_deferred: whether to run deferrable mails, too. A part that finishes needs this, or
                its own mails run too late (FLINK-39481).
        """
        mail = self._mailbox.try_take(self._priority, with_deferred=with_deferred)
        if mail is None:
            return False
        mail.run()
        return True

    def should_interrupt(self) -> bool:
        """Return whether a long computation should make way for a mail (Flink's MB-22)."""
        return self._mailbox.has_mail

    def is_idle(self) -> bool:
        """Return whether nothing happens until a mail arrives (Flink's MB-21)."""
        is_open = self._mailbox.state is MailboxState.OPEN
        return is_open and not self._mailbox.has_mail and self._is_suspended()


def _complete(future: Future[T], run: Callable[[], T]) -> None:
    try:
        result = run()
    except BaseException as error:
        future.set_exception(error)
        reraise_fatal(error)
    else:
        future.set_result(result)
