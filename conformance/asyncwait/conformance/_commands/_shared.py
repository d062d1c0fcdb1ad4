"""What several subcommands do alike."""

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console

from asyncwait.conformance.verdict import USAGE_ERROR
from asyncwait.spec import AsyncWaitError


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


def say_written(files: Sequence[Path]) -> None:
    """Say which files there are now, all in one folder."""
    names = ", ".join(file.name for file in files)
    click.echo(f"written into {files[0].parent}: {names}")
