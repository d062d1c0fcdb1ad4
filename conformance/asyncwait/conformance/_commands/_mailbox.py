"""What `verify --mailbox` does: verify a task mailbox, and print what it breaks."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from asyncwait.conformance._commands._shared import console, told_by_quarters, usage_errors
from asyncwait.conformance._guard import say
from asyncwait.conformance._words import counted
from asyncwait.conformance.mailbox import (
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
from asyncwait.conformance.running import require_trio
from asyncwait.conformance.verdict import EXIT_CODES
from asyncwait.spec import InvalidConfig, MissingExtra
from asyncwait.spec.texts import name_of

MOST_SHOWN = 5
"""Broken rules whose program and trace are shown; of the others only the sentence."""


def verify_a_mailbox(
    name: str, count: int, seed: int, stages: Sequence[Stage], patience: float
) -> NoReturn:
    """Verify a mailbox, print what it breaks, and leave with the exit code.

    Args:
        name: module:callable, which opens a mailbox and its processor.
        count: generated programs for each loop.
        seed: of the generated programs.
        stages: where to play; everywhere if there are none.
        patience: seconds after which a program that blocks its thread is ended.
    """
    with usage_errors():
        _require_loops(stages or STAGES)
    cases = tuple(mailbox_cases(count, seed, stages or STAGES))
    with usage_errors(), ServedMailbox(name, str(Path.cwd()), patience) as served:
        tell = told_by_quarters(lambda done, of: say(_judged_so_far(name, done, of), err=True))
        verdict = verify_mailbox(served, name, cases, tell)
    _report_of_mailbox(verdict)
    sys.exit(EXIT_CODES[verdict.word])


def _require_loops(stages: Sequence[Stage]) -> None:
    """Refuse to play where a loop is not installed; say what to install, or what can be played.

    Raises:
        InvalidConfig: it is not.
    """
    try:
        if "trio" in stages:
            require_trio()
    except MissingExtra as error:
        others = " ".join(f"--loop {stage}" for stage in STAGES if stage != "trio")
        raise InvalidConfig(f"{error}, or leave it out: {others}") from None


def _judged_so_far(name: str, done: int, of: int) -> str:
    return f"{name_of(name)}: {done:,} of {counted(of, 'run')} judged"


def _report_of_mailbox(verdict: MailboxVerdict) -> None:
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
