"""The mailbox: a queue of mails from any thread, which only the owner's task takes.

    put ──> urgent ──────────────────────────────┐
    put ──> queue ── create_batch ──> batch ─────┼──> take
              └──────────────────────────────────┘

A taker takes urgent mails first, then the batch, then the queue. The batch belongs to the owner; a
lock guards the urgent mails and the queue, which all threads share.
"""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import anyio
from msgspec import Struct

from asyncwait.spec.mailbox import MAIN, Loop, MailboxClosedError, MailboxState
from asyncwait.toolkit import reraise_fatal

OPERATOR = 0
"""Priority of the operator's own mails. A part of the operator that waits, as Flink's does for
room, sees these mails, but no mails that bring new work (Flink's BP-2, BP-3)."""


class Mail(Struct, frozen=True, eq=False):
    """Work for the task that owns the mailbox (Flink's MB-3).

    Args:
        run: function that does the work; it can't await.
        priority: a filter, not an order: a taker with a higher priority does not see this mail
            (Flink's MB-10).
        urgent: whether it precedes all mails that are not urgent. Urgent mails keep their order,
            and the same takers see them (Flink's MB-14, MB-15).
        deferrable: whether only the main loop sees it, at any priority (Flink's MB-13).
        description: description by its sender.
        future: future of the result; None without a future.
    """

    run: Callable[[], object]
    priority: int = OPERATOR
    urgent: bool = False
    deferrable: bool = False
    description: str = ""
    future: Future[Any] | None = None

    def is_visible_to(self, priority: int, *, with_deferred: bool = False) -> bool:
        """Return whether a taker of `priority` sees it, possibly `with_deferred` mails."""
        can_wait = self.deferrable and not with_deferred
        return (MAIN if can_wait else self.priority) >= priority

    def cancel(self) -> None:
        """Cancel the future of a mail that will not run."""
        if self.future is not None:
            self.future.cancel()


T = TypeVar("T")


