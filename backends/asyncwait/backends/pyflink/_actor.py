"""One of the threads that take turns."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncwait.backends.pyflink._stage import Alarm, Stage


class Ended(BaseException):
    """The operator is being left, and its threads are to come to their ends."""


class _Here(threading.local):
    stage: Stage


_here = _Here()


def here() -> Stage:
    """Return the stage of the thread that asks."""
    return _here.stage


def always() -> bool:
    """Say that there is nothing to wait for."""
    return True


class Actor:
    """A thread, and what it waits for.

    Args:
        stage: where it takes turns.
        work: what it does.
        context: in which.

    Attributes:
        turn: is released when it may go on.
        goes_on: tells whether what it waits for is there.
        poll: since when it waits, and after how many seconds it looks again; None for never.
        began: in which turn of the stage that wait began.
        alarm: rings when it is to look again.
        is_over: whether it has come to its end.
    """

    def __init__(self, stage: Stage, work: Callable[[], object], context: Context) -> None:
        self._stage, self._work, self._context = stage, work, context
        self.turn = threading.Semaphore(0)
        self.goes_on: Callable[[], bool] = always
        self.poll: tuple[float, float] | None = None
        self.began = 0
        self.alarm: Alarm | None = None
        self.is_over = False
        self._thread = threading.Thread(target=self._live, name="asyncwait-pyflink", daemon=True)

    def wait_until(
        self, until: Callable[[], bool], poll: tuple[float, float] | None, turn: int
    ) -> None:
        """Note what it waits for; in the thread."""
        self.goes_on, self.poll, self.began = until, poll, turn

    def ring(self, look: Callable[[], object]) -> Callable[[], object]:
        """Return what lets it look again."""

        def ring() -> None:
            self.goes_on = always
            look()

        return ring

    def end_wait(self) -> None:
        """Note that it goes on, be it for the first time; on the loop."""
        self.goes_on, self.poll = always, None
        if self.alarm is not None:
            self.alarm.cancel()
            self.alarm = None
        if self._thread.ident is None:
            self._thread.start()

    def _live(self) -> None:
        self.turn.acquire()
        _here.stage = self._stage
        if not self._stage.is_over:
            # What ends a thread, nobody is told in Python either, but on standard error.
            with suppress(BaseException):
                self._context.run(self._work)
        self.is_over = True
        del self._work, self._context
        self._stage.loops.release()
