"""MBX-1 to MBX-14, MBX-62: mailboxes that lose, repeat, reorder or show mails, or poll."""

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import anyio
from anyio.lowlevel import checkpoint

from asyncwait.backends.faulty.mailbox._gallery import breaks
from asyncwait.reference import (
    MAIN,
    Mail,
    MailboxExecutor,
    MailboxProcessor,
    MailboxState,
    TaskMailbox,
)
from asyncwait.spec.mailbox import DefaultAction, Loop, MailboxClosedError


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


@breaks("MBX-11")
class LooksForTheSeenOnce(TaskMailbox):
    """Waits for the first mail only, and never again if that mail is not visible."""

    async def take(self, priority: int) -> Mail:
        mail = self.try_take(priority)
        if mail is None:
            first = await super().take(MAIN)
            if first.is_visible_to(priority):
                return first
            self._queue.appendleft(first)
            return await TaskMailbox(self._loop).take(priority)
        return mail


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


@breaks("MBX-13")
class LosesAMailWhenCancelledLater(TaskMailbox):
    """Yields three times to other tasks between taking a mail and returning it."""

    async def take(self, priority: int) -> Mail:
        mail = await super().take(priority)
        for _ in range(3):
            await checkpoint()
        return mail


@breaks("MBX-14")
class DescribesAtOnce(TaskMailbox):
    """Computes the description of each mail in advance."""

    def put(self, mail: Mail) -> None:
        described = mail.description
        assert isinstance(described, str)
        super().put(mail)


@breaks("MBX-12")
class SuspendsByMail(MailboxProcessor):
    """Gives its action a controller that other threads may use, too: it sends itself a mail."""

    def __init__(self, loop: Loop, default_action: DefaultAction) -> None:
        super().__init__(loop, lambda _: default_action(controller))
        owner, controller = threading.get_ident(), cast("Any", SimpleNamespace())
        controller.all_actions_completed = self.all_actions_completed

        def suspend_default_action() -> object:
            if threading.get_ident() == owner:
                return self.suspend_default_action()
            return self.executor(MAIN).submit(self.suspend_default_action)

        controller.suspend_default_action = suspend_default_action


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


@breaks("MBX-62")
class LooksNowAndThenBesides(TaskMailbox):
    """Looks for a mail every second, in addition to being woken."""

    async def take(self, priority: int) -> Mail:
        while True:
            with anyio.move_on_after(1):
                return await super().take(priority)
