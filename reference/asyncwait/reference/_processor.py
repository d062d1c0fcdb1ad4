"""The processor: the loop that runs the mails and the default action.

Each round (Flink's MB-23):

    1. a batch: all waiting mails, and urgent mails that arrive meanwhile
    2. while the default action is suspended: one mail after the other, with waits for more
    3. the default action, once

So neither mails nor the action starve: a mail that sends itself again runs in the next batch
(FLINK-14304).
"""

import threading
from collections.abc import Callable
from typing import ClassVar

from anyio.lowlevel import checkpoint

from asyncwait.reference._mailbox import Mail, MailboxExecutor, TaskMailbox
from asyncwait.spec.mailbox import (
    HIGHEST,
    MAIN,
    DefaultAction,
    Loop,
    MailboxClosedError,
    MailboxState,
)


class Suspension:
    """A default action that is suspended.

    Args:
        lift: makes the action run again, if this suspension is the present one.
    """

    def __init__(self, lift: Callable[["Suspension"], None]) -> None:
        self._lift = lift

    def resume(self) -> None:
        """Let the action run again. For any thread; a second call does nothing (Flink's MB-26)."""
        self._lift(self)


class MailboxProcessor:
    """A mailbox and its loop, for the task that makes it.

    Args:
        loop: event loop that runs the caller.
        default_action: work between the mails; a function of the processor.
        mailbox: mailbox of the mails to run; a new mailbox by default.
    """

    executor_class: ClassVar[type[MailboxExecutor]] = MailboxExecutor

    def __init__(
        self, loop: Loop, default_action: DefaultAction, mailbox: TaskMailbox | None = None
    ) -> None:
        self._thread = threading.get_ident()
        self._default_action = default_action
        self._mailbox = TaskMailbox(loop) if mailbox is None else mailbox
        self._control = self.executor(HIGHEST)
        self._suspension: Suspension | None = None  # of the default action
        self._is_completed = False
        self._is_stopped = False  # this run of the loop
        self._is_waiting = False  # for a mail

    @property
    def mailbox(self) -> TaskMailbox:
        """Mailbox of the loop."""
        return self._mailbox

    def executor(self, priority: int) -> MailboxExecutor:
        """Return access to the mailbox for a part of the operator with `priority`."""
        return self.executor_class(self._mailbox, priority)

    # The loop

    async def run(self) -> None:
        """Run the loop until `suspend`, `all_actions_completed` or an error ends it.

        Errors of a mail or of the default action leave it unchanged (Flink's MB-28).

        Raises:
            MailboxClosedError: the mailbox is not open.
        """
        self._is_stopped = self._is_completed
        if not (self._is_completed or self._mailbox.state is MailboxState.OPEN):
            state = self._mailbox.state.value
            raise MailboxClosedError(f"running needs a mailbox that is open, this one is {state}")
        while not self._is_stopped:
            await checkpoint()  # neither mails nor the default action may ever wait
            if self._mailbox.create_batch():
                self._run_batch(lambda: not self._is_stopped)
            await self._run_while_suspended()
            if not self._is_stopped:
                self._default_action(self)

    async def _run_while_suspended(self) -> None:
        """Run mails, and wait for more, until the default action may run or the loop ends."""
        while self._goes_on_suspended():
            if self._mailbox.create_batch():
                self._run_batch(self._goes_on_suspended)
                await checkpoint()
            else:
                mail = await self._next_mail()
                mail.run()

    def _goes_on_suspended(self) -> bool:
        return self._suspension is not None and not self._is_stopped

    def _run_batch(self, goes_on: Callable[[], bool]) -> None:
        while goes_on() and (mail := self._mailbox.try_take_from_batch()) is not None:
            mail.run()

    async def _next_mail(self) -> Mail:
        self._is_waiting = True
        try:
            return await self._mailbox.take(MAIN)
        finally:
            self._is_waiting = False

    # Steering it

    def suspend_default_action(self) -> Suspension:
        """Stop running the default action until it is resumed (Flink's MB-26).

        Raises:
            RuntimeError: it is suspended already, or this is another thread.
        """
        if threading.get_ident() != self._thread:
            raise RuntimeError("the default action is suspended in the thread of its loop")
        if self._suspension is not None:
            raise RuntimeError("the default action is suspended already; resume that suspension")
        self._suspension = Suspension(self._resume)
        return self._suspension

    def _resume(self, suspension: Suspension) -> None:
        if threading.get_ident() != self._thread:
            self._send_if_open(lambda: self._lift(suspension), "resume")
            return
        self._lift(suspension)
        if self._is_waiting:  # another task resumes it
            self._send_if_open(_look_again, "resume")

    def _lift(self, suspension: Suspension) -> None:
        if self._suspension is suspension:
            self._suspension = None

    def suspend(self) -> None:
        """End this run of the loop; `run` continues from there. For any thread (MB-27)."""
        self._send_if_open(self._stop, "suspend")

    def all_actions_completed(self) -> None:
        """End the loop for good. For any thread (Flink's MB-27)."""
        self._send_if_open(self._complete, "all actions completed")

    def _stop(self) -> None:
        self._is_stopped = True

    def _complete(self) -> None:
        self._is_completed = self._is_stopped = True

    def _send_if_open(self, run: Callable[[], object], description: str) -> None:
        """Send an urgent mail if the mailbox is open; else mostly do nothing.

        Mails of a quiesced mailbox can still steer its loop: in the loop's thread, call `run`.
        """
        try:
            self._control.execute(run, urgent=True, description=description)
        except MailboxClosedError:
            is_quiesced = self._mailbox.state is MailboxState.QUIESCED
            if is_quiesced and threading.get_ident() == self._thread:
                run()


def _look_again() -> None:
    """Do nothing: the mail itself makes the loop check its suspension again."""
