"""A report in Markdown, as a page and as a row; and in one word, as a badge that shields.io draws.

Markup in foreign texts is escaped.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

import msgspec

from asyncwait.conformance.report._model import Report, Result, Run, changes, count_of, titles
from asyncwait.conformance.report._text import (
    also_lines,
    besides_lines,
    change_lines,
    evidence_lines,
    finding_lines,
)
from asyncwait.conformance.verdict import Word, passed_of
from asyncwait.spec.texts import counted, lines_of, one_line

_SPECIAL = re.compile(r"[\\`*_~\[\]<>&|#$@]|:(?=//)|(?<=www)\.|^[-+=]")
_NUMBER = re.compile(r"^(\d+)([.)])(?= )")
LONGEST = 2_000
"""Longest text in a sentence or a cell, in characters."""

_FENCE = re.compile("`{3,}")


def plain(text: str) -> str:
    """Return `text` in one line, for a sentence or the cell of a table."""
    said = one_line(" ".join(text.split()), LONGEST)
    return _NUMBER.sub(r"\1\\\2", _SPECIAL.sub(r"\\\g<0>", said))


def with_code(text: str) -> str:
    """Return a text of a rule in one line: code between backticks unchanged, the rest escaped."""
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:
        return plain(text)
    return "".join(
        f"`{one_line(part, LONGEST)}`" if number % 2 and part.strip() else _spaced(part)
        for number, part in enumerate(parts)
    )


def _spaced(part: str) -> str:
    before, after = " " * part.startswith(" "), " " * part.endswith(" ")
    return f"{before}{plain(part)}{after}" if part.strip() else part


def fenced(given: Iterable[str]) -> list[str]:
    """Return our lines as a block of code, whatever fences they contain."""
    lines = [each for line in given for each in lines_of(line)]
    longest = max((len(f) for line in lines for f in _FENCE.findall(line)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}text", *lines, fence]


_SIGNS: dict[Word, str] = {
    "conformant": "✅",
    "conformant with expected failures": "☑️",
    "not conformant": "❌",
    "inconclusive": "❔",
}

DRAWN = 5
"""Failing rules of each backend whose evidence is drawn; the others are named."""

MOST_BYTES = 900_000
"""Largest page, in bytes: GitHub shows no page above 1 MiB."""


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
    """Yield the verdict in one line if it is not plain green, and the errors."""
    if run.word != "conformant":
        yield f"- {plain(run.line)}"
    for error in run.footer.errors if run.footer else ():
        yield f"  - error: {plain(error)}"
    for line in besides_lines(run):
        yield f"- {plain(run.name)}: {plain(line)}"
    yield ""


def _areas(report: Report) -> Iterator[str]:
    areas = {rule.area: rule.chapter for rule in report.rules}
    rows, runs = [("rules passed / applicable", *titles(report))], report.runs
    for area, chapter in areas.items():
        found = [[r for r in run.results if report.by_rule[r.rule].area == area] for run in runs]
        passed = (passed_of(result.status for result in results) for results in found)
        rows.append((f"{area} {chapter}", *passed))
    yield from _table(*rows)


def _changes(report: Report) -> Iterator[str]:
    for changed in changes(report):
        yield f"## {plain(changed.after.name)}: what changed"
        yield ""
        for line in change_lines(changed):
            yield f"- {plain(line)}"
        yield ""


def _failures(report: Report, run: Run, title: str) -> Iterator[list[str]]:
    if run.failed:
        yield [f"## {plain(title)}: what is broken", ""]
    told, left = run.told(DRAWN)
    for result in told:
        yield list(_failure(report, run, result))
    if left:
        yield ["Also broken:", "", *(f"- {plain(line)}" for line in also_lines(left)), ""]


def _failure(report: Report, run: Run, result: Result) -> Iterator[str]:
    rule = report.by_rule[result.rule]
    yield f"### {plain(rule.id)} {plain(rule.title)}"
    yield ""
    for line in [*finding_lines(rule, result.status)][1:]:
        yield with_code(f"{line[2:3].upper()}{line[3:]}")
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


_COLORS: Mapping[Word, str] = {
    "conformant": "brightgreen",
    "conformant with expected failures": "yellow",
    "not conformant": "red",
    "inconclusive": "lightgrey",
}

LONGEST_BADGE = 40
"""Longest badge that names its profiles, in characters; a longer badge counts them."""

_COLUMNS = ("operator", "verdict", "rules passed / applicable", "scenarios", "asyncwait", "when")


def to_badge(report: Report) -> bytes:
    """Return the badge: the worst verdict, and its scope."""
    badge = {
        "schemaVersion": 1,
        "label": "asyncwait",
        "message": _message(report),
        "color": "lightgrey" if _is_partial(report) else _COLORS[report.word],
    }
    return msgspec.json.encode(badge) + b"\n"


def _message(report: Report) -> str:
    if len(report.newest) == 1 and report.word == report.newest[0].word:
        claim, profiles = report.newest[0].claim, report.newest[0].header.profiles
        if len(claim) > LONGEST_BADGE:
            claim = f"{claim.partition(': ')[0]}: {counted(len(profiles), 'profile')}"
        return one_line(claim)
    of = len(report.newest)
    same = sum(run.word == report.word for run in report.newest)
    part = " as to some rules" if _is_partial(report) else ""
    return f"{same} of {of} {report.word}{part}" if same else report.word


def _is_partial(report: Report) -> bool:
    """Whether it is green on a part of the rules only: such a report gets no colored badge."""
    is_green = report.word in {"conformant", "conformant with expected failures"}
    return is_green and any(run.header.only for run in report.newest)


def to_row(report: Report) -> str:
    """Return a row of Markdown for each backend, below a comment that names the columns."""
    head = f"<!-- | {' | '.join(_COLUMNS)} | -->"
    return "\n".join([head, *(_row(report, run) for run in report.newest), ""])


def _row(report: Report, run: Run) -> str:
    scenarios = f"{run.footer.scenarios:,}" if run.footer else "unknown"
    passed = f"{run.count('pass')}/{run.applicable}"
    # The day; the moment in UTC if the backend has several runs.
    when, count = run.header.created.partition("T")[0], count_of(report, run.name)
    if count > 1:
        when = f"{run.header.created}, the newest of {count:,} runs"
    cells = (run.name, run.claim, passed, scenarios, run.header.asyncwait, when)
    return f"| {' | '.join(map(plain, cells))} |"
