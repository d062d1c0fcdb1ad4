"""Faulty mailboxes: each breaks one rule of MBX, which convicts it by name."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import anyio
from anyio.lowlevel import checkpoint
from msgspec.structs import replace

from asyncwait.backends.faulty._gallery import Slip, into
from asyncwait.reference import (
    MAIN,
    Mail,
    MailboxExecutor,
    MailboxProcessor,
    MailboxState,
    Suspension,
    TaskMailbox,
)
from asyncwait.spec.exports import claim_exports
from asyncwait.spec.mailbox import (
    HIGHEST,
    Controller,
    DefaultAction,
    Loop,
    MailboxClosedError,
    OpenProcessor,
    Processor,
)
from asyncwait.spec.rules import mailbox_rules


class FaultyMailbox(Slip, frozen=True, kw_only=True):
    """A sound mailbox with one small change: to the reference's mailbox, executor or processor."""

    @property
    def open_processor(self) -> OpenProcessor:
        """The function that opens the changed mailbox."""
        return processor_with(self.change)


FOUND: list[FaultyMailbox] = []
"""Every faulty mailbox registered so far."""

breaks = into(FOUND, FaultyMailbox)


def processor_with(change: type) -> OpenProcessor:
    """Return a function that opens a processor with `change` in place of its base.

    Args:
        change: a processor, an executor, or else a mailbox.
    """

    def open_processor(loop: Loop, default_action: DefaultAction) -> Processor:
        if issubclass(change, MailboxProcessor):
            return change(loop, default_action)
        if issubclass(change, MailboxExecutor):
            changed = type(change.__name__, (MailboxProcessor,), {"executor_class": change})
            processor: Processor = changed(loop, default_action)
            return processor
        return MailboxProcessor(loop, default_action, cast("type[TaskMailbox]", change)(loop))

    return open_processor


@breaks("MBX-1")
class DrainsAndKeeps(TaskMailbox):
    """Returns copies of its queues when drained, without emptying them."""

    def drain(self) -> list[Mail]:
        mails = super().drain()
        self._queue.extend(mails)
        return mails


@breaks("MBX-2")
class LosesWhatItPassesOver(TaskMailbox):
    """Drops the mails that it passes over while it looks for a visible mail."""

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        while (mail := super().try_take(MAIN)) is not None:
            if mail.is_visible_to(priority, with_deferred=with_deferred):
                return mail
        return None


@breaks("MBX-3")
class IsBounded(TaskMailbox):
    """Refuses mails when ten of them wait."""

    def put(self, mail: Mail) -> None:
        if len(self) >= 10:  # noqa: PLR2004 - as many as any bound
            raise MailboxClosedError("the mailbox is full")
        super().put(mail)


@breaks("MBX-4")
class TakesTheLastFirst(TaskMailbox):
    """Puts each mail before the others, like a stack."""

    def put(self, mail: Mail) -> None:
        with self._lock:
            super().put(mail)
            self._queue.rotate(not mail.urgent)


@breaks("MBX-5")
class OrdersByPriority(TaskMailbox):
    """Sorts mails by priority."""

    def put(self, mail: Mail) -> None:
        with self._lock:
            super().put(mail)
            ordered = sorted(self._queue, key=lambda each: -each.priority)
            self._queue.clear()
            self._queue.extend(ordered)


@breaks("MBX-6")
class KnowsNoPriority(TaskMailbox):
    """Gives every taker the first mail, whatever the priority."""

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:  # noqa: ARG002 - that is the fault
        return super().try_take(MAIN)


@breaks("MBX-7")
class LooksAtTheFirstOnly(TaskMailbox):
    """Gives no mail if the first mail is not visible to the taker."""

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        for mails in (self._urgent, self._batch, self._queue):
            if mails and not mails[0].is_visible_to(priority, with_deferred=with_deferred):
                return None
            if mails:
                break
        return super().try_take(priority, with_deferred=with_deferred)


@breaks("MBX-8")
class StirsTheQueue(TaskMailbox):
    """Moves invisible mails to the end of the queue while it looks for a visible mail."""

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        for _ in range(len(self._queue)):
            if self._queue[0].is_visible_to(priority, with_deferred=with_deferred):
                break
            self._queue.rotate(-1)
        return super().try_take(priority, with_deferred=with_deferred)


@breaks("MBX-9")
class FilesWhatItRefuses(TaskMailbox):
    """Queues a mail before it checks whether it is open."""

    def put(self, mail: Mail) -> None:
        if self._state is not MailboxState.OPEN:
            self._queue.append(mail)
        super().put(mail)


