"""Option `verify --mailbox`: verify a task mailbox, and print the rules that it breaks."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from msgspec.structs import replace

from asyncwait.conformance._commands._group import console, told_by_quarters, usage_errors
from asyncwait.conformance.mailbox import judge_mailbox, mailbox_plans
from asyncwait.conformance.report import failure_lines, printed, say
from asyncwait.conformance.running import Broken, open_mailbox, require_trio
from asyncwait.conformance.verdict import (
    EXIT_CODES,
    Case,
    Failure,
    Tally,
    Verdict,
    causes_of,
    conclude,
    failures_of,
)
from asyncwait.conformance.verifying import shrink, trials
from asyncwait.spec import InvalidConfig, MissingExtra
from asyncwait.spec.mailbox.program import STAGES, MailboxPlan, MailboxTrace, Stage
from asyncwait.spec.rules import mailbox_rules
from asyncwait.spec.scenario import ALL_CAPABILITIES
from asyncwait.spec.texts import counted, name_of

MOST_LOST = 3
"""Programs that block or kill their process before the command stops: each costs seconds."""


def verify_a_mailbox(
    name: str, count: int, seed: int, stages: Sequence[Stage], patience: float
) -> NoReturn:
    """Verify a mailbox, print the rules that it breaks, and leave with the exit code.

    Args:
        name: module:callable, which opens a mailbox and its processor.
        count: generated programs for each loop.
        seed: of the generated programs.
        stages: the stages to play on; empty for all.
        patience: seconds after which a program that blocks its thread is ended.
    """
    with usage_errors():
        _require_loops(stages or STAGES)
        cases = tuple(
            Case(title, plan, plan, about=rules, generated=not rules)
            for title, plan, rules in mailbox_plans(count, seed, stages or STAGES)
        )
        with open_mailbox(name, patience=patience, folder=str(Path.cwd())) as play:
            tell = told_by_quarters(
                lambda done, of: say(
                    f"{name_of(name)}: {done:,} of {counted(of, 'run')} judged", err=True
                )
            )
            verdict = _verified(name, play, cases, tell)
    if stages:  # Some rules show on another stage only.
        results = tuple(each for each in verdict.results if each.status != "untested")
        verdict = replace(verdict, results=results)
    out = console()
    for line in (*failure_lines(verdict), verdict.line):
        say(line, out)
    sys.exit(EXIT_CODES[verdict.word])


def _require_loops(stages: Sequence[Stage]) -> None:
    """Refuse a loop that is not installed; say what to install, or which loops can be played.

    Raises:
        InvalidConfig: trio is wanted and not installed.
    """
    try:
        if "trio" in stages:
            require_trio()
    except MissingExtra as error:
        others = " ".join(f"--loop {stage}" for stage in STAGES if stage != "trio")
        raise InvalidConfig(f"{error}, or leave it out: {others}") from None


Play = Callable[[Iterable[MailboxPlan]], Iterator[MailboxTrace | Broken]]


def _verified(
    name: str, play: Play, cases: Sequence[Case], tell: Callable[[int, int], None]
) -> Verdict:
    rules = mailbox_rules()
    tally = Tally({}, rules)
    stopped = _judge_all(tally, play, cases, tell)
    missing = stopped or (f"{counted(len(tally.errors), 'run')} in error" if tally.errors else "")
    results = conclude(tally, rules, ALL_CAPABILITIES, {}, missing=missing)
    if not stopped:
        failed = [r for r in results if r.failures and not _is_lost(r.failures[0].trace)]
        results = shrink(results, failed, trials(play, lambda plan: plan, _failures), cut_note="")
    return Verdict(
        name,
        results,
        tally.judged,
        len(cases),
        tuple(tally.errors),
        in_error=tuple(tally.in_error),
        stopped=stopped,
        causes=causes_of(tally, results),
    )


def _judge_all(
    tally: Tally, play: Play, cases: Sequence[Case], tell: Callable[[int, int], None]
) -> str:
    """Play and judge all cases; return why some were not played, or an empty text."""
    lost = 0
    runs = zip(cases, play(case.planned for case in cases), strict=True)
    for done, (case, run) in enumerate(runs, 1):
        if isinstance(run, Broken):
            tally.fail(case, "\n".join((run.text, *printed(run.output))))
        else:
            tally.add(case, run, judge_mailbox(run))
            lost += _is_lost(run)
        tell(done, len(cases))
        if lost == MOST_LOST:
            return f"{lost} runs blocked or died; {len(cases) - done:,} not played"
    return ""


def _failures(case: Case, trace: MailboxTrace) -> Mapping[str, Failure]:
    return failures_of(case, trace, judge_mailbox(trace))


def _is_lost(trace: MailboxTrace) -> bool:
    return trace.ending.startswith(("blocks", "died"))
