"""Subcommand `verify`."""

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from asyncwait.conformance._commands._group import asyncwait
from asyncwait.conformance._commands._progress import verify_with_progress
from asyncwait.conformance._commands._shared import console, usage_errors, worst
from asyncwait.conformance._generated import Generated
from asyncwait.conformance._shrink import SHRINK_SECONDS
from asyncwait.conformance._verify import Coverage, chosen
from asyncwait.conformance.generation import FULL, QUICK
from asyncwait.conformance.replay import keep
from asyncwait.conformance.report import print_report
from asyncwait.conformance.running import (
    REAL_SECONDS,
    exec_name,
    open_backend,
    shipped_backends,
)
from asyncwait.conformance.verdict import EXIT_CODES


@asyncwait.command("verify")
@click.argument("backends", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Verify every backend that is shipped.")
@click.option(
    "--exec", "program", metavar="COMMAND", help="Verify a program that speaks JSON lines."
)
@click.option("--full", is_flag=True, help=f"{FULL} generated scenarios instead of {QUICK}.")
@click.option("--count", type=click.IntRange(1), help="Exactly so many generated scenarios.")
@click.option("--rule", "only", multiple=True, metavar="ID", help="Judge by this rule only.")
@click.option("--seed", default=0, show_default=True, help="Of the generated scenarios.")
@click.option(
    "--no-shrink",
    is_flag=True,
    help="Show failures of generated scenarios as they are. Else smaller ones are looked for, "
    f"for {SHRINK_SECONDS:g} seconds at most.",
)
@click.option(
    "--patience",
    default=REAL_SECONDS,
    show_default=True,
    help="Seconds after which a scenario that blocks its loop is ended.",
)
@click.option("--jobs", type=click.IntRange(1), help="Processes that play; else one for each core.")
def verify_command(
    backends: tuple[str, ...],
    every: bool,
    program: str | None,
    full: bool,
    count: int | None,
    only: tuple[str, ...],
    seed: int,
    no_shrink: bool,
    patience: float,
    jobs: int | None,
) -> None:
    """Play the suite on BACKENDS and judge every run by every rule.

    A backend is a name (see `asyncwait backends`) or module:callable.

    Exit code: 0 conformant (exceptions included), 1 not conformant, 2 wrong usage, 3 inconclusive.
    """
    names = (*backends, *(n for n in shipped_backends() if every and n not in backends))
    if program is not None:
        names = (*names, exec_name(program))
    if not names:
        raise click.UsageError("name a backend, or give --all; see: asyncwait backends")
    count = count or (FULL if full else QUICK)
    plan = Coverage(count, seed, only, shrinks=not no_shrink, patience=patience, jobs=jobs)
    with usage_errors(), ExitStack() as stack:
        chosen("rule", only)
        here = str(Path.cwd())
        opened = [open_backend(name, patience=patience, jobs=jobs, folder=here) for name in names]
        served = [stack.enter_context(each) for each in opened]
        generated = stack.enter_context(Generated(count, seed))
        verdicts = [verify_with_progress(backend, plan, generated) for backend in served]
    out = console()
    told = [case.planned for verdict in verdicts for case in verdict.told if case.generated]
    kept = keep(told)
    # Who reads a log may be on another machine than the folder with what is kept.
    print_report(verdicts, out, kept if out.is_terminal else frozenset())
    sys.exit(EXIT_CODES[worst(verdict.word for verdict in verdicts)])
