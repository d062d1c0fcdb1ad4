"""Subcommand `verify`."""

import sys

import click

from asyncwait.conformance._commands._group import asyncwait
from asyncwait.conformance._commands._progress import verify_with_progress
from asyncwait.conformance._commands._shared import console, usage_errors, worst
from asyncwait.conformance._shrink import SHRINK_SECONDS
from asyncwait.conformance._verify import Coverage
from asyncwait.conformance.generation import FULL, QUICK
from asyncwait.conformance.report import print_report
from asyncwait.conformance.running import (
    REAL_SECONDS,
    exec_reference,
    load_backend,
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
) -> None:
    """Play the suite on BACKENDS and judge every run by every rule.

    A backend is a name (see `asyncwait backends`) or module:callable.

    Exit code: 0 conformant (exceptions included), 1 not conformant, 2 wrong usage, 3 inconclusive.
    """
    names = (*backends, *(n for n in shipped_backends() if every and n not in backends))
    if program is not None:
        names = (*names, exec_reference(program))
    if not names:
        raise click.UsageError("name a backend, or give --all; see: asyncwait backends")
    plan = Coverage(
        count or (FULL if full else QUICK), seed, only, shrinks=not no_shrink, patience=patience
    )
    with usage_errors():
        for name in names:
            load_backend(name)
        verdicts = [verify_with_progress(name, plan) for name in names]
    print_report(verdicts, console())
    sys.exit(EXIT_CODES[worst(verdict.word for verdict in verdicts)])
