"""A report as one page: the findings on each backend and rule, and their evidence.

The contents are untrusted: values, names and texts of errors. The template escapes all of them, and
writes escapes for characters that would change the text around them. The page's policy forbids
everything that the page does not contain itself.
"""

import base64
import functools
import hashlib
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from itertools import groupby
from typing import NamedTuple

import msgspec
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup
from msgspec import Struct, field

from asyncwait.conformance.report._model import (
    NOT_THERE,
    Evidence,
    Played,
    Report,
    Result,
    RuleText,
    Run,
    changes,
    titles,
)
from asyncwait.conformance.report._text import besides_lines, change_lines, timeline_lines
from asyncwait.conformance.timeline import PATTERNS, STYLE, lay_out, svg_of
from asyncwait.conformance.verdict import passed_of
from asyncwait.spec.scenario import scenarios_to_json
from asyncwait.spec.texts import counted, joined, json_text, one_line, printable, shortened

_SIGNS = {
    "pass": "✓",
    "held": "…",
    "fail": "✗",
    "expected-fail": "~",
    "unexpected-pass": "!",
    "not-applicable": "-",
    "blocked": "?",
    "untested": "?",
    "error": "!",
    "conformant": "✓",
    "conformant with expected failures": "~",
    "not conformant": "✗",
    "inconclusive": "?",
}

LONGEST = 2_000
"""Longest line, in characters."""


def shown(text: str) -> Markup:
    """Return a text for a page, in one line and escaped.

    Quotes stay unescaped: the text stands between tags, never in an attribute.
    """
    return escaped(one_line(text, LONGEST))


def escaped(text: str) -> Markup:
    """Return a text without markup."""
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return Markup(safe)  # noqa: S704 - nothing of it is markup any more


def paragraphs(text: str) -> Markup:
    """Return the text of a rule: paragraphs, with code between backticks."""
    found = (part for part in text.split("\n\n") if part.strip())
    return Markup("").join(Markup("<p>{}</p>").format(Markup("").join(_inline(p))) for p in found)


def _inline(text: str) -> Iterator[Markup]:
    for number, part in enumerate(re.split(r"`([^`]*)`", " ".join(text.split()))):
        plain = escaped(shortened(printable(part), LONGEST))
        yield Markup("<code>{}</code>").format(plain) if number % 2 else plain


PICTURES = 0.5
"""Share of the room for evidence that pictures and timelines may take before the data."""

MISSES = 20
"""Pieces that do not fit, after which drawing stops: each piece is drawn to get its size."""

TAGS = 600
"""Bytes of tags that the page itself puts around a piece of evidence."""


class Drawn(Struct):
    """The evidence in a page."""

    pieces: dict[tuple[int, str, int], tuple[Markup, Markup]] = field(default_factory=dict)
    """A picture and a timeline, by run, rule and number."""
    data: dict[tuple[int, int], tuple[Markup, Markup]] = field(default_factory=dict)


def draw_within(report: Report, room: int) -> Drawn:
    """Return as much evidence as fits into `room` bytes."""
    drawn = Drawn()
    left = int(room * PICTURES)
    misses = 0
    for number, run, result, piece in _all_pieces(report):
        key = number, result.rule, piece
        evidence = result.evidence[piece]
        played = run.played[evidence.played]
        both = (
            _picture(played, evidence, f"{run.name} breaks {result.rule}"),
            escaped(joined(timeline_lines(played, evidence), LONGEST)),
        )
        needed = _size(*both)
        if needed <= left:
            left -= needed
            drawn.pieces[key] = both
        elif (misses := misses + 1) == MISSES:
            break
    left += room - int(room * PICTURES)
    for number, run in enumerate(report.runs):
        for place, played in enumerate(run.played):
            data = _data(played)
            if data is not None and _size(*data) <= left:
                left -= _size(*data)
                drawn.data[number, place] = data
    return drawn


def _size(*parts: str) -> int:
    return sum(len(part.encode()) for part in parts) + TAGS


def _all_pieces(report: Report) -> Iterator[tuple[int, Run, Result, int]]:
    """Yield all pieces of evidence: first pieces of all rules first, causes before effects."""
    most = max((len(r.evidence) for run in report.runs for r in run.results), default=0)
    for piece in range(most):
        for number, run in enumerate(report.runs):
            others = [r for r in run.results if r not in run.failed]
            for result in (*run.failed, *others):
                if piece < len(result.evidence):
                    yield number, run, result, piece


def _picture(played: Played, evidence: Evidence, title: str) -> Markup:
    """Return the timeline of a run as SVG; empty if the report has it in words only."""
    if played.as_played is None or played.trace is None:
        return Markup("")
    try:
        timeline = lay_out(played.as_played, played.trace, evidence.violation)
    except Exception:
        # A file that was not judged here may hold a trace without a layout. Nothing is hidden:
        # the same evidence is beside it in words, with scenario and trace.
        return Markup("")
    return Markup(svg_of(timeline, title=title, alone=False))  # noqa: S704 - `svg_of` escapes


