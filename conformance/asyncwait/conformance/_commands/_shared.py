"""Parts that several subcommands share."""

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console

from asyncwait.conformance._guard import say
from asyncwait.conformance.running import REAL_SECONDS
from asyncwait.conformance.verdict import USAGE_ERROR
from asyncwait.spec import AsyncWaitError
from asyncwait.spec.rules import areas, carry_rules, hedge_rules, mailbox_rules, rules

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