@breaks("MBX-10")
class RunsItsOwnersMailsAtOnce(MailboxExecutor):
    """Runs a mail at once if its owner's thread sends it, to save a step."""

    def execute(self, run: Callable[[], object], **options: Any) -> None:
        if threading.current_thread() is threading.main_thread() and not options.get("urgent"):
            run()
        else:
            super().execute(run, **options)


@breaks("MBX-11")
class SleepsThroughMailsOfThreads(TaskMailbox):
    """Queues a mail of another thread without waking a task."""

    def __init__(self, loop: Loop) -> None:
        super().__init__(Loop(loop.time, lambda _: None, loop.call_at))


@breaks("MBX-12")
class LetsAnybodyTake(TaskMailbox):
    """Lets any thread take mails."""

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        owner, self._thread = self._thread, threading.get_ident()
        try:
            return super().try_take(priority, with_deferred=with_deferred)
        finally:
            self._thread = owner


@breaks("MBX-13")
class LosesAMailWhenCancelled(TaskMailbox):
    """Yields to other tasks between taking a mail and returning it."""

    async def take(self, priority: int) -> Mail:
        mail = await super().take(priority)
        await checkpoint()
        return mail


@breaks("MBX-62")
class PollsWithoutAPause(TaskMailbox):
    """Looks for a mail again and again without waiting."""

    async def take(self, priority: int) -> Mail:
        while (mail := self.try_take(priority)) is None:
            await checkpoint()
        return mail


@breaks("MBX-62")
class LooksNowAndThen(TaskMailbox):
    """Looks for a mail every minute."""

    async def take(self, priority: int) -> Mail:
        while (mail := self.try_take(priority)) is None:  # noqa: ASYNC110 - that is the fault
            await anyio.sleep(60)
        return mail


@breaks("MBX-15")
class MakesShortBatches(TaskMailbox):
    """Moves only one mail into each batch."""

    def create_batch(self) -> bool:
        with self._lock:
            if self._queue:
                self._batch.append(self._queue.popleft())
        return bool(self._urgent or self._batch)


@breaks("MBX-16")
class TakesTheNewWithTheBatch(TaskMailbox):
    """Takes mails from the queue when the batch is empty: FLINK-14304."""

    def try_take_from_batch(self) -> Mail | None:
        return self.try_take(MAIN)


@breaks("MBX-17")
class LooksIntoTheQueueFirst(TaskMailbox):
    """Takes mails from the queue before those of the batch."""

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        batch, self._batch = self._batch, type(self._batch)()
        try:
            mail = super().try_take(priority, with_deferred=with_deferred)
        finally:
            self._batch = batch
        return mail or super().try_take(priority, with_deferred=with_deferred)


@breaks("MBX-19")
class KnowsNoUrgency(TaskMailbox):
    """Treats urgent mails like other mails."""

    def put(self, mail: Mail) -> None:
        super().put(replace(mail, urgent=False))


@breaks("MBX-20")
class LetsTheUrgentWaitForTheBatch(TaskMailbox):
    """Takes urgent mails only when the batch is empty: FLINK-35051."""

    def try_take_from_batch(self) -> Mail | None:
        return self._batch.popleft() if self._batch else super().try_take_from_batch()


@breaks("MBX-21")
class TakesTheLastUrgentFirst(TaskMailbox):
    """Puts each urgent mail before all others, as Flink did until 2.1."""

    def put(self, mail: Mail) -> None:
        with self._lock:
            super().put(mail)
            self._urgent.rotate(mail.urgent)


@breaks("MBX-22")
class ShowsTheUrgentToAll(TaskMailbox):
    """Gives urgent mails the highest priority."""

    def put(self, mail: Mail) -> None:
        super().put(replace(mail, priority=HIGHEST) if mail.urgent else mail)


@breaks("MBX-23")
class LetsTheUrgentKeepOthersOut(TaskMailbox):
    """Makes no batch while an urgent mail waits: FLINK-39898."""

    def create_batch(self) -> bool:
        return True if self._urgent else super().create_batch()


@breaks("MBX-24")
class KnowsNoDeferring(TaskMailbox):
    """Treats deferrable mails like other mails."""

    def put(self, mail: Mail) -> None:
        super().put(replace(mail, deferrable=False))


