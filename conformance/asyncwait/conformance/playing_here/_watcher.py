"""Tells of a run while it goes on: each event as it happens, and where the operator hangs.

A debugger that somebody leaves ends the run: its operator has not failed, nor has it passed.
"""

import bdb
import os
import pdb  # noqa: T100 - it is asked how it is left
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

from asyncwait.conformance.playing_here._stacks import stack_lines
from asyncwait.conformance.report import HEAD, event_line
from asyncwait.spec.scenario import EndingKind, Event, Scenario

_WAYS = ((bdb.Bdb, "set_quit"), *((pdb.Pdb, f"do_{name}") for name in ("q", "quit", "exit")))
"""What is called of a debugger by which it is left; end of input comes to one of these, too."""


class DebuggerLeft(SystemExit):
    """Somebody has left the debugger.

    It passes through loops and operators, which take any other error, that of the debugger itself
    among them, for one of a call.
    """


@contextmanager
def ended_by_debugger() -> Generator[None]:
    """Have whoever leaves a debugger in this block leave the block.

    Raises:
        DebuggerLeft: somebody did, whatever the operator has made of that.
    """
    left: list[DebuggerLeft] = []

    def leave(*_: object) -> None:
        sys.settrace(None)
        sys.breakpointhook = lambda *_, **__: None  # What is left may clean up undisturbed.
        left.append(DebuggerLeft())
        raise left[0]

    with ExitStack() as restored:
        restored.callback(setattr, sys, "breakpointhook", sys.breakpointhook)
        for debugger, name in _WAYS:
            _replace(debugger, name, leave, restored)
        try:
            yield
        except BaseException as error:
            if left:
                raise left[0] from error
            raise
    if left:
        raise left[0]


def _replace(owner: Any, name: str, by: Callable[..., None], restored: ExitStack) -> None:
    restored.callback(setattr, owner, name, getattr(owner, name))
    setattr(owner, name, by)


INTERRUPTED = 130
"""Exit code of a process that a second Ctrl-C ends at once."""


class Watcher:
    """Listens to the harness, and says what it hears."""

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
