"""Calling records again: whether, when, and the wait until then."""

from collections.abc import Callable
from typing import Any, TypeAlias

import anyio

from asyncwait.backends.emitter._entries import Entry
from asyncwait.backends.emitter._life import Tasks
from asyncwait.spec import OperatorError, Record, Retry
from asyncwait.toolkit import BackOffs, attempt_timed_out

Outcome: TypeAlias = tuple[Any, ...] | OperatorError
"""What a call comes to: results, or a failure."""


class Retries:
    """Has records called again, each after a back-off of its own.

    A back-off is a task that sleeps. So it depends on nothing that arrives (RETRY-1), is no longer
    or shorter for what others do (RETRY-3, RETRY-4), and ends with all tasks (RETRY-14).

    Args:
        retry: as it was configured; None for never.
        tasks: of the operator.
    """

    def __init__(self, retry: Retry | None, tasks: Tasks) -> None:
        self._retry = retry
        self._back_offs = None if retry is None else BackOffs(retry)
        self._tasks = tasks
        self.call_again: Callable[[Entry], object] = lambda *_: None
        """Called with an entry whose back-off is over; a deadline may have completed it."""

    def after(self, entry: Entry, outcome: Outcome) -> float | None:
        """Return the seconds from an outcome to the next call; None if it stands (RETRY-6).

        Raises:
            CallFailed: the predicate raised (RETRY-13).
        """
        record: Any = entry.element
        if self._back_offs is None:
            return None
        if isinstance(outcome, OperatorError):
            return self._back_offs.after_failure(outcome, entry.attempts)
        return self._back_offs.after_results(record, outcome, entry.attempts)

    def overrun(self, record: Record) -> OperatorError:
        """Return what a call comes to that took longer than it may (RETRY-12)."""
        assert self._retry is not None
        assert self._retry.attempt_timeout is not None
        return attempt_timed_out(record, self._retry.attempt_timeout)

    def back_off(self, entry: Entry, until: float) -> None:
        """Have a record called again at a time, in seconds of the loop's clock.

        It waits in its slot.
        """
        entry.pause = anyio.CancelScope(deadline=until)
        self._tasks.start(self._wait, entry, entry.pause)

    def cancel(self, entry: Entry) -> None:
        """End the back-off of a record, if it is in one: it is not called again (RETRY-11)."""
        if entry.pause is not None:
            entry.pause.cancel()

    async def _wait(self, entry: Entry, pause: anyio.CancelScope) -> None:
        """Wait for the end of a back-off, and of a cancelled call that may yet end (RETRY-10)."""
        with pause:
            await anyio.sleep_forever()
        entry.pause = None
        if entry.call is not None:
            await entry.call.left()
        self.call_again(entry)
