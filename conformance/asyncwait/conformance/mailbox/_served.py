"""A mailbox in a child process, as its parent sees it: programs go in, traces come out."""

import sys
from types import TracebackType
from typing import Self

import msgspec

from asyncwait.conformance.mailbox._child import AskedProgram, Hello
from asyncwait.conformance.mailbox._player import Stage
from asyncwait.conformance.running import ChildProcess
from asyncwait.spec import InvalidConfig
from asyncwait.spec.checks import require_seconds
from asyncwait.spec.mailbox.program import MailboxTrace, Program
from asyncwait.spec.texts import one_line

_CHILD = "asyncwait.conformance.mailbox._child"

STARTS_WITHIN = 60.0
"""Seconds for the child to import what it is to play."""

MOST_BLOCKED = 3
"""Programs that block or kill their process before nothing more is asked: each costs seconds."""


class ServedMailbox:
    """A mailbox that is played in a process of its own.

    Args:
        name: "module:callable".
        folder: where its module may stand.
        patience: seconds that a program may take.

    Raises:
        InvalidConfig: `patience` is no such time.
    """

    def __init__(self, name: str, folder: str, patience: float) -> None:
        require_seconds("patience", patience)
        # The package imports the module, too, and runpy warns of that.
        quiet = ("-W", "ignore::RuntimeWarning:runpy")
        self._command = [sys.executable, *quiet, "-m", _CHILD, name, folder]
        self._name = name
        self._patience = patience
        self._child: ChildProcess | None = None
        self.blocked = 0

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()

    def play(self, program: Program, stage: Stage) -> MailboxTrace:
        """Play a program; return what was seen, whatever the mailbox does to its process."""
        child = self._child or self._start()
        child.send(msgspec.json.encode(AskedProgram(program, stage)) + b"\n")
        try:
            return msgspec.json.decode(child.wait_for_line(self._patience), type=MailboxTrace)
        except TimeoutError:
            ending = f"blocks its thread: no end within {self._patience:g} s"
        except EOFError as error:
            ending = f"died: its process ended: {error}"
        except msgspec.DecodeError as error:
            ending = f"broken: no trace: {error}"
        self.blocked += 1
        self._end()
        return MailboxTrace(ending=ending)

    def _start(self) -> ChildProcess:
        """Start the child."""
        self._child = child = ChildProcess(self._command)
        try:
            hello = msgspec.json.decode(child.wait_for_line(STARTS_WITHIN), type=Hello)
        except (TimeoutError, EOFError, msgspec.DecodeError) as error:
            self._end()
            raise InvalidConfig(
                f"mailbox {self._name!r}: it does not start: {one_line(error, 1_000)}"
            ) from error
        if hello.refused:
            self._end()
            raise InvalidConfig(f"mailbox {self._name!r}: {hello.refused}")
        return child

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None
