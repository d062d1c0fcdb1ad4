"""Draws a timeline as SVG.

A leg consists of bands for its instants, lanes with bars, lines and signs, the records in flight,
and words below. The pictures are light or dark, and each
kind has a pattern or a letter beside its colour.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from textwrap import wrap

from asyncwait.conformance.judging import Violation
from asyncwait.conformance.timeline._chart import (
    MARKS,
    Chart,
    Lane,
    Span,
    SpanKind,
    instants,
)
from asyncwait.conformance.timeline._lay_out import lay_out
from asyncwait.conformance.timeline._text import LONGEST
from asyncwait.spec.scenario import Scenario, Trace
from asyncwait.spec.texts import counted, one_line, printable

STYLE = """
.aw{--bg:#ffffff;--ink:#1c2128;--soft:#57606a;--line:#d0d7de;--band:#f3f5f8;--wait:#57606a;\
--run:#1f6feb;--hold:#7c5a00;--held:#f2cc60;--out:#116329;--bad:#b91c1c;--badband:#fde8e8;\
--sig:#7d3cab;font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
@media (prefers-color-scheme:dark){.aw{--bg:#11151b;--ink:#e6edf3;--soft:#9aa5b1;--line:#30363d;\
--band:#191f27;--wait:#9aa5b1;--run:#58a6ff;--hold:#e3b341;--held:#6b5215;--out:#56d364;\
--bad:#ff8b82;--badband:#3a1a1d;--sig:#d2a8ff}}
@media print{.aw{--bg:#fff;--ink:#000;--soft:#333;--line:#bbb;--band:#f3f5f8;--wait:#333;\
--run:#1f6feb;--hold:#7c5a00;--held:#f2cc60;--out:#116329;--bad:#b91c1c;--badband:#fde8e8;\
--sig:#7d3cab}}
.aw text{fill:var(--ink)}
.aw text.b{font-weight:bold}
.aw .bg{fill:var(--bg)}
.aw .ms{fill:var(--soft);font-size:11px}
.aw .band{fill:var(--band)}
.aw .bad{fill:var(--badband);stroke:var(--bad);stroke-width:1.5}
.aw text.wrong{fill:var(--bad);font-weight:bold}
.aw .grid{stroke:var(--line);fill:none}
.aw .gap{stroke:var(--soft);stroke-dasharray:1 3;fill:none}
.aw .waiting{stroke:var(--wait);stroke-dasharray:2 3;stroke-width:1.5;fill:none}
.aw .running,.aw .shared{fill:var(--run)}
.aw .back-off{stroke:var(--run);stroke-dasharray:1 4;stroke-width:4;stroke-linecap:round;fill:none}
.aw .held{fill:url(#aw-held);stroke:var(--hold)}
.aw .late{fill:url(#aw-late);stroke:var(--run);stroke-dasharray:3 2}
.aw .passing{stroke:var(--sig);stroke-width:1.5;fill:none}
.aw .unread,.aw .away,.aw .blocked{fill:url(#aw-stop);stroke:var(--soft)}
.aw .dot{fill:var(--bg);stroke:var(--soft)}
.aw .out{fill:var(--out)}
.aw .no{fill:var(--bg);stroke:var(--bad);stroke-width:1.5}
.aw text.m{text-anchor:middle;font-size:10px;font-weight:bold}
.aw text.on{fill:var(--bg)}
.aw text.no{fill:var(--bad);stroke:none}
.aw .room{fill:var(--run);opacity:.35}
.aw .full{fill:url(#aw-full);stroke:var(--soft)}
.aw .over{fill:var(--badband);stroke:var(--bad);stroke-width:1.5}
.aw .ph{fill:var(--held)}
.aw .pk{stroke:var(--hold);fill:none}
.aw .pr{stroke:var(--run);fill:none}
.aw .ps{stroke:var(--soft);stroke-width:.7;fill:none}
.aw .pf{stroke:var(--run);opacity:.5;fill:none}
.aw text.n{text-anchor:middle;font-size:10px}
""".strip()
"""Style of all pictures of a page."""

PATTERNS = """
<defs>
<pattern id="aw-held" width="6" height="6" patternUnits="userSpaceOnUse">\
<path class="ph" d="M0 0h6v6h-6z"/><path class="pk" d="M0 6 6 0M-1 1 1-1M5 7 7 5"/></pattern>
<pattern id="aw-late" width="4" height="4" patternUnits="userSpaceOnUse">\
<path class="pr" d="M0 0 4 4"/></pattern>
<pattern id="aw-stop" width="5" height="5" patternUnits="userSpaceOnUse">\
<path class="ps" d="M0 0 5 5M5 0 0 5"/></pattern>
<pattern id="aw-full" width="4" height="4" patternUnits="userSpaceOnUse">\
<path class="pf" d="M0 2h4"/></pattern>
</defs>
""".strip()
"""Patterns of the style; a page needs them once, within an element of the class `aw`."""


SPANS: Mapping[SpanKind, str] = {
    "waiting": "waits for its call",
    "running": "its call runs",
    "shared": "its call runs, shared by a batch",
    "back-off": "back-off",
    "held": "decided and held",
    "late": "runs on though decided",
    "passing": "on its way",
    "unread": "source not read",
    "away": "consumer does not read",
    "blocked": "the loop is blocked",
}
"""Meaning of each kind of span."""


EDGE, LEFT, CELL, ROW, BAR = 8, 176, 26, 24, 14
"""Pixels of the margin, the labels, a column, a lane, and a bar in a lane."""

LETTER = 7.3
"""Pixels of a character, for the wrapping of lines."""

LONGEST_TEXT = 300
"""Longest text in a picture, in characters."""


def lane_lines(lane: Lane, top: int) -> Iterator[str]:
    """Yield a lane, with its label."""
    yield from labelled(lane.label, top)
    y = top + ROW // 2
    for span in lane.spans:
        yield _span(span, y)
    for mark in lane.seen:
        yield _mark(mark.kind, mark.sign, mark.text, middle(mark.column), y)


def labelled(label: str, top: int) -> Iterator[str]:
    """Yield the label of a lane, and the line above it."""
    full = f"<title>{quoted(label)}</title>"
    yield f'<path class="grid" d="M{EDGE} {top}h{LEFT - 2 * EDGE}"/>'
    yield f'<text x="{EDGE}" y="{top + ROW // 2 + 4}">{quoted(_short(label))}{full}</text>'


LINES = {"waiting", "back-off", "passing"}
"""Kinds of spans that are drawn as a line; the others are bars."""


def _span(span: Span[int], y: int) -> str:
    since = middle(span.since)
    width = max(middle(span.until) - since, 4)
    said = f"<title>{quoted(span.text)}</title>" if span.text else ""
    return f'<path class="{span.kind}" d="{_shape(span.kind, since, width, y)}">{said}</path>'


def _shape(kind: str, x: int, width: int, y: int) -> str:
    if kind in LINES:
        return f"M{x} {y}h{width}"
    height = BAR // 2 if kind == "late" else BAR
    return f"M{x} {y - height // 2}h{width}v{height}h-{width}z"


_BAD = {"raised", "misreturned", "failed", "deadline", "cancelled"}
_DOTS = {"taken": 4, "returned": 3}  # pixels


def _mark(kind: str, sign: str, text: str, x: int, y: int) -> str:
    """Draw a mark: a diamond for an output, a dot for an input or a return, else a letter."""
    title = f"<title>{quoted(text)}</title>"
    if kind in _DOTS:
        return f'<circle class="dot" cx="{x}" cy="{y}" r="{_DOTS[kind]}">{title}</circle>'
    if kind == "emitted":
        return f'<path class="out" d="M{x} {y - 8}l8 8-8 8-8-8z">{title}</path>'
    ring, letter = ("no", "no") if kind in _BAD else ("dot", "")
    return (
        f'<g>{title}<circle class="{ring}" cx="{x}" cy="{y}" r="7.5"/>'
        f'<text class="m {letter}" x="{x}" y="{y + 3.5:g}">{quoted(sign)}</text></g>'
    )


def left(column: int) -> int:
    """Return the left edge of a column."""
    return LEFT + CELL * column


def middle(column: int) -> int:
    """Return the middle of a column."""
    return left(column) + CELL // 2


def _short(label: str) -> str:
    most = int((LEFT - 2 * EDGE) / LETTER)
    shown = printable(label)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def quoted(plain: str) -> str:
    """Return a text escaped for SVG, cut if it is long."""
    return escape(one_line(plain, LONGEST_TEXT), quote=False)


HEAD, LINE = 44, 16
"""Pixels above the first lane, for title and milliseconds; and of a line of words."""


def chart_lines(chart: Chart, top: int, width: int) -> tuple[list[str], int]:
    """Return the lines of one leg, and its lower edge."""
    first = top + HEAD
    last = first + ROW * len(chart.lanes)
    foot = last + ROW
    lines = [
        f'<text x="{EDGE}" y="{top + 18}" class="b">{quoted(chart.title)}</text>',
        *_bands(chart, first, foot),
    ]
    for number, lane in enumerate(chart.lanes):
        lines += lane_lines(lane, first + ROW * number)
    lines += _in_flight(chart, last)
    words = list(_words(chart, width))
    for number, (kind, said) in enumerate(words):
        y = foot + 18 + LINE * number
        lines.append(f'<text class="{kind}" x="{EDGE}" y="{y}">{quoted(said)}</text>')
    return lines, foot + 22 + LINE * len(words)


def _words(chart: Chart, width: int) -> Iterator[tuple[str, str]]:
    yield "ms", chart.ending
    if chart.hidden:
        yield "ms", f"{counted(chart.hidden, 'more lane is', 'more lanes are')} not shown"
    if chart.wrong:
        said = f"▲ at {chart.wrong_at:g} ms: {one_line(chart.wrong, LONGEST)}"
        for line in wrap(said, int((width - 2 * EDGE) / LETTER)):
            yield "wrong", line


def _bands(chart: Chart, first: int, foot: int) -> Iterator[str]:
    height = foot - first
    free = 0.0
    for number, (since, until) in enumerate(instants(chart.columns)):
        x, width = left(since), CELL * (until - since + 1)
        column = chart.columns[since]
        if column.offends or number % 2 == 0:
            kind = "bad" if column.offends else "band"
            yield f'<path class="{kind}" d="M{x} {first}h{width}v{height}h-{width}z"/>'
        if column.skipped:
            yield f'<path class="gap" d="M{x} {first - 18}v{height + 18}">'
            steps = counted(column.skipped, "step is", "steps are")
            yield f"<title>{steps} not shown</title></path>"
        said = f"{'▼ ' if column.offends else ''}{column.at:g}"
        y = first - 6 if x >= free else first - 18
        free = x + 3 + len(said) * LETTER if x >= free else free
        yield f'<text class="ms" x="{x + 3}" y="{y}">{said}</text>'


def _in_flight(chart: Chart, top: int) -> Iterator[str]:
    yield from labelled(f"in flight, of {chart.capacity}", top)
    most = ROW - 6
    for number, column in enumerate(chart.columns):
        x = left(number)
        if count := column.in_flight:
            kind = "over" if count > chart.room else "full" if count >= chart.capacity else "room"
            height = max(3, most * count // chart.capacity) if kind == "room" else most
            low = top + ROW - 3 - height
            yield f'<path class="{kind}" d="M{x} {low}h{CELL}v{height}h-{CELL}z"/>'
        y = top + ROW // 2 + 4
        yield f'<text class="n" x="{middle(number)}" y="{y}">{column.in_flight}</text>'


def legend_lines(charts: Sequence[Chart], y: int, width: int) -> tuple[list[str], int]:
    """Return the legend of the signs in use, and its lower edge."""
    lanes = [lane for chart in charts for lane in chart.lanes]
    spans = {span.kind for lane in lanes for span in lane.spans}
    marks = {mark.kind for lane in lanes for mark in lane.seen}
    entries: list[tuple[str, str | None, str]] = []
    entries += [(kind, None, words) for kind, words in SPANS.items() if kind in spans]
    entries += [(kind, sign, words) for kind, (sign, words) in MARKS.items() if kind in marks]
    lines, x = list[str](), EDGE
    for kind, sign, words in entries:
        needed = int(len(words) * LETTER) + 40
        if x + needed > width:
            x, y = EDGE, y + 22
        lines += [
            f'<path class="{kind}" d="{_shape(kind, x, 22, y + 10)}"/>'
            if sign is None
            else _mark(kind, sign, words, x + 11, y + 10),
            f'<text class="ms" x="{x + 28}" y="{y + 14}">{quoted(words)}</text>',
        ]
        x += needed
    return lines, y + 28


LEAST_WIDTH = 560
"""Pixels: the legend and the words about the end need room, too."""


def draw_svg(
    scenario: Scenario, trace: Trace, violation: Violation | None = None, *, title: str = ""
) -> str:
    """Return the timeline of a run as an SVG document that needs no other file.

    Args:
        scenario: the plan.
        trace: the trace of the run.
        violation: the violation in it; None for none.
        title: the title; by default the scenario's name.

    Raises:
        ValueError: no operator can have written the trace: a call ends that has never started.
    """
    timeline = lay_out(scenario, trace, violation)
    return svg_of(timeline, title=title or scenario.name or "timeline")


def svg_of(timeline: Sequence[Chart], *, title: str, alone: bool = True) -> str:
    """Return a timeline, its legs one below another, as SVG."""
    width = max([LEFT + CELL * (len(chart.columns) + 1) for chart in timeline] + [LEAST_WIDTH])
    lines, y = list[str](), 0
    for chart in timeline:
        drawn, y = chart_lines(chart, y, width)
        lines += drawn
    drawn, y = legend_lines(timeline, y, width)
    space = 'xmlns="http://www.w3.org/2000/svg" ' if alone else ""
    size = f'width="{width}" height="{y}" viewBox="0 0 {width} {y}"'
    parts = [
        f'<svg {space}class="aw" role="img" {size}>',
        f"<title>{quoted(title)}</title>",
        f"<desc>{quoted(_described(timeline))}</desc>",
        *([f"<style>{STYLE}</style>", PATTERNS] if alone else []),
        f'<path class="bg" d="M0 0h{width}v{y}h-{width}z"/>',
    ]
    return "\n".join([*parts, *lines, *drawn, "</svg>"])


def _described(charts: Sequence[Chart]) -> str:
    parts = []
    for chart in charts:
        lanes = counted(sum(lane.kind != "track" for lane in chart.lanes), "lane")
        steps = counted(len(chart.columns), "step")
        parts.append(f"{chart.title}: {lanes}, {steps}. {chart.ending}.")
        if chart.wrong:
            parts.append(f"Wrong at {chart.wrong_at:g} ms: {chart.wrong}.")
    return " ".join(parts)
