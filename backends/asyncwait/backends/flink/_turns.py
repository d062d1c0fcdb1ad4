"""Flink's thread and the event loop take turns: one of them runs, and the other one waits.

Flink's operator blocks its thread while it has nothing to do, as in a task of Flink. So it has a
thread of its own, which hands control to the loop when it blocks. Because only one of the two
runs at a time, the order of all events is fixed, and the loop's clock may be virtual.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal, TypeAlias

from asyncwait.backends.flink._jvm import java
from asyncwait.toolkit import reraise_fatal

Waits: TypeAlias = Literal["work", "mail", "room", "nothing"]
"""Condition for which Flink's thread waits; "room" ends with a mail, too; "nothing" if it ended."""


class Turns:
    """A thread that runs only when the loop lets it."""

    def __init__(
        self, cancellation: Callable[[], BaseException], begin: Callable[[], object]
    ) -> None:
        self._cancellation = cancellation
        self._begin = begin
        self._flinks = threading.Semaphore(0)
        self._loops = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, name="asyncwait-flink", daemon=True)
        self._work: Callable[[], object] | None = None
        self._asked: Callable[[], Any] | None = None
        self._answer: tuple[Any, BaseException | None] = (None, None)
        self._error: BaseException | None = None
        self._is_cancelled = False
        self._last: Callable[[], object] = lambda: None
        self.waits_for: Waits = "work"

    # On the loop

    def do(self, work: Callable[[], object]) -> None:
        """Run `work` in Flink's thread, which waits for work; return when the thread waits again.

        Raises:
            BaseException: the error of `work`, if it has ended; or an error for the whole program.
        """
        self._work = work
        self.go_on()

    def go_on(self) -> None:
        """Let Flink's thread go on where it waits; see `do`."""
        if self._thread.ident is None:
            self._thread.start()
        interruption = self._until_it_waits()
        error, self._error = self._error, None
        if interruption is not None or error is not None:
            raise interruption or error  # type: ignore[misc]

    def _until_it_waits(self) -> BaseException | None:
        interruption = None
        while True:
            self._flinks.release()
            self._loops.acquire()
            if self._asked is None:
                return interruption
            try:
                self._answer = (self._asked(), None)
            except BaseException as error:
                self._answer = (None, error)
                interruption = interruption or for_the_program(error)
                self._is_cancelled = self._is_cancelled or interruption is not None

    def end(self, last: Callable[[], object]) -> None:
        """End the thread, wherever it waits, and join it."""
        self._is_cancelled = True
        self._last = last
        while self.waits_for != "nothing" and self._thread.ident is not None:
            self._until_it_waits()
        self._error = None
        if self._thread.ident is not None:
            self._thread.join()

    # In Flink's thread

    def wait(self, for_what: Waits) -> None:
        """Hand control to the loop until it lets this thread go on."""
        self.waits_for = for_what
        self._switch()
        if self._is_cancelled:
            raise self._cancellation()

    def ask(self, question: Callable[[], Any]) -> Any:
        """Let the loop call `question`; return its result, or raise its error."""
        self._asked = question
        self._switch()
        self._asked = None
        (value, error), self._answer = self._answer, (None, None)
        if self._is_cancelled:
            raise self._cancellation()
        if error is not None:
            raise error
        return value

    def _switch(self) -> None:
        self._loops.release()
        self._flinks.acquire()
        self._begin()

    def _run(self) -> None:
        self._flinks.acquire()
        while not self._is_cancelled:
            assert self._work is not None
            work, self._work = self._work, None
            try:
                work()
            except BaseException as error:
                if not self._is_cancelled:
                    self._error = error
            self.waits_for = "work"
            del work
            if not self._is_cancelled:
                self._switch()
        with suppress(BaseException):  # the operator has closed: no caller is left for the error
            self._last()
        java("java.lang.Thread").detach()  # otherwise Java keeps the thread and its objects forever
        self.waits_for = "nothing"
        self._loops.release()


def for_the_program(error: BaseException) -> BaseException | None:
    """Return the part of an error that is for the whole program; None for none."""
    try:
        reraise_fatal(error)
    except BaseException as urgent:
        return urgent
    return None
