"""MBX-47 to MBX-64: loops that starve other tasks, or ignore commands."""

import threading
from collections.abc import Awaitable
from contextlib import suppress

from asyncwait.backends.faulty.mailbox._gallery import breaks
from asyncwait.reference import Mail, MailboxProcessor, MailboxState, Suspension, TaskMailbox
from asyncwait.spec.mailbox import (
    HIGHEST,
    Controller,
    DefaultAction,
    Loop,
    MailboxClosedError,
)


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


@breaks("MBX-60")
class KeepsTheThreadForItself(MailboxProcessor):
    """Runs round after round without yielding to other tasks."""

    async def run(self) -> None:
        self._is_stopped = self._is_completed
        if not (self._is_completed or self._mailbox.state is MailboxState.OPEN):
            raise MailboxClosedError("the mailbox is not open")
        while not self._is_stopped:
            self._mailbox.create_batch()
            self._run_batch(lambda: not self._is_stopped)
            await self._run_while_suspended()
            if not self._is_stopped:
                await self._run_default_action()


@breaks("MBX-64")
class GoesOnAfterAFailedAction(MailboxProcessor):
    """Drops the error of its action, and continues with the next round."""

    def __init__(
        self, loop: Loop, default_action: DefaultAction, mailbox: TaskMailbox | None = None
    ) -> None:
        def act(controller: Controller) -> Awaitable[object] | None:
            with suppress(Exception):
                return default_action(controller)
            return None

        super().__init__(loop, act, mailbox)
