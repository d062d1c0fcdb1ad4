"""A report as a page of Markdown: what a build server shows beside a run."""

from collections.abc import Iterator, Sequence
from html import escape

from asyncwait.conformance.report import rule_text_lines
from asyncwait.conformance.report_files._data import Report, Result, Run
from asyncwait.conformance.report_files._markdown import LONGEST, fenced, plain, with_code
from asyncwait.conformance.report_files._merge import changes, titles
from asyncwait.conformance.report_files._words import (
    besides_lines,
    change_lines,
    evidence_lines,
)
from asyncwait.conformance.verdict import Word
from asyncwait.spec.texts import one_line

_SIGNS: dict[Word, str] = {
    "conformant": "✅",
    "conformant with expected failures": "☑️",
    "not conformant": "❌",
    "inconclusive": "❔",
}

DRAWN = 5
"""Failing rules of each backend whose evidence is drawn; the others are named."""

MOST_BYTES = 900_000
"""Of the page: GitHub shows nothing of one above 1 MiB."""


def to_summary(report: Report) -> str:
    """Return the page."""
    head = ["# Conformance of asynchronous stream operators", ""]
    parts = [*head, *_verdicts(report), *_areas(report), *_changes(report)]
    length = sum(map(_size, parts))
    for run, title in zip(report.runs, titles(report), strict=True):
        if run not in report.newest:
            continue
        for block in _failures(report, run, title):
            length += sum(map(_size, block))
            if length > MOST_BYTES:
                return "\n".join(
                    [*parts, "More is in the log, and in `report.jsonl` if that was asked for.", ""]
                )
            parts += block
    return "\n".join(parts)


def _size(line: str) -> int:
    return len(line.encode("utf-8", "replace")) + 1


def _table(*rows: Sequence[str]) -> Iterator[str]:
    first, *others = [f"| {' | '.join(map(plain, row))} |" for row in rows]
    yield first
    yield f"|{' --- |' * len(rows[0])}"
    yield from others
    yield ""


def _verdicts(report: Report) -> Iterator[str]:
    rows = [("backend", "verdict", "rules passed / applicable", "scenarios", "seconds")]
    for run, title in zip(report.runs, titles(report), strict=True):
        judged = f"{run.footer.scenarios:,}" if run.footer else "unknown"
        seconds = f"{run.footer.seconds:.1f}" if run.footer else "unknown"
        passed = f"{run.count('pass')}/{run.applicable}"
        rows.append((title, f"{_SIGNS[run.word]} {run.claim}", passed, judged, seconds))
    yield from _table(*rows)
    if report.doubt:
        yield f"**Inconclusive:** {plain(report.doubt)}"
        yield ""
    for run in report.runs:
        yield from _remarks(run)


def _remarks(run: Run) -> Iterator[str]:
    """Yield the verdict in one line where there is more to it than green, and what went wrong."""
    if run.word != "conformant":
        yield f"- {plain(run.line)}"
    for error in run.footer.errors if run.footer else ():
        yield f"  - error: {plain(error)}"
    for line in besides_lines(run):
        yield f"- {plain(run.name)}: {plain(line)}"
    yield ""


def _areas(report: Report) -> Iterator[str]:
    areas = {rule.area: rule.chapter for rule in report.rules}
    rows = [("rules passed / applicable", *titles(report))]
    rows += [
        (f"{area} {chapter}", *(_passed(report, run, area) for run in report.runs))
        for area, chapter in areas.items()
    ]
    yield from _table(*rows)


def _passed(report: Report, run: Run, area: str) -> str:
    results = [r for r in run.results if report.by_rule[r.rule].area == area]
    applicable = [result for result in results if result.status != "not-applicable"]
    passed = sum(result.status == "pass" for result in applicable)
    return f"{passed}/{len(applicable)}" if applicable else "-"


def _changes(report: Report) -> Iterator[str]:
    for changed in changes(report):
        yield f"## {plain(changed.after.name)}: what changed"
        yield ""
        for line in change_lines(changed):
            yield f"- {plain(line)}"
        yield ""


def _failures(report: Report, run: Run, title: str) -> Iterator[list[str]]:
    """Yield a block of lines for each failing rule of a run."""
    if run.failed:
        yield [f"## {plain(title)}: what is broken", ""]
    told, left = run.told(DRAWN)
    for result in told:
        yield list(_failure(report, run, result))
    if left:
        yield [f"Also broken: {', '.join(plain(result.rule) for result in left)}.", ""]


def _failure(report: Report, run: Run, result: Result) -> Iterator[str]:
    rule = report.by_rule[result.rule]
    yield f"### {plain(rule.id)} {plain(rule.title)}"
    yield ""
    for line in rule_text_lines(rule.level, rule.sentence, rule.why, rule.hint):
        yield with_code(f"{line[:1].upper()}{line[1:]}")
        yield ""
    if result.note:
        yield f"{result.status}: {plain(result.note)}"
        yield ""
    if explained := ", ".join(map(plain, result.explains)):
        yield f"Broken only where {plain(rule.id)}, or a rule above it, is broken too: {explained}."
        yield ""
    for piece in result.evidence[:1]:
        said = one_line(" ".join(piece.text.split()), LONGEST)
        yield f"<details><summary>{escape(said)}</summary>"
        yield ""
        yield from fenced(evidence_lines(run.played[piece.played], piece))
        yield ""
        yield "</details>"
        yield ""
