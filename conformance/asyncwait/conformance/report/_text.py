"""The words of every report: on a rule, on a run that breaks it, and on how to play it again.

A timeline shows as much as a person reads: its start, the cause of the violation, its end. A
scenario of thousands of elements that can't be shrunk would bury everything else.
"""

import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from asyncwait.conformance.evidence import describe_scenario
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.report._model import (
    Changed,
    Evidence,
    Played,
    Report,
    Result,
    RuleText,
    Run,
)
from asyncwait.conformance.timeline import MARK, draw
from asyncwait.conformance.verdict import Case
from asyncwait.spec.rules import Rule
from asyncwait.spec.scenario import Scenario, Trace, scenarios_to_json
from asyncwait.spec.texts import block, counted, json_text, name_of, shortened

LONGEST_JSON = 4_000
"""Longest scenario in a report, in characters; a longer scenario would bury it."""

ADAPTED = "adapted: played without what the backend does not declare"
"""The line about a scenario that was changed before it was played."""

_AS_JSON = "--json - writes the scenario as JSON"


def hint(*, is_program: bool) -> str:
    """Return the further uses of `asyncwait play`; a program has a process of its own."""
    if is_program:
        return f"asyncwait play {_AS_JSON}"
    here = "asyncwait play --here plays in the process of the command: print and breakpoint() work"
    return f"{here}; --trace prints each event, {_AS_JSON}"


def again_lines(backend: str, case: Case, kept: AbstractSet[str]) -> Iterator[str]:
    """Yield the command that plays a case again.

    The id is enough where the scenario is cached under it, and for an example anywhere. For
    other scenarios the JSON follows: a log may be read on another machine.
    """
    yield f"again: {again_here(backend, case)}"
    if not case.generated or case.id in kept:
        return
    if anywhere := again_anywhere(backend, case):
        yield f"anywhere: {anywhere}"
    else:
        yield f"anywhere: verify again, then as above: its JSON has {len(_json(case)):,} characters"


def again_here(backend: str, case: Case) -> str:
    """Return the command that plays a case again by its id."""
    return f"asyncwait play {shlex.quote(backend)} {case.id}"


def again_anywhere(backend: str, case: Case) -> str:
    """Return the command that plays a case again on any machine; empty if it would be too long.

    An example has its id everywhere.
    """
    if not case.generated:
        return again_here(backend, case)
    text = shlex.quote(_json(case))
    return f"asyncwait play {shlex.quote(backend)} {text}" if len(text) <= LONGEST_JSON else ""


def _json(case: Case) -> str:
    return json_text(scenarios_to_json((case.planned,)))


LINES = 20
"""Lines of a traceback (the first) and of printed output (the last), each."""


def besides(trace: Trace) -> Iterator[str]:
    """Yield the origin of unexpected errors, and the last lines of printed output."""
    errors = dict.fromkeys(leg.ending.traceback for leg in trace.legs if leg.ending.traceback)
    for error in errors:
        yield "raised by the operator, innermost place first:"
        yield from (f"  {line}" for line in block("\n".join(error.splitlines()[:LINES])))
    yield from printed(trace.output)


def printed(output: str) -> Iterator[str]:
    """Yield the last lines that a run has printed."""
    lines = output.rstrip().splitlines()
    if lines:
        yield "printed:" if len(lines) <= LINES else f"printed, the last {LINES} lines:"
    yield from (f"  {line}" for line in block("\n".join(lines[-LINES:])))


FIRST_LINES, LINES_BEFORE, LINES_AFTER, LAST_LINES = 8, 30, 6, 2
"""Lines shown: from the beginning, before the violation, behind it, and from the end."""

GAP = "   ...  "

LONGEST_LINE = 240
"""Longest line in characters: a snapshot may hold hundreds of elements."""


def excerpt(lines: Sequence[str]) -> Iterator[str]:
    """Yield `lines` of a timeline or a plan, or the important ones with the gaps counted."""
    marked = next((n for n, line in enumerate(lines) if MARK in line), len(lines))
    ends = {*range(FIRST_LINES), *range(len(lines) - LAST_LINES, len(lines))}
    around = range(marked - LINES_BEFORE, marked + LINES_AFTER + 1)
    shown = [n for n in range(len(lines)) if n in ends or n in around]
    for last, number in pairwise([-1, *shown]):
        if gap := number - last - 1:
            before = shortened(lines[number - 1], LONGEST_LINE)
            yield f"{GAP}({gap:,} more)" if gap > 1 else before
        yield shortened(lines[number], LONGEST_LINE)


DRAWN, LONGEST_DRAWN = 200, 300
"""Lines of a drawing in a file, and characters of each."""


