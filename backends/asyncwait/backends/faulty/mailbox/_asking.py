"""MBX-28 to MBX-32, MBX-44, MBX-63: wrong answers, and none."""

from asyncwait.backends.faulty.mailbox._gallery import breaks
from asyncwait.reference import MailboxExecutor, MailboxProcessor, MailboxState, TaskMailbox
from asyncwait.spec.mailbox import MailboxClosedError, MailboxMetrics


@breaks("MBX-28")
class CountsTheQueueOnly(TaskMailbox):
    """Forgets what is in the batch when it counts."""

    def __len__(self) -> int:
        return len(self._urgent) + len(self._queue)


@breaks("MBX-29")
class DeniesTheBatch(TaskMailbox):
    """Says that there is no mail when all of it is in the batch."""

    @property
    def has_mail(self) -> bool:
        return bool(self._urgent or self._queue)


@breaks("MBX-30")
class MakesWayForItsOwnOnly(MailboxExecutor):
    """Goes on with long work unless there is a mail of its own."""

    def should_interrupt(self) -> bool:
        waiting = (*self._mailbox._urgent, *self._mailbox._batch, *self._mailbox._queue)  # noqa: SLF001 - no one else tells
        return any(mail.is_visible_to(self._priority) for mail in waiting)


@breaks("MBX-31")
class AsksUnderTheLock(TaskMailbox):
    """Takes the lock to say whether there is mail: FLINK-14747."""

    @property
    def has_mail(self) -> bool:
        with self._lock:
            return super().has_mail


@breaks("MBX-32")
class IsIdleWhileItsActionRuns(MailboxExecutor):
    """Says that it is idle although its action could run any time."""

    def is_idle(self) -> bool:
        return self._mailbox.state is MailboxState.OPEN and not self._mailbox.has_mail


@breaks("MBX-32")
class IsIdleInTheEnd(MailboxExecutor):
    """Says that it is idle although no mail can come any more."""

    def is_idle(self) -> bool:
        return self._is_suspended() and not self._mailbox.has_mail


@breaks("MBX-44")
class ClaimsToHaveRunOne(MailboxExecutor):
    """Says that it has run a mail because there was one, seen or unseen."""

    def try_run_one(self, *, with_deferred: bool = False) -> bool:
        had = self._mailbox.has_mail
        super().try_run_one(with_deferred=with_deferred)
        return had


@breaks("MBX-63")
class ComparesToTheFirstMail(MailboxProcessor):
    """Works out how many mails there are for each that was run, and none was."""

    def metrics(self) -> MailboxMetrics:
        figures = super().metrics()
        assert figures.queued / figures.mails >= 0
        return figures


@breaks("MBX-63")
class CountsNothingInTheEnd(TaskMailbox):
    """Refuses to count what is in a mailbox that is closed."""

    def __len__(self) -> int:
        if self._state is MailboxState.CLOSED:
            raise MailboxClosedError("the mailbox is closed")
        return super().__len__()


@breaks("MBX-63")
class EndsItsProcess(TaskMailbox):
    """Takes an empty batch for the end of the program."""

    def create_batch(self) -> bool:
        if not self.has_mail:
            raise SystemExit(0)
        return super().create_batch()
