"""The command that groups the others, its exit codes, and what several subcommands share.

An unexpected error leaves with an exit code that can't be taken for a verdict.
"""

import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import click
from rich.console import Console

from asyncwait.conformance.harness import line_of
from asyncwait.conformance.report import say
from asyncwait.conformance.running import REAL_SECONDS
from asyncwait.conformance.verdict import EXIT_CODES, USAGE_ERROR
from asyncwait.spec import AsyncWaitError
from asyncwait.spec.rules import areas, carry_rules, hedge_rules, mailbox_rules, rules

GROUP = "asyncwait.commands"
"""Entry points: name -> command of click."""

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


class OpenGroup(click.Group):
    """Our own subcommands, and installed ones; if two have the same name, our own.

    They always leave with an exit code of ours.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names, in the order in which help lists them."""
        return sorted({*super().list_commands(ctx), *_installed()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a subcommand; a subcommand that can't be loaded says so when it is run."""
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in _installed():
            return own
        return _loaded(_installed()[cmd_name])

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
            say("error: standard output is closed", err=True)
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
            with suppress(OSError):  # The terminal may be gone.
                end = f"error: ended by {leaving.name}"
                say(f"{end}; what was told so far is no verdict", err=True)
        raise
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            _leave_unwritten(error)
        if os.environ.get(TRACEBACK):
            traceback.print_exc()
        said = " ".join(f"{type(error).__name__}: {error}".split())
        bug = "" if isinstance(error, OSError) else "this is a bug of asyncwait; "
        say(f"error: {said}; {bug}set {TRACEBACK}=1 to see its traceback", err=True)
        sys.exit(EXIT_CODES["inconclusive"])


def _leave_unwritten(error: OSError) -> NoReturn:
    with suppress(OSError):  # Standard error itself may be full.
        say(f"error: the output can't be written: {error.strerror}", err=True)
    _drop_output()
    sys.exit(EXIT_CODES["inconclusive"])


def _leave_pipe() -> NoReturn:
    """Exit without a message, which could not be read."""
    _drop_output()
    sys.exit(PIPE_CLOSED)


def _drop_output() -> None:
    """Drop further output, and the buffered output: writing it would fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


def _installed() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _loaded(entry: EntryPoint) -> click.Command:
    try:
        command = entry.load()
    except (Exception, SystemExit) as error:
        return _Broken(entry, line_of(error))
    if not isinstance(command, click.Command):
        return _Broken(entry, f"expected a command of click, got {command!r}")
    return command


class _Broken(click.Command):
    """Takes the place of a subcommand that can't be loaded."""

    def __init__(self, entry: EntryPoint, why: str) -> None:
        super().__init__(entry.name, short_help=f"Can't be loaded: {why}", add_help_option=False)
        self._said = f"the command {entry.name!r} ({entry.value}) can't be loaded: {why}"

    def make_context(self, *_: object, **__: object) -> click.Context:
        """Report why it can't be loaded, whatever the arguments are."""
        say(f"error: {self._said}", err=True)
        sys.exit(USAGE_ERROR)


@click.group(cls=OpenGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="asyncwait")
def asyncwait() -> None:
    """Hold operators for asynchronous I/O on streams to their specification."""


patience_option = click.option(
    "--patience",
    default=REAL_SECONDS,
    show_default=True,
    help="Seconds after which a scenario that blocks its loop counts as hung.",
)
"""Option of the commands that play on backends in processes of their own."""

jobs_option = click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Processes that play, for each backend; by default one for each core. Two backends play "
    "at a time; with 1, only one does.",
)
"""Option of the same commands."""


@contextmanager
def usage_errors() -> Generator[None]:
    """Turn errors that a user can fix into one line and exit code 2."""
    try:
        yield
    except AsyncWaitError as error:
        say(f"error: {error}", err=True)
        sys.exit(USAGE_ERROR)


def refuse_contradictions(**given: bool) -> None:
    """Refuse options that contradict each other.

    Raises:
        UsageError: more than one of them is given.
    """
    found = [name for name, is_given in given.items() if is_given]
    if len(found) > 1:
        raise click.UsageError(f"{' and '.join(found)} contradict each other: give one of them")


def told_by_quarters(tell: Callable[[int, int], object]) -> Callable[[int, int], None]:
    """Return a function that calls `tell` with the progress four times only."""
    said = -1

    def tell_now_and_then(done: int, of: int) -> None:
        nonlocal said
        quarter = 4 * done // of if of else 4
        if quarter > said:
            said = quarter
            tell(done, of)

    return tell_now_and_then


def console() -> Console:
    """Return the console for reports: as wide as the terminal, or 120 columns without one."""
    out = Console()
    return out if out.is_terminal else Console(width=120)


def say_written(files: Sequence[Path]) -> None:
    """Print the names of the written files, all in one folder."""
    names = ", ".join(file.name for file in files)
    say(f"written into {files[0].parent}: {names}")


REFERENCE = "reference-asyncio"
"""The backend whose runs are drawn, and give the outcomes of vectors."""

BOOKS = {"MBX": mailbox_rules, "CARRY": carry_rules, "HEDGE": hedge_rules}
"""Areas that are rule books of their own and not for operators, with their readers."""


def any_case(typed: str) -> str:
    """Return the id of a rule or an area in its proper case; an area's folder gives its id, too.

    An unknown id is returned as it was typed: the lookup reports it.
    """
    by_folder = {area.folder: area.id for area in areas().values()}
    apart = (rule for book in BOOKS.values() for rule in book())
    known = {*rules(), *apart, *areas(), *BOOKS}
    upper = typed.upper()
    return upper if upper in known else by_folder.get(typed.lower(), typed)