def finding_lines(
    rule: Rule | RuleText,
    status: str,
    *,
    broken: int = 0,
    notes: Iterable[str] = (),
    drawn: Iterable[str] = (),
    explains: Collection[str] = (),
) -> Iterator[str]:
    """Yield the findings on a rule: its text, its first violation, and what it explains."""
    where = f" in {counted(broken, 'scenario')}" if broken else ""
    yield f"{name_of(rule.id)} {rule.title}: {status}{where}"
    yield f"  {rule.level}: {rule.sentence}"
    yield f"  why it matters: {' '.join(rule.why.split())}"
    if rule.hint:
        yield f"  if it fails: {rule.hint}"
    yield from (f"  {note}" for note in notes)
    yield from (f"  {line}".rstrip() for line in drawn)
    if explains:
        others = ", ".join(explains)
        yield f"  broken only where {rule.id}, or a rule above it, is broken too: {others}"


def result_lines(report: Report, run: Run, result: Result) -> Iterator[str]:
    """Yield the findings on a rule: its text, its first violation, and its causes."""
    pieces = result.evidence[:1]
    yield from finding_lines(
        report.by_rule[result.rule],
        result.status,
        broken=result.broken,
        notes=[f"note: {result.note}"] if result.note else [],
        drawn=[line for each in pieces for line in evidence_lines(run.played[each.played], each)],
        explains=result.explains,
    )
    if cause := result.explained_by:
        only = "broken only where that, or a cause above it, is"
        yield f"  most likely follows from {cause}: {only}"


def run_lines(
    scenario: Scenario, trace: Trace, violation: Violation, *, is_adapted: bool
) -> Iterator[str]:
    """Yield scenario, timeline and output of a run, as much as a person reads."""
    if is_adapted:
        yield ADAPTED
    yield from excerpt(describe_scenario(scenario))
    yield from excerpt(draw(scenario, trace, violation))
    yield from besides(trace)


def also_line(rule: str, broken: int, text: str, explains: Iterable[str] = ()) -> str:
    """Return one line on a rule that is not drawn: its number of failures, and the first.

    Args:
        rule: its id.
        broken: number of scenarios that break it; 0 if no scenario shows it.
        text: of the first violation, or of a note.
        explains: rules that are broken only with it.
    """
    where = f" in {counted(broken, 'scenario')}" if broken else ""
    also = f"; with it {', '.join(explains)}" if explains else ""
    return f"{rule}{where}: {text}{also}"


def also_lines(results: Iterable[Result]) -> Iterator[str]:
    """Yield a line for each result that is not drawn."""
    for each in results:
        text = each.evidence[0].text if each.evidence else each.note or each.status
        yield also_line(each.rule, each.broken, text, each.explains)


def besides_lines(run: Run) -> Iterator[str]:
    """Yield lines on outdated expected failures, and on rules that are too new to decide."""
    if (footer := run.footer) is None:
        return
    for rule, why in footer.stale.items():
        yield f"expected failure that matches nothing: {rule}: {why}"
    for rule, day in footer.expired.items():
        yield f"expected failure that ended on {day}: {rule}"
    if footer.newer:
        newer = ", ".join(footer.newer)
        yield f"newer than spec {run.header.spec}, so they do not decide: {newer}"


def evidence_lines(played: Played, piece: Evidence) -> Iterator[str]:
    """Yield one scenario in which a rule was broken, and the command that plays it again."""
    yield f"{played.label}: {piece.text} (at {piece.at:g} ms)"
    yield from timeline_lines(played, piece)
    if played.left_out:
        yield f"left out: {played.left_out}"
    if played.replay:
        yield f"again: {played.replay}"
    if played.anywhere not in {"", played.replay}:
        yield f"anywhere: {played.anywhere}"


def timeline_lines(played: Played, piece: Evidence) -> Iterator[str]:
    """Yield scenario and timeline, as much as a person reads."""
    if played.as_played is None or played.trace is None:
        yield from block("\n".join(played.drawn), DRAWN, LONGEST_DRAWN)
        return
    is_adapted = played.scenario is not None
    yield from run_lines(played.as_played, played.trace, piece.violation, is_adapted=is_adapted)


def change_lines(changed: Changed) -> Iterator[str]:
    """Yield the changes between two runs of a backend, a line for each."""
    before, after = changed.before, changed.after
    yield f"from {before.header.created} to {after.header.created}"
    if before.claim != after.claim:
        yield f"verdict: {before.claim} -> {after.claim}"
    for rule, was, now in changed.rules:
        yield f"{name_of(rule)}: {was} -> {now}"
    if before.footer and after.footer and before.footer.scenarios != after.footer.scenarios:
        yield f"scenarios: {before.footer.scenarios:,} -> {after.footer.scenarios:,}"
    if not changed.rules and before.claim == after.claim:
        yield "no rule and no verdict"
