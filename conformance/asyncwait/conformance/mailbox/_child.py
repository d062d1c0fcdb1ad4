"""The child process: opens the mailbox of somebody and plays programs on it, a line for each.

Whatever the mailbox does, it does here. What it prints goes to standard error.
"""

import asyncio
import os
import sys
from typing import Any, cast

import msgspec
from msgspec import Struct

from asyncwait.conformance.harness import line_of
from asyncwait.conformance.mailbox._player import Stage, play_program
from asyncwait.conformance.running import imported
from asyncwait.spec import AsyncWaitError
from asyncwait.spec.mailbox import OpenProcessor
from asyncwait.spec.mailbox.program import MailboxTrace, Program
from asyncwait.toolkit import running_loop

MODULE = __name__
"""What to run as the child."""


class AskedProgram(Struct, frozen=True):
    """What the parent asks for."""

    program: Program
    stage: Stage


class Hello(Struct, frozen=True):
    """What the child says first.

    Args:
        refused: why it can't open the mailbox; empty if it can.
    """

    refused: str = ""


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
    """Answer until standard input ends.

    Args:
        name: "module:callable".
        folder: where its module may stand, besides where this process looks anyway.
    """
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.path.append(folder)

    def say(told: Hello | MailboxTrace) -> None:
        replies.write(msgspec.json.encode(told) + b"\n")
        replies.flush()

    try:
        open_processor = load_processor(name)
        require_processor(open_processor)
    except (ValueError, AsyncWaitError) as error:
        say(Hello(str(error)))
        return
    say(Hello())
    for line in sys.stdin.buffer:
        asked = msgspec.json.decode(line, type=AskedProgram)
        try:
            trace = play_program(asked.program, open_processor, asked.stage)
        except BaseException as error:
            trace = MailboxTrace(ending=f"broken: {line_of(error)}")
        say(trace)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
