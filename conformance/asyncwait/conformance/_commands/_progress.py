"""Says how far a verification is: bars on a terminal, lines in a log."""

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from asyncwait.conformance._shrink import SHRINK_SECONDS
from asyncwait.conformance._verify import Coverage, Stage, verify_to_tell
from asyncwait.conformance.expectations import Played, Terms
from asyncwait.conformance.running import Served

SHRINKING = f"shrinking failures, for {SHRINK_SECONDS:g} s at most"


def verify_with_progress(backend: Served, plan: Coverage, terms: Terms) -> Played:
    console = Console(stderr=True)
    if not console.is_terminal:
        return _verify_with_lines(backend, plan, terms)
    text = TextColumn("{task.description:18}")
    columns = (text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        bars: dict[Stage, TaskID] = {"judged": progress.add_task(backend.name, total=None)}

        def show(stage: Stage, done: int, of: int) -> None:
            if of and stage not in bars:
                bars[stage] = progress.add_task(SHRINKING)
            if of:
                progress.update(bars[stage], completed=done, total=of)

        return verify_to_tell(backend, plan, show, terms=terms)


def _verify_with_lines(backend: Served, plan: Coverage, terms: Terms) -> Played:
    """Say something now and then where there is no terminal to draw on."""
    said = -1

    def say(stage: Stage, done: int, of: int) -> None:
        nonlocal said
        quarter = 4 * done // of if of else 4
        if stage == "judged" and quarter > said:
            said = quarter
            click.echo(f"{backend.name}: {done:,} of {of:,} scenarios judged", err=True)
        elif stage == "shrunk" and of and not done:
            click.echo(f"{backend.name}: {SHRINKING}: of {of} rules", err=True)

    return verify_to_tell(backend, plan, say, terms=terms)
