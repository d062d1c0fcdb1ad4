"""One of the threads that take turns."""

import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context

from asyncwait.backends.pyflink._alarm import Alarm


class Ended(BaseException):
    """The operator is being left, and its threads are to come to their ends."""


def always() -> bool:
    """Say that there is nothing to wait for."""
    return True


class Actor:
    """A thread, and what it waits for.

    Attributes:
        poll: since when it waits, and after how many seconds it looks again; None for never.
    """

    def __init__(
        self, work: Callable[[], object], context: Context, ended: Callable[[], object]
    ) -> None:
        self._work, self._context, self._ended = work, context, ended
        self.turn = threading.Semaphore(0)
        self.goes_on: Callable[[], bool] = always
        self.poll: tuple[float, float] | None = None
        self.began = 0
        self.alarm: Alarm | None = None
        self.is_over = False
        self._thread = threading.Thread(target=self._live, name="asyncwait-pyflink", daemon=True)

    @property
    def has_begun(self) -> bool:
        """Whether it has had a turn."""
        return self._thread.ident is not None

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
        if not self.has_begun:
            self._thread.start()

    def _live(self) -> None:
        self.turn.acquire()
        # What ends a thread, nobody is told in Python either, but on standard error.
        with suppress(BaseException):
            self._context.run(self._work)
        self.is_over = True
        del self._work, self._context
        self._ended()
