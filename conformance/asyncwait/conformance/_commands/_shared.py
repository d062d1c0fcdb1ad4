"""What several subcommands do alike."""

import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager

import click
from rich.console import Console

from asyncwait.conformance.verdict import USAGE_ERROR, Word
from asyncwait.spec import AsyncWaitError

WORST_FIRST: tuple[Word, ...] = (
    "not conformant",
    "inconclusive",
    "conformant with exceptions",
    "conformant",
)


@contextmanager
def usage_errors() -> Generator[None]:
    """Turn errors that a user can mend into one line and exit code 2."""
    try:
        yield
    except AsyncWaitError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(USAGE_ERROR)


def console() -> Console:
    """Return where reports go: as wide as the terminal, and wide enough for a log without one."""
    out = Console()
    return out if out.is_terminal else Console(width=120)


def worst(words: Iterable[Word]) -> Word:
    """Return the worst of `words`; where there is none, nothing speaks against anybody."""
    found = set(words)
    return next(word for word in WORST_FIRST if word in {"conformant", *found})
