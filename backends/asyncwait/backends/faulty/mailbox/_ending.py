"""MBX-33 to MBX-46: mailboxes that end wrongly, and futures with wrong outcomes."""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from asyncwait.backends.faulty.mailbox._gallery import breaks
from asyncwait.reference import Mail, MailboxExecutor, MailboxState, TaskMailbox
from asyncwait.spec.mailbox import MailboxClosedError

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


@breaks("MBX-36")
class QuiescesWhatIsClosed(TaskMailbox):
    """Becomes quiesced again if its owner quiesces it after it has closed."""

    def quiesce(self) -> None:
        self._state = MailboxState.QUIESCED


@breaks("MBX-37")
class ForgetsTheBatchInTheEnd(TaskMailbox):
    """Drops the rest of the batch when it closes."""

    def close(self) -> list[Mail]:
        self._batch.clear()
        return super().close()


@breaks("MBX-38")
class ClosesOnce(TaskMailbox):
    """Raises if it is closed twice."""

    def close(self) -> list[Mail]:
        if self._state is MailboxState.CLOSED:
            raise MailboxClosedError("the mailbox is closed")
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


@breaks("MBX-42")
class KeepsWhatASectionGives(TaskMailbox):
    """Drops the return value of an exclusive section."""

    def run_exclusively(self, function: Callable[[], T]) -> T:
        super().run_exclusively(function)
        return None  # type: ignore[return-value]


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


@breaks("MBX-43")
class LosesTheErrorOfASubmittedMail(MailboxExecutor):
    """Never completes the future of a submitted mail that raises."""

    def submit(self, run: Callable[[], T], **options: Any) -> Future[T]:
        future: Future[T] = Future()

        def complete() -> None:
            with suppress(Exception):
                future.set_result(run())

        super().execute(complete, **options)
        return future


@breaks("MBX-45")
class RunsWhatNobodyWants(MailboxExecutor):
    """Runs a submitted mail before it checks whether the future was cancelled."""

    def submit(self, run: Callable[[], T], **options: Any) -> Future[T]:
        future: Future[T] = Future()

        def complete() -> None:
            try:
                result = run()
            except Exception as error:
                if future.set_running_or_notify_cancel():
                    future.set_exception(error)
            else:
                if future.set_running_or_notify_cancel():
                    future.set_result(result)

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


@breaks("MBX-46")
class WrapsErrors(MailboxExecutor):
    """Raises its own error in place of a mail's error."""

    async def run_one(self) -> None:
        try:
            await super().run_one()
        except MailboxClosedError:
            raise
        except Exception as error:
            raise ValueError("a mail failed") from error
