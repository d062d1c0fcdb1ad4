"""A report in one word: a badge, as shields.io draws it from a file, and a row of a table."""

from collections.abc import Mapping

import msgspec

from asyncwait.conformance.report_files._data import Report, Run
from asyncwait.conformance.report_files._markdown import plain
from asyncwait.conformance.report_files._merge import count_of
from asyncwait.conformance.verdict import Word
from asyncwait.spec.texts import one_line

_COLORS: Mapping[Word, str] = {
    "conformant": "brightgreen",
    "conformant with expected failures": "yellow",
    "not conformant": "red",
    "inconclusive": "lightgrey",
}

_COLUMNS = ("operator", "verdict", "rules passed / applicable", "scenarios", "asyncwait", "when")


def to_badge(report: Report) -> bytes:
    """Return the badge: the worst verdict, and what it is about."""
    badge = {
        "schemaVersion": 1,
        "label": "asyncwait",
        "message": _message(report),
        "color": "lightgrey" if _is_partial(report) else _COLORS[report.word],
    }
    return msgspec.json.encode(badge) + b"\n"


def _message(report: Report) -> str:
    if len(report.newest) == 1 and report.word == report.newest[0].word:
        return one_line(report.newest[0].claim)
    of = len(report.newest)
    same = sum(run.word == report.word for run in report.newest)
    part = " as to some rules" if _is_partial(report) else ""
    return f"{same} of {of} {report.word}{part}" if same else report.word


def _is_partial(report: Report) -> bool:
    """Whether it is green about a part of the rules only: no badge is for that."""
    is_green = report.word in {"conformant", "conformant with expected failures"}
    return is_green and any(run.header.only for run in report.newest)


def to_row(report: Report) -> str:
    """Return a row of Markdown for each backend, below a comment that says what the columns are."""
    head = f"<!-- | {' | '.join(_COLUMNS)} | -->"
    return "\n".join([head, *(_row(report, run) for run in report.newest), ""])


def _row(report: Report, run: Run) -> str:
    scenarios = f"{run.footer.scenarios:,}" if run.footer else "unknown"
    passed = f"{run.count('pass')}/{run.applicable}"
    cells = (run.name, run.claim, passed, scenarios, run.header.asyncwait, _when(report, run))
    return f"| {' | '.join(map(plain, cells))} |"


def _when(report: Report, run: Run) -> str:
    """Return the day of a run; where there are several of its backend, the moment, in UTC."""
    count = count_of(report, run.name)
    if count == 1:
        return run.header.created.partition("T")[0]
    return f"{run.header.created}, the newest of {count:,} runs"
