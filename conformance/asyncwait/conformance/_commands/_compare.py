"""Subcommand `compare`."""

import shlex
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from asyncwait.conformance._commands._group import asyncwait
from asyncwait.conformance._commands._shared import (
    console,
    jobs_option,
    patience_option,
    told_by_quarters,
    usage_errors,
)
from asyncwait.conformance._commands._verify import MOST_GENERATED
from asyncwait.conformance._comparing import SHRINK_SECONDS, Comparing, Comparison, Pair, Side
from asyncwait.conformance._find_scenarios import keep
from asyncwait.conformance._guard import say
from asyncwait.conformance._words import counted
from asyncwait.conformance.evidence import describe_scenario
from asyncwait.conformance.generation import QUICK
from asyncwait.conformance.report import draw, excerpt
from asyncwait.conformance.running import open_backend
from asyncwait.spec.texts import name_of

_SHOWN = 5
"""Number of errors shown, and of rules that an unexplained pair breaks."""


@asyncwait.command("compare")
@click.argument("first")
@click.argument("second")
@click.option(
    "--count",
    type=click.IntRange(0, MOST_GENERATED),
    default=QUICK,
    show_default=True,
    help="Number of generated scenarios, besides all examples.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of the generated scenarios.")
@click.option(
    "--no-shrink",
    is_flag=True,
    help="Show the first unexplained difference as it is. The command otherwise looks for "
    f"a smaller scenario, for {SHRINK_SECONDS:g} seconds at most.",
)
@patience_option
@jobs_option
def compare_command(
    first: str,
    second: str,
    count: int,
    seed: int,
    no_shrink: bool,
    patience: float,
    jobs: int | None,
) -> None:
    """Play the same scenarios on two backends, and say how their runs differ.

    Where both keep all rules, a difference is a tie: the rules leave it open. Where one breaks a
    rule as it is known to (see its expected failures), that explains the difference.
    Anything else is unexplained; the first such pair is made smaller and drawn.

    Exit code: 0 nothing is unexplained, 1 something is, 2 wrong usage, 3 not all was compared.
    """
    folder = str(Path.cwd())
    with (
        usage_errors(),
        open_backend(first, patience=patience, jobs=jobs, folder=folder) as one,
        open_backend(second, patience=patience, jobs=jobs, folder=folder) as other,
    ):
        comparing = Comparing(one, other)
        compared = _with_progress(comparing, count, seed)
        if compared.unexplained and not no_shrink:
            compared.unexplained[0] = comparing.smallest(compared.unexplained[0])
    _print(compared, console())
    sys.exit(compared.exit_code)


def _with_progress(comparing: Comparing, count: int, seed: int) -> Comparison:
    err = Console(stderr=True)
    if err.is_terminal:
        columns = (TextColumn("compared"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=err) as bar:
            task = bar.add_task("compared", total=None)
            return comparing.run(
                count, seed, lambda done, of: bar.update(task, completed=done, total=of)
            )

    def tell(done: int, of: int) -> None:
        say(f"{done:,} of {counted(of, 'scenario')} compared", err=True)

    return comparing.run(count, seed, told_by_quarters(tell))


def _print(compared: Comparison, out: Console) -> None:
    for pair in compared.unexplained[:1]:
        for line in _drawn(pair, compared.sides):
            say(line, out)
        keep([pair.case.planned for pair in compared.unexplained if pair.case.generated])
    for error in compared.errors[:_SHOWN]:
        say(f"error: {error}", out, style="bold magenta")
    for count, departure in compared.departures():
        say(f"may explain {counted(count, 'scenario')}: {departure}", out)
    say(_line(compared), out)


def _drawn(pair: Pair, sides: tuple[Side, Side]) -> Iterator[str]:
    """Yield an unexplained pair: the scenario, the broken rules, and both timelines."""
    yield f"unexplained: {pair.case.label}"
    for why in islice(pair.why(sides), _SHOWN):
        yield f"  {name_of(why)}"
    yield from (f"  {line}" for line in excerpt(describe_scenario(pair.case.scenario)))
    for side, run, mark in zip(sides, pair.runs, pair.marks(sides), strict=True):
        yield f"  {name_of(side.name)}"
        yield from (f"  {line}" for line in excerpt(draw(pair.case.scenario, run, mark)))
    for side in sides:
        yield f"  again: asyncwait play {shlex.quote(side.name)} {pair.case.id}"
    yield ""


def _line(compared: Comparison) -> str:
    kinds, names = compared.kinds, ", ".join(name_of(side.name) for side in compared.sides)
    parts = [
        f"{kinds['equal']:,} equal",
        f"{kinds['tie']:,} with ties only",
        f"{kinds['explained']:,} explained by departures",
        f"{kinds['unexplained']:,} unexplained",
        *([f"{kinds['in error']:,} in error"] if kinds["in error"] else []),
    ]
    return f"{names}: {counted(sum(kinds.values()), 'scenario')}: {', '.join(parts)}"
