"""Mailboxes with wrong answers, wrong ends, and futures with wrong outcomes."""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from asyncwait.backends.faulty.mailbox._gallery import breaks
from asyncwait.reference import Mail, MailboxExecutor, MailboxState, TaskMailbox
from asyncwait.spec.mailbox import MailboxClosedError


@breaks("MBX-29")
class DeniesTheBatch(TaskMailbox):
    """Reports no mail if all mails are in the batch."""

    @property
    def has_mail(self) -> bool:
        return bool(self._urgent or self._queue)


@breaks("MBX-31")
class AsksUnderTheLock(TaskMailbox):
    """Takes the lock to report whether a mail waits: FLINK-14747."""

    @property
    def has_mail(self) -> bool:
        with self._lock:
            return super().has_mail


@breaks("MBX-44")
class ClaimsToHaveRunOne(MailboxExecutor):
    """Reports that it has run a mail if one waited, even if it could not see that mail."""

    def try_run_one(self, *, with_deferred: bool = False) -> bool:
        had = self._mailbox.has_mail
        super().try_run_one(with_deferred=with_deferred)
        return had


@breaks("MBX-63")
class AnswersNothingInTheEnd(TaskMailbox):
    """Refuses to say whether a closed mailbox has mail."""

    @property
    def has_mail(self) -> bool:
        if self._state is MailboxState.CLOSED:
            raise MailboxClosedError("the mailbox is closed")
        return super().has_mail


T = TypeVar("T")


@breaks("MBX-33")
class TakesInWhatNobodyWillRun(TaskMailbox):
    """Accepts mails silently when it is no longer open."""

    def put(self, mail: Mail) -> None:
        with suppress(MailboxClosedError):
            super().put(mail)


@breaks("MBX-34")
class GivesNothingOnceQuiesced(TaskMailbox):
    """Refuses takers as soon as it is quiesced."""

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        if self._state is not MailboxState.OPEN:
            raise MailboxClosedError(f"the mailbox is {self._state.value}")
        return super().try_take(priority, with_deferred=with_deferred)


@breaks("MBX-35")
class IsSilentlyClosed(TaskMailbox):
    """Reports no mail instead of an error when it is closed."""

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        if self._state is MailboxState.CLOSED:
            return None
        return super().try_take(priority, with_deferred=with_deferred)


@breaks("MBX-37")
class ForgetsTheBatchInTheEnd(TaskMailbox):
    """Drops the rest of the batch when it closes."""

    def close(self) -> list[Mail]:
        self._batch.clear()
        return super().close()


@breaks("MBX-39")
class LeavesFuturesPending(TaskMailbox):
    """Returns the remaining mails when it closes, without cancelling their futures."""

    def close(self) -> list[Mail]:
        left = self.drain()
        super().close()
        return left


@breaks("MBX-40")
class DrainsTheQueueOnly(TaskMailbox):
    """Does not drain the mails of the batch."""

    def drain(self) -> list[Mail]:
        batch, self._batch = self._batch, type(self._batch)()
        mails = super().drain()
        self._batch = batch
        return mails


@breaks("MBX-41")
class LetsOthersIntoASection(TaskMailbox):
    """Runs an exclusive section without the lock."""

    def run_exclusively(self, function: Callable[[], T]) -> T:
        return function()


@breaks("MBX-43")
class RaisesWhatIsInTheFuture(MailboxExecutor):
    """Raises the error of a submitted mail in the loop as well as in its future."""

    def submit(self, run: Callable[[], T], **options: Any) -> Future[T]:
        future: Future[T] = Future()

        def complete() -> None:
            try:
                future.set_result(run())
            except Exception as error:
                future.set_exception(error)
                raise

        super().execute(complete, **options)
        return future


@breaks("MBX-46")
class SwallowsErrors(MailboxExecutor):
    """Drops the error of a mail."""

    def try_run_one(self, *, with_deferred: bool = False) -> bool:
        try:
            return super().try_run_one(with_deferred=with_deferred)
        except Exception:  # any error: that is the fault
            return True
