"""Mailboxes that lose, repeat, reorder, show or defer mails wrongly, or poll."""

import threading
from collections.abc import Callable
from typing import Any

import anyio
from anyio.lowlevel import checkpoint
from msgspec.structs import replace

from asyncwait.backends.faulty.mailbox._gallery import breaks
from asyncwait.reference import (
    MAIN,
    Mail,
    MailboxExecutor,
    MailboxState,
    TaskMailbox,
)
from asyncwait.spec.mailbox import HIGHEST, Loop, MailboxClosedError


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
