"""Prints lines that we have composed, whatever texts of others are in them: see `spec.texts`."""

import click
from rich.console import Console
from rich.text import Text

from asyncwait.spec.texts import lines_of


def say(line: str, out: Console | None = None, *, style: str = "", err: bool = False) -> None:
    """Print a line of ours.

    Args:
        line: that begins with words of ours.
        out: where to; None for standard output, or standard error.
        style: of rich.
        err: standard error.
    """
    for each in lines_of(line):
        if out is None:
            click.echo(each, err=err)
        else:
            out.print(Text(each, style=style), soft_wrap=True)
