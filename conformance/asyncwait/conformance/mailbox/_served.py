"""The child process, which opens somebody's mailbox and plays programs on it, and its parent.

Whatever the mailbox does, it does here. What it prints goes to standard error.
"""

import asyncio
import os
import sys
from typing import Any, Self, cast

import msgspec
from msgspec import Struct

from asyncwait.conformance.harness import line_of
from asyncwait.conformance.mailbox._player import Stage, play_program
from asyncwait.conformance.running import ChildProcess, imported
from asyncwait.spec import AsyncWaitError, InvalidConfig
from asyncwait.spec.checks import require_seconds
from asyncwait.spec.mailbox import OpenProcessor
from asyncwait.spec.mailbox.program import MailboxTrace, Program
from asyncwait.spec.texts import one_line
from asyncwait.toolkit import running_loop


class AskedProgram(Struct, frozen=True):
    """What the parent asks for."""

    program: Program
    stage: Stage


def load_processor(name: str) -> OpenProcessor:
    """Return what `name` stands for.

    Args:
        name: "module:callable".

    Raises:
        ValueError: it can't be found; the message says why.
        MissingExtra: its module needs a package that is not installed.
    """
    found = imported(name)
    if not callable(found):
        raise ValueError(f"expected a callable, {name} is {type(found).__name__}")
    return cast("OpenProcessor", found)


PARTS = (
    "mailbox",
    "executor",
    "run",
    "suspend",
    "report_error",
    "prepare_close",
    "drain",
    "close",
    "metrics",
)
"""What a processor has; see `asyncwait.spec.mailbox.Processor`."""


def require_processor(open_processor: OpenProcessor) -> None:
    """Open a mailbox once, and see whether that is one at all: else each run would say it.

    Raises:
        ValueError: it can't be opened, or gives something else; the message says why.
    """

    async def opened() -> Any:
        return open_processor(running_loop(), lambda _: None)

    try:
        given = asyncio.run(opened())
    except BaseException as error:
        raise ValueError(f"opening it raised {line_of(error)}") from error
    missing = [part for part in PARTS if not hasattr(given, part)]
    if missing:
        raise ValueError(
            f"opening it gave a {type(given).__name__}, which has no {', no '.join(missing)}; "
            "see asyncwait.spec.mailbox.Processor"
        )


def main(name: str, folder: str) -> None:
    """Say why the mailbox can't be opened, or nothing; then answer until standard input ends.

    Args:
        name: "module:callable".
        folder: where its module may stand, besides where this process looks anyway.
    """
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.path.append(folder)

    def say(told: str | MailboxTrace) -> None:
        replies.write(msgspec.json.encode(told) + b"\n")
        replies.flush()

    try:
        open_processor = load_processor(name)
        require_processor(open_processor)
    except (ValueError, AsyncWaitError) as error:
        say(str(error))
        return
    say("")
    for line in sys.stdin.buffer:
        asked = msgspec.json.decode(line, type=AskedProgram)
        try:
            trace = play_program(asked.program, open_processor, asked.stage)
        except BaseException as error:
            trace = MailboxTrace(ending=f"broken: {line_of(error)}")
        say(trace)


_CHILD = "asyncwait.conformance.mailbox._served"

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

    def __exit__(self, *_: object) -> None:
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
        self._child = child = ChildProcess(self._command)
        try:
            refused = msgspec.json.decode(child.wait_for_line(STARTS_WITHIN), type=str)
        except (TimeoutError, EOFError, msgspec.DecodeError) as error:
            self._end()
            raise InvalidConfig(
                f"mailbox {self._name!r}: it does not start: {one_line(error, 1_000)}"
            ) from error
        if refused:
            self._end()
            raise InvalidConfig(f"mailbox {self._name!r}: {refused}")
        return child

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
