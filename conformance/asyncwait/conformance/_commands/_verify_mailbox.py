"""Subcommand `verify-mailbox`."""

import sys
from collections.abc import Callable
from pathlib import Path

import click

from asyncwait.conformance._commands._group import asyncwait
from asyncwait.conformance._commands._shared import console, usage_errors
from asyncwait.conformance._counted import counted
from asyncwait.conformance._say import say
from asyncwait.conformance.mailbox import (
    GENERATED,
    STAGES,
    MailboxResult,
    MailboxVerdict,
    ServedMailbox,
    Stage,
    mailbox_cases,
    notation_of,
    trace_lines,
    verify_mailbox,
)
from asyncwait.conformance.running import REAL_SECONDS
from asyncwait.conformance.verdict import EXIT_CODES
from asyncwait.spec.texts import name_of

MOST_GENERATED = 1_000_000

MOST_SHOWN = 5
"""Broken rules whose program and trace are shown; of the others only the sentence."""


@asyncwait.command("verify-mailbox")
@click.argument("mailbox")
@click.option(
    "--count",
    type=click.IntRange(0, MOST_GENERATED),
    default=GENERATED,
    show_default=True,
    help="Generated programs for each loop.",
)
@click.option("--seed", default=0, show_default=True, help="Of the generated programs.")
@click.option(
    "--loop",
    "stages",
    multiple=True,
    type=click.Choice(STAGES),
    help="Where to play: asyncio or trio, with senders in tasks, or threads, with senders in "
    "threads beside asyncio. May be given more than once; else all of them.",
)
@click.option(
    "--patience",
    default=REAL_SECONDS,
    show_default=True,
    help="Seconds after which a program that blocks its thread is ended.",
)
def verify_mailbox_command(
    mailbox: str, count: int, seed: int, stages: tuple[Stage, ...], patience: float
) -> None:
    """Play programs on MAILBOX and judge every run by every rule of MBX.

    MAILBOX is module:callable; called with a loop and a default action it opens a mailbox and its
    processor: see asyncwait.spec.mailbox.OpenProcessor. That of the reference is
    asyncwait.reference:MailboxProcessor.

    Exit code: 0 conformant, 1 not conformant, 2 wrong usage, 3 inconclusive.
    """
    cases = tuple(mailbox_cases(count, seed, stages or STAGES))
    with usage_errors(), ServedMailbox(mailbox, str(Path.cwd()), patience) as served:
        verdict = verify_mailbox(served, mailbox, cases, _teller(mailbox))
    _report(verdict)
    sys.exit(EXIT_CODES[verdict.word])


def _teller(name: str) -> Callable[[int, int], None]:
    """Return what says now and then how far it is."""
    said = -1

    def tell(done: int, of: int) -> None:
        nonlocal said
        quarter = 4 * done // of if of else 4
        if quarter > said:
            said = quarter
            say(f"{name_of(name)}: {done:,} of {counted(of, 'run')} judged", err=True)

    return tell


def _report(verdict: MailboxVerdict) -> None:
    """Print what is broken, then what was not judged, then the verdict."""
    out = console()
    for number, result in enumerate(verdict.failed):
        for line in _failure_lines(result, is_whole=number < MOST_SHOWN):
            say(line, out)
    for result in verdict.results:
        if result.status == "error":
            say(f"{result.rule.id} error: {result.note}", out)
    if untested := [result.rule.id for result in verdict.results if result.status == "untested"]:
        say(f"untested: {', '.join(untested)}", out)
    for error in verdict.errors[:MOST_SHOWN]:
        say(f"error: {error}", out)
    say(verdict.line, out)


def _failure_lines(result: MailboxResult, *, is_whole: bool) -> list[str]:
    rule, failure = result.rule, result.failure
    assert failure is not None
    level = "" if rule.level == "MUST" else f" ({rule.level})"
    lines = [
        f"{rule.id} broken{level}: {rule.sentence}",
        f"  in {counted(result.broken, 'run')}; {failure.case.label}: {failure.violation.text}",
    ]
    if is_whole:
        lines += [f"  {line}" for line in notation_of(failure.case.program)]
        lines += [f"  {line}" for line in trace_lines(failure.trace, failure.violation.at)]
    return [*lines, ""]