def _data(played: Played) -> tuple[Markup, Markup] | None:
    if played.planned is None or played.trace is None:
        return None
    scenario = json_text(scenarios_to_json((played.planned,)))
    return escaped(scenario), escaped(json_text(msgspec.json.encode(played.trace)))


class RunView(NamedTuple):
    """One run in a page."""

    number: int
    title: str
    run: Run


class Piece(NamedTuple):
    """One piece of evidence.

    Args:
        picture: the timeline as SVG; empty if it has none.
        timeline: the same as text; empty if it does not fit.
    """

    played: Played
    evidence: Evidence
    picture: Markup
    timeline: Markup


class Cell(NamedTuple):
    """The findings on a rule in a run.

    Args:
        result: the findings as data; None if the run has no result for the rule.
    """

    anchor: str
    view: RunView
    result: Result | None
    pieces: Sequence[Piece]

    @property
    def status(self) -> str:
        """The status of the rule in the run."""
        return NOT_THERE if self.result is None else self.result.status


class Row(NamedTuple):
    """One rule, with a cell for each run."""

    rule: RuleText
    cells: Sequence[Cell]

    @property
    def statuses(self) -> list[str]:
        """The statuses of the rule, without repetitions."""
        return list(dict.fromkeys(cell.status for cell in self.cells))

    @property
    def cause(self) -> int:
        """The rule's first place among the causes of a run; the last place if never a cause."""
        found = [cell.result.cause for cell in self.cells if cell.result and cell.result.cause]
        return min(found, default=sys.maxsize)

    @property
    def is_bad(self) -> bool:
        """Whether a run has a problem with the rule."""
        return not {"pass", "not-applicable", NOT_THERE}.issuperset(self.statuses)


def _cell(view: RunView, rule: str, drawn: Drawn) -> Cell:
    result = view.run.by_rule.get(rule)
    pieces = [
        Piece(view.run.played[each.played], each, *drawn.pieces.get(key, (Markup(""), Markup(""))))
        for number, each in enumerate(result.evidence if result else ())
        for key in [(view.number, rule, number)]
    ]
    return Cell(f"e-{view.number}-{rule}", view, result, pieces)


MOST = 2_000_000
"""Largest size of a page in bytes, to open quickly; a page holds as much evidence as fits."""


def html_of(report: Report) -> str:
    """Return a report as one HTML file."""
    bare = _rendered(report, Drawn())
    room = MOST - len(bare.encode())
    return _rendered(report, draw_within(report, room))


def _rendered(report: Report, drawn: Drawn) -> str:
    style, script = f"{STYLE}\n{_asset('page.css')}", _asset("page.js")
    both = zip(titles(report), report.runs, strict=True)
    runs = [RunView(number, title, run) for number, (title, run) in enumerate(both)]
    rows = [Row(rule, [_cell(view, rule.id, drawn) for view in runs]) for rule in report.rules]
    areas = dict.fromkeys(row.rule.area for row in _worst_first(rows))
    by_area = sorted(rows, key=lambda row: [*areas].index(row.rule.area))
    groups = groupby(by_area, lambda row: f"{row.rule.area} {row.rule.chapter}")
    return (
        _environment()
        .get_template("page.html")
        .render(
            report=report,
            runs=runs,
            rows=_worst_first(rows),
            groups=[_with_shares(area, _worst_first(group)) for area, group in groups],
            drawn=drawn,
            statuses=sorted({result.status for run in report.runs for result in run.results}),
            areas={rule.area: rule.chapter for rule in report.rules},
            besides=[list(besides_lines(run)) for run in report.runs],
            levels=sorted({rule.level for rule in report.rules}),
            changes=[(each, list(change_lines(each))) for each in changes(report)],
            style=Markup(style),  # noqa: S704 - of our own
            script=Markup(script),  # noqa: S704 - of our own
            patterns=Markup(PATTERNS),  # noqa: S704 - of our own
            policy=_policy(style, script),
        )
    )


def _worst_first(rows: Iterable[Row]) -> list[Row]:
    """Return causes, then other rules that do not pass, then the rest, each in their order."""
    return sorted(rows, key=lambda row: (not row.is_bad, row.cause))


def _with_shares(area: str, rows: list[Row]) -> tuple[str, list[Row], list[str]]:
    columns = zip(*(row.cells for row in rows), strict=True)
    shares = [passed_of(c.status for c in column if c.result is not None) for column in columns]
    return area, rows, shares


def _policy(style: str, script: str) -> str:
    """Return the page's permissions: its own style and its own script."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@functools.cache
def _asset(name: str) -> str:
    return files("asyncwait.conformance.report").joinpath(name).read_text(encoding="utf-8")


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_asset),
        autoescape=True,
        undefined=StrictUndefined,
        # Invisible characters in a text of an attribute are written out.
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        shown=shown,
        paragraphs=paragraphs,
        sign=lambda status: _SIGNS.get(status, "?"),
        counted=counted,
    )
    return environment
