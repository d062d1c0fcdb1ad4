"""Flink's thread and the event loop take turns: one of them runs, and the other one waits.

Flink's operator blocks its thread where there is nothing to do for it, as it does in a task. So it
has a thread of its own, and gives its turn to the loop there. As never more than one of the two
runs, the order of all that happens is settled, and the loop's clock may be a virtual one.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal, TypeAlias

from asyncwait.backends.flink._jvm import java
from asyncwait.toolkit import reraise_fatal

Waits: TypeAlias = Literal["work", "mail", "room", "nothing"]
"""What Flink's thread waits for: something to do, a mail, room behind it or a mail; it is over."""


class Cancelled(Exception):
    """The operator is being left, and its thread is to come to its end."""


class Turns:
    """A thread that runs when the loop lets it."""

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
        """Have `work` run in Flink's thread, which waits for some; return when it waits again.

        Raises:
            BaseException: what `work` raised, if that is over; or what is for the whole program.
        """
        self._work = work
        self.go_on()

    def go_on(self) -> None:
        """Have Flink's thread go on where it waits; see `do`."""
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
        """Have the thread end, wherever it waits, and wait for that."""
        self._is_cancelled = True
        self._last = last
        while self.waits_for != "nothing" and self._thread.ident is not None:
            self._until_it_waits()
        self._error = None
        if self._thread.ident is not None:
            self._thread.join()

    # In Flink's thread

    def wait(self, for_what: Waits) -> None:
        """Give the turn to the loop until that lets this thread go on."""
        self.waits_for = for_what
        self._switch()
        if self._is_cancelled:
            raise self._cancellation()

    def ask(self, question: Callable[[], Any]) -> Any:
        """Have the loop call `question`; return what it gave, or raise what it raised."""
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
        with suppress(BaseException):  # nobody is left whom it could be told
            self._last()
        java("java.lang.Thread").detach()  # else Java keeps it, and what it holds, for ever
        self.waits_for = "nothing"
        self._loops.release()


def for_the_program(error: BaseException) -> BaseException | None:
    """Return what of an error is for the whole program; None for nothing."""
    try:
        reraise_fatal(error)
    except BaseException as urgent:
        return urgent
    return None
