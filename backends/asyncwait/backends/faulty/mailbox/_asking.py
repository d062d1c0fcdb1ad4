"""MBX-28 to MBX-32, MBX-44, MBX-63: mailboxes with wrong answers, or none."""

from asyncwait.backends.faulty.mailbox._gallery import breaks
from asyncwait.reference import MailboxExecutor, MailboxProcessor, MailboxState, TaskMailbox
from asyncwait.spec.mailbox import MailboxClosedError, MailboxMetrics


@breaks("MBX-28")
class CountsTheQueueOnly(TaskMailbox):
    """Does not count the mails of the batch."""

    def __len__(self) -> int:
        return len(self._urgent) + len(self._queue)


@breaks("MBX-29")
class DeniesTheBatch(TaskMailbox):
    """Reports no mail if all mails are in the batch."""

    @property
    def has_mail(self) -> bool:
        return bool(self._urgent or self._queue)


@breaks("MBX-30")
class MakesWayForItsOwnOnly(MailboxExecutor):
    """Interrupts long work only for mails of its own priority."""

    def should_interrupt(self) -> bool:
        waiting = (*self._mailbox._urgent, *self._mailbox._batch, *self._mailbox._queue)  # noqa: SLF001 - no one else tells
        return any(mail.is_visible_to(self._priority) for mail in waiting)


@breaks("MBX-31")
class AsksUnderTheLock(TaskMailbox):
    """Takes the lock to report whether a mail waits: FLINK-14747."""

    @property
    def has_mail(self) -> bool:
        with self._lock:
            return super().has_mail


@breaks("MBX-32")
class IsIdleWhileItsActionRuns(MailboxExecutor):
    """Reports that it is idle although its action is not suspended."""

    def is_idle(self) -> bool:
        return self._mailbox.state is MailboxState.OPEN and not self._mailbox.has_mail


@breaks("MBX-32")
class IsIdleInTheEnd(MailboxExecutor):
    """Reports that it is idle although its mailbox has closed."""

    def is_idle(self) -> bool:
        return self._is_suspended() and not self._mailbox.has_mail


@breaks("MBX-44")
class ClaimsToHaveRunOne(MailboxExecutor):
    """Reports that it has run a mail if one waited, even if it could not see that mail."""

    def try_run_one(self, *, with_deferred: bool = False) -> bool:
        had = self._mailbox.has_mail
        super().try_run_one(with_deferred=with_deferred)
        return had


@breaks("MBX-63")
class ComparesToTheFirstMail(MailboxProcessor):
    """Divides by the number of mails that were run, which may be zero."""

    def metrics(self) -> MailboxMetrics:
        figures = super().metrics()
        assert figures.queued / figures.mails >= 0
        return figures


@breaks("MBX-63")
class CountsNothingInTheEnd(TaskMailbox):
    """Refuses to count the mails of a closed mailbox."""

    def __len__(self) -> int:
        if self._state is MailboxState.CLOSED:
            raise MailboxClosedError("the mailbox is closed")
        return super().__len__()


@breaks("MBX-63")
class EndsItsProcess(TaskMailbox):
    """Exits the program if its batch is empty."""

    def create_batch(self) -> bool:
        if not self.has_mail:
            raise SystemExit(0)
        return super().create_batch()