@breaks("MBX-26")
class FinishesWithoutTheDeferred(MailboxExecutor):
    """Does not run the deferred mails at the end: FLINK-39481."""

    def try_run_one(self, *, with_deferred: bool = False) -> bool:  # noqa: ARG002 - that is the fault
        return super().try_run_one()


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


@breaks("MBX-47")
class RefillsItsBatch(TaskMailbox):
    """Makes a new batch when one is empty, until no mail waits: FLINK-14304."""

    def try_take_from_batch(self) -> Mail | None:
        self.create_batch()
        return super().try_take_from_batch()


@breaks("MBX-48")
class RunsOneMailForEachAction(TaskMailbox):
    """Takes only one mail of a batch before the next action."""

    def __init__(self, loop: Loop) -> None:
        super().__init__(loop)
        self.gave = False

    def try_take_from_batch(self) -> Mail | None:
        self.gave = not self.gave
        return super().try_take_from_batch() if self.gave else None


@breaks("MBX-49")
class RunsASuspendedAction(MailboxProcessor):
    """Runs its action although the action is suspended: FLINK-23220."""

    def suspend_default_action(self) -> Suspension:
        suspension = super().suspend_default_action()
        suspension.resume()
        return suspension


@breaks("MBX-50")
class IsResumedByItsOwnThreadOnly(MailboxProcessor):
    """Ignores a resumption from another thread."""

    def suspend_default_action(self) -> Suspension:
        suspension, owner = super().suspend_default_action(), threading.get_ident()

        def resume(_: Suspension) -> None:
            if threading.get_ident() == owner:
                suspension.resume()

        return Suspension(resume)


@breaks("MBX-51")
class SleepsUnlessItIsUrgent(TaskMailbox):
    """Wakes the waiting task only for urgent mails."""

    def put(self, mail: Mail) -> None:
        arrival, self._arrival = self._arrival, self._arrival if mail.urgent else None
        try:
            super().put(mail)
        finally:
            self._arrival = arrival


@breaks("MBX-52")
class TakesAnyResume(MailboxProcessor):
    """Accepts the resumption of any earlier suspension."""

    def suspend_default_action(self) -> Suspension:
        super().suspend_default_action()

        def resume(_: Suspension) -> None:
            if self._suspension is not None:
                self._suspension.resume()

        return Suspension(resume)


@breaks("MBX-54")
class IsSuspendedInTurn(MailboxProcessor):
    """Stops only after the waiting mails have run."""

    def suspend(self) -> None:
        with suppress(MailboxClosedError):
            self.executor(HIGHEST).execute(super().suspend)


@breaks("MBX-54")
class StaysSuspended(MailboxProcessor):
    """Ends at once each run that follows a suspension."""

    async def run(self) -> None:
        if not self._is_stopped:
            await super().run()


@breaks("MBX-55")
class CompletesForNow(MailboxProcessor):
    """Treats the completion of all actions as the end of this run only."""

    def all_actions_completed(self) -> None:
        self.suspend()


@breaks("MBX-56")
class InsistsOnSteering(MailboxProcessor):
    """Raises if a thread suspends it after its mailbox has closed."""

    def suspend(self) -> None:
        if self._mailbox.state is not MailboxState.OPEN:
            raise MailboxClosedError(f"the mailbox is {self._mailbox.state.value}")
        super().suspend()


@breaks("MBX-64")
class GoesOnAfterAFailedAction(MailboxProcessor):
    """Drops the error of its action, and continues with the next round."""

    def __init__(
        self, loop: Loop, default_action: DefaultAction, mailbox: TaskMailbox | None = None
    ) -> None:
        def act(controller: Controller) -> None:
            with suppress(Exception):
                default_action(controller)

        super().__init__(loop, act, mailbox)


FAULTY_MAILBOXES: tuple[FaultyMailbox, ...] = tuple(
    sorted(FOUND, key=lambda each: [*mailbox_rules()].index(each.rule))
)
"""All faulty mailboxes, in the order of their rules."""

OPEN = SimpleNamespace(**{each.change.__name__: each.open_processor for each in FAULTY_MAILBOXES})
"""Openers by class name: `asyncwait verify --mailbox` takes `...:OPEN.NAME`."""


def gallery() -> Mapping[str, FaultyMailbox]:
    """Return all faulty mailboxes by the name that `asyncwait verify --mailbox` takes."""
    return {f"{__name__}:OPEN.{each.change.__name__}": each for each in FAULTY_MAILBOXES}


__all__ = ["FAULTY_MAILBOXES", "OPEN", "FaultyMailbox", "gallery", "processor_with"]

claim_exports(__name__)
