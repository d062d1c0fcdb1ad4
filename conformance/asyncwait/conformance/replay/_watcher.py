"""Tells of a run while it goes on: each event as it happens, and where the operator hangs."""

import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

from asyncwait.conformance.replay._stacks import stack_lines
from asyncwait.conformance.report import HEAD, event_line
from asyncwait.spec.scenario import EndingKind, Event, Scenario

INTERRUPTED = 130
"""Exit code of a process that a second Ctrl-C ends at once."""


class Watcher:
    """Listens to the harness, and says what it hears.

    Args:
        say: prints a line, at once; what follows it, of others, behind a mark.
        tells: whether each event is said; where the operator hangs is said in any case.

    Attributes:
        heard: how many events there were.
        is_interrupted: whether somebody has pressed Ctrl-C.
    """

    def __init__(self, say: Callable[[str], None], *, tells: bool) -> None:
        self.heard = 0
        self.is_interrupted = False
        self._say = say
        self._tells = tells
        self._scenario = Scenario()
        self._legs = 0
        self._is_overdue = False

    def begins(self, scenario: Scenario) -> None:
        """A leg of `scenario` begins."""
        self._scenario = scenario
        self._legs += 1
        self._is_overdue = False
        if self._tells:
            if self._legs > 1:
                self._say(f"leg {self._legs}")
            self._say(HEAD)

    def hears(self, event: Event) -> None:
        """Say what has just happened."""
        self.heard += 1
        if self._tells:
            self._say(event_line(self._scenario, event))

    def overdue(self, how: EndingKind) -> None:
        """Say where the operator stands that comes to no end."""
        if not self._is_overdue:
            self._is_overdue = True
            self._stands(f"{how}: it stands here", None)

    def _stands(self, head: str, frame: FrameType | None) -> None:
        self._say("\n".join([head, *stack_lines(frame)]))

    def _interrupt(self, _: int, frame: FrameType | None) -> None:
        if self.is_interrupted:
            os._exit(INTERRUPTED)  # Nothing that is left would let go.
        self.is_interrupted = True
        self._stands("interrupted: it stands here (press again to end at once)", frame)
        raise KeyboardInterrupt

    @contextmanager
    def interruptible(self) -> Generator[None]:
        """Have Ctrl-C say where the operator stands before it ends the run."""
        if threading.current_thread() is not threading.main_thread():
            yield  # Signals are handled elsewhere.
            return
        before = signal.signal(signal.SIGINT, self._interrupt)
        try:
            yield
        except BaseException as error:
            if self.is_interrupted:  # A loop may have made something else of it.
                raise KeyboardInterrupt from error
            raise
        finally:
            signal.signal(signal.SIGINT, before)