class TaskMailbox:
    """A queue of mails with many senders and one taker (Flink's MB-1, MB-2).

    Args:
        loop: event loop of the taking task, which runs the caller.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._thread = threading.get_ident()
        self._lock = threading.RLock()  # an exclusive section puts, too
        self._state = MailboxState.OPEN
        self._urgent: deque[Mail] = deque()
        self._batch: deque[Mail] = deque()
        self._queue: deque[Mail] = deque()
        self._arrival: anyio.Event | None = None  # while a taker waits

    @property
    def state(self) -> MailboxState:
        """Present state."""
        return self._state

    @property
    def has_mail(self) -> bool:
        """Whether any mail waits. The loop reads it often, so it takes no lock (FLINK-14747)."""
        return bool(self._urgent or self._batch or self._queue)

    def __len__(self) -> int:
        return len(self._urgent) + len(self._batch) + len(self._queue)

    # Any thread

    def put(self, mail: Mail) -> None:
        """Append `mail` to the urgent mails or to the queue. For any thread; it never waits.

        Raises:
            MailboxClosedError: the mailbox is not open.
        """
        with self._lock:
            if self._state is not MailboxState.OPEN:
                raise self._refusal("putting a mail", MailboxState.OPEN)
            (self._urgent if mail.urgent else self._queue).append(mail)
        # A taker sets `_arrival` before its last look for a mail, so this follows the append.
        self._wake_taker()

    def offer(self, mail: Mail) -> bool:
        """Put `mail` if the mailbox is open, and return whether it was. For any thread."""
        try:
            self.put(mail)
        except MailboxClosedError:
            return False
        return True

    def run_exclusively(self, function: Callable[[], T]) -> T:
        """Run `function` while no other thread puts or closes; return its result (MB-9)."""
        with self._lock:
            return function()

    # The owner's thread

    def create_batch(self) -> bool:
        """Move all mails of the queue to the batch; return whether a mail can be taken.

        Raises:
            RuntimeError: this is not the thread of the mailbox's loop.
        """
        self._check_thread()
        if self._queue:
            with self._lock:
                self._batch.extend(self._queue)
                self._queue.clear()
        return bool(self._urgent or self._batch)

    def try_take_from_batch(self) -> Mail | None:
        """Take the first urgent mail, or else the first of the batch; None without a mail.

        Raises:
            MailboxClosedError: the mailbox is closed.
            RuntimeError: this is not the thread of the mailbox's loop.
        """
        self._check_taking()
        if self._urgent:
            return self._urgent.popleft()  # this task is the only taker
        return self._batch.popleft() if self._batch else None

    def try_take(self, priority: int, *, with_deferred: bool = False) -> Mail | None:
        """Take the first mail that a taker of `priority` sees; return None without a mail.

        Args:
            priority: lowest visible priority.
            with_deferred: whether deferrable mails are visible, too.

        Raises:
            MailboxClosedError: the mailbox is closed.
            RuntimeError: this is not the thread of the mailbox's loop (Flink's TH-4).
        """
        self._check_taking()
        with self._lock:
            for mails in (self._urgent, self._batch, self._queue):
                if priority <= MAIN and mails:  # sees everything
                    return mails.popleft()
                for mail in mails:
                    if mail.is_visible_to(priority, with_deferred=with_deferred):
                        mails.remove(mail)
                        return mail
        return None

    async def take(self, priority: int) -> Mail:
        """Wait for a mail that a taker of `priority` sees, and take it.

        Raises:
            MailboxClosedError: the mailbox is closed, or was closed meanwhile.
            RuntimeError: this is not the thread of the mailbox's loop, or another task waits.
        """
        if (mail := self.try_take(priority)) is not None:
            return mail
        if self._arrival is not None:
            raise RuntimeError("another task waits for a mail already; a mailbox has one taker")
        try:
            while True:
                self._arrival = arrival = anyio.Event()
                if (mail := self.try_take(priority)) is not None:
                    return mail
                await arrival.wait()
        finally:
            self._arrival = None

    def quiesce(self) -> None:
        """Refuse new mails from now on; waiting mails can still be taken.

        Raises:
            RuntimeError: this is not the thread of the mailbox's loop.
        """
        self._check_thread()
        with self._lock:
            if self._state is MailboxState.OPEN:
                self._state = MailboxState.QUIESCED

    def close(self) -> list[Mail]:
        """Refuse all mails from now on, and return the remaining mails (Flink's MB-8).

        Cancel the futures of these mails.

        Raises:
            RuntimeError: this is not the thread of the mailbox's loop.
        """
        self._check_thread()
        with self._lock:
            self._state = MailboxState.CLOSED
            left = self.drain()
        for mail in left:
            mail.cancel()
        self._wake_taker()
        return left

    def drain(self) -> list[Mail]:
        """Take all mails: the urgent mails, then the batch, then the queue.

        Raises:
            RuntimeError: this is not the thread of the mailbox's loop.
        """
        self._check_thread()
        with self._lock:  # the batch, too: Flink's pull request 26219
            mails = [*self._urgent, *self._batch, *self._queue]
            for taken in (self._urgent, self._batch, self._queue):
                taken.clear()
        return mails

    def _wake_taker(self) -> None:
        if (arrival := self._arrival) is None:
            return
        if threading.get_ident() == self._thread:
            arrival.set()
        else:
            self._loop.call_from_thread(arrival.set)

    def _check_taking(self) -> None:
        self._check_thread()
        if self._state is MailboxState.CLOSED:
            raise self._refusal("taking a mail", MailboxState.OPEN, MailboxState.QUIESCED)

    def _check_thread(self) -> None:
        if threading.get_ident() != self._thread:
            raise RuntimeError("mails are taken in the thread of the mailbox's loop, not elsewhere")

    def _refusal(self, action: str, *states: MailboxState) -> MailboxClosedError:
        needed = " or ".join(state.value for state in states)
        return MailboxClosedError(
            f"{action} needs a mailbox that is {needed}, this one is {self._state.value}"
        )


class MailboxExecutor:
    """Access to the mailbox, filtered by a priority.

    Args:
        mailbox: mailbox to send mails to, and to run mails from.
        priority: priority of the mails sent, and the lowest priority of the mails run.

    Raises:
        ValueError: the priority is below `MAIN`, the priority of the main loop, which has to see
            every mail.
    """

    def __init__(self, mailbox: TaskMailbox, priority: int) -> None:
        if priority < MAIN:
            raise ValueError(f"priority must be {MAIN} (MAIN) or more, got {priority!r}")
        self._mailbox = mailbox
        self._priority = priority

    def execute(
        self,
        run: Callable[[], object],
        *,
        urgent: bool = False,
        deferrable: bool = False,
        description: str = "",
    ) -> None:
        """Send a mail that calls `run`. For any thread.

        Args:
            run: function that does the work; it can't await.
            urgent: whether it precedes all mails that are not urgent.
            deferrable: whether only the main loop runs it.
            description: description of the mail.

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
        description: str = "",
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


def _complete(future: Future[T], run: Callable[[], T]) -> None:
    try:
        result = run()
    except BaseException as error:
        future.set_exception(error)
        reraise_fatal(error)
    else:
        future.set_result(result)
