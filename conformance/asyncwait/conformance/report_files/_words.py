"""What there is to say of a rule in a run: the same words wherever it is told."""

from collections.abc import Iterator

from asyncwait.conformance._counted import counted
from asyncwait.conformance.report import (
    besides,
    describe_scenario,
    draw,
    excerpt,
    rule_text_lines,
)
from asyncwait.conformance.report_files._data import Evidence, Played, Report, Result, Run
from asyncwait.conformance.report_files._merge import Changed
from asyncwait.spec.texts import block, name_of

DRAWN, LONGEST = 200, 300
"""Lines of a drawing that stands in a file, and characters of each."""


def result_lines(report: Report, run: Run, result: Result) -> Iterator[str]:
    """Yield what was found of a rule: what it says, where it was broken, and what to do.

    Args:
        report: it is from.
        run: the same.
        result: that of the rule.
    """
    rule = report.by_rule[result.rule]
    where = f" in {counted(result.broken, 'scenario')}" if result.broken else ""
    yield f"{name_of(rule.id)} {rule.title}: {result.status}{where}"
    for line in rule_text_lines(rule.level, rule.sentence, rule.why, rule.hint):
        yield f"  {line}"
    if result.note:
        yield f"  note: {result.note}"
    for piece in result.evidence[:1]:
        for line in evidence_lines(run.played[piece.played], piece):
            yield f"  {line}".rstrip()
    if result.explains:
        explained = ", ".join(result.explains)
        yield f"  broken only where {rule.id}, or a rule above it, is broken too: {explained}"
    if result.explained_by:
        yield f"  {follows_line(result)}"


def follows_line(result: Result) -> str:
    """Return what a broken rule most likely follows from."""
    cause = result.explained_by
    return f"most likely follows from {cause}: broken only where that, or a cause above it, is"


def besides_lines(run: Run) -> Iterator[str]:
    """Yield what there is to say of expected failures, and of rules that are too new to decide."""
    if (footer := run.footer) is None:
        return
    if footer.kinds:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(footer.kinds.items()))
        yield f"broken as expected, by kind of expected failure: {counts}"
    for rule, why in footer.stale.items():
        yield f"expected failure that matches nothing: {rule}: {why}"
    for rule, day in footer.expired.items():
        yield f"expected failure that ended on {day}: {rule}"
    if footer.newer:
        newer = ", ".join(footer.newer)
        yield f"newer than spec {run.header.spec}, so they do not decide: {newer}"


def evidence_lines(played: Played, piece: Evidence) -> Iterator[str]:
    """Yield one scenario in which a rule was broken, and how it is played again.

    Args:
        played: the scenario.
        piece: where in it the rule was broken.
    """
    yield f"{played.label}: {piece.text} (at {piece.at:g} ms)"
    yield from timeline_lines(played, piece)
    if played.left_out:
        yield f"left out: {played.left_out}"
    if played.replay:
        yield f"again: {played.replay}"
    if played.anywhere not in {"", played.replay}:
        yield f"anywhere: {played.anywhere}"


def timeline_lines(played: Played, piece: Evidence) -> Iterator[str]:
    """Yield scenario and timeline, as much of it as a person reads."""
    if played.as_played is None or played.trace is None:
        yield from block("\n".join(played.drawn), DRAWN, LONGEST)
        return
    yield from excerpt(describe_scenario(played.as_played))
    yield from excerpt(draw(played.as_played, played.trace, piece.violation))
    yield from besides(played.trace)


def change_lines(changed: Changed) -> Iterator[str]:
    """Yield what changed between two runs of a backend, a line for each."""
    before, after = changed.before, changed.after
    yield f"from {before.header.created} to {after.header.created}"
    if before.claim != after.claim:
        yield f"verdict: {before.claim} -> {after.claim}"
    for rule, was, now in changed.rules:
        yield f"{name_of(rule)}: {was} -> {now}"
    if before.footer and after.footer and before.footer.scenarios != after.footer.scenarios:
        yield f"scenarios: {before.footer.scenarios:,} -> {after.footer.scenarios:,}"
    if changed.is_nothing:
        yield "no rule and no verdict"
