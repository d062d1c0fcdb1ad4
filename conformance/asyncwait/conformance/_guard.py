"""Exit codes for unexpected errors in a command, which can't be taken for a verdict."""

import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

import click
from rich.console import Console
from rich.text import Text

from asyncwait.conformance.verdict import EXIT_CODES, USAGE_ERROR
from asyncwait.spec.texts import lines_of


def say(line: str, out: Console | None = None, *, style: str = "", err: bool = False) -> None:
    """Print a line of ours.

    Args:
        line: a text that begins with words of ours.
        out: prints the line; None for standard output, or standard error.
        style: of rich.
        err: use standard error.
    """
    for each in lines_of(line):
        if out is None:
            click.echo(each, err=err)
        else:
            out.print(Text(each, style=style), soft_wrap=True)


INTERRUPTED = 130
"""Exit code after Ctrl-C, as of any command that SIGINT ends."""

PIPE_CLOSED = 141
"""Exit code if the reader closes the output early, as of any command that SIGPIPE ends."""

TRACEBACK = "ASYNCWAIT_TRACEBACK"
"""Environment variable; with any value, an error of ours is shown with its traceback."""


# New in click 8.2; earlier versions show help and leave.
_NO_COMMAND: tuple[type[Exception], ...] = tuple(
    kind for kind in (getattr(click.exceptions, "NoArgsIsHelpError", None),) if kind
)

_NO_ROOM = {errno.EDQUOT, errno.EIO, errno.ENOSPC}

_TOO_FEW = {errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM}


class GuardedGroup(click.Group):
    """Subcommands that always leave with an exit code of ours."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Read the arguments before the subcommand."""
        with _telling_usage():
            return super().make_context(info_name, args, parent, **extra)

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command; even help and usage errors may fail to be written."""
        try:
            return super().main(*args, **extra)
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            _leave_unwritten(error)

    def invoke(self, ctx: click.Context) -> object:
        """Run the subcommand."""
        if sys.stdout is None:
            say("error: standard output is closed: nobody could read a verdict", err=True)
            sys.exit(USAGE_ERROR)
        with _leaving_on_signals(), _guarded(), _telling_usage():
            return super().invoke(ctx)


@contextmanager
def _telling_usage() -> Generator[None]:
    """Report wrong usage like any other error; show help if no command is named."""
    try:
        yield
    except click.UsageError as error:
        if isinstance(error, _NO_COMMAND):
            raise
        said = error.format_message()
        help_ = f"{error.ctx.command_path} --help" if error.ctx else ""
        hint = f"; see: {help_}" if help_ and "; see: " not in said else ""
        say(f"error: {said.removesuffix('.')}{hint}", err=True)
        sys.exit(error.exit_code)


@contextmanager
def _leaving_on_signals() -> Generator[None]:
    """Close children, terminal and files in order on signals that would end the process at once."""
    ours = [
        number
        for number in (signal.SIGTERM, getattr(signal, "SIGHUP", None))
        if number is not None
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(number) is signal.SIG_DFL
    ]
    for number in ours:
        signal.signal(number, _leave)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


class _Ended(SystemExit):
    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.name = signal.Signals(number).name


def _leave(number: int, _: FrameType | None) -> None:
    raise _Ended(number)


@contextmanager
def _guarded() -> Generator[None]:
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        _leave_pipe()
    except SystemExit as leaving:
        if isinstance(leaving.__context__, BrokenPipeError):
            _leave_pipe()  # rich has handled the error first
        if isinstance(leaving, _Ended):
            _tell_of_the_end(leaving.name)
        raise
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            _leave_unwritten(error)
        if isinstance(error, OSError) and (said := _said_of_the_surroundings(error)):
            say(f"error: {said}", err=True)
            sys.exit(EXIT_CODES["inconclusive"])
        if os.environ.get(TRACEBACK):
            traceback.print_exc()
        said = " ".join(f"{type(error).__name__}: {error}".split())
        hint = f"set {TRACEBACK}=1 to see its traceback"
        say(f"error: {said}; this is a bug of asyncwait; {hint}", err=True)
        sys.exit(EXIT_CODES["inconclusive"])


def _leave_unwritten(error: OSError) -> NoReturn:
    with suppress(OSError):  # Standard error itself may be full.
        say(f"error: the output can't be written: {error.strerror}", err=True)
    _drop_output()
    sys.exit(EXIT_CODES["inconclusive"])


def _said_of_the_surroundings(error: OSError) -> str | None:
    """Return the resource that this process lacks, if a command fails for it; else None."""
    if error.errno in _TOO_FEW:
        return f"this process gets no more from the system: {error.strerror}; raise `ulimit`"
    try:
        os.getcwd()  # noqa: PTH109 - the same in fewer calls
    except FileNotFoundError:
        return "the working directory was deleted: change to another one"
    return None


def _tell_of_the_end(name: str) -> None:
    with suppress(OSError):  # The terminal may be gone.
        say(f"error: ended by {name}; what was told so far is no verdict", err=True)


def _leave_pipe() -> NoReturn:
    """Exit without a message, which could not be read."""
    _drop_output()
    sys.exit(PIPE_CLOSED)


def _drop_output() -> None:
    """Drop further output, and the buffered output: writing it would fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
