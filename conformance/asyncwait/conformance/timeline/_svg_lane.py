"""Draws one lane as SVG: bars, lines, and signs on them."""

from collections.abc import Iterator
from xml.sax.saxutils import escape

from asyncwait.conformance.timeline._chart import Lane, Mark, Span
from asyncwait.conformance.timeline._draft import SIGNS
from asyncwait.conformance.timeline._legend import Entry
from asyncwait.spec.texts import one_line, printable

EDGE, LEFT, CELL, ROW, BAR = 8, 176, 26, 24, 14
"""Pixels: of the margin, of the labels, of a column, of a lane, and of a bar in it."""

LETTER = 7.3
"""Pixels of a character, for lines that have to be broken."""

LONGEST = 300
"""Characters of a text in a picture."""


def lane_lines(lane: Lane, top: int) -> Iterator[str]:
    """Yield a lane, with its label."""
    yield from labelled(lane.label, top)
    y = top + ROW // 2
    for span in lane.spans:
        yield _span(span, y)
    for mark in lane.seen:
        yield _mark(mark, middle(mark.column), y)


def labelled(label: str, top: int) -> Iterator[str]:
    """Yield the label of a lane, and the line above it."""
    full = f"<title>{quoted(label)}</title>"
    yield f'<path class="grid" d="M{EDGE} {top}h{LEFT - 2 * EDGE}"/>'
    yield f'<text x="{EDGE}" y="{top + ROW // 2 + 4}">{quoted(_short(label))}{full}</text>'


LINES = {"waiting", "back-off", "passing"}
"""Kinds of spans that are drawn as a line; the others are bars."""


def _span(span: Span, y: int) -> str:
    since = middle(span.since)
    width = max(middle(span.until) - since, 4)
    said = f"<title>{quoted(span.text)}</title>" if span.text else ""
    return f'<path class="{span.kind}" d="{_shape(span.kind, since, width, y)}">{said}</path>'


def sample(entry: Entry, x: int, y: int) -> str:
    """Return what a legend shows of a kind of span, mark or vertical."""
    match entry.what:
        case "span":
            return f'<path class="{entry.kind}" d="{_shape(entry.kind, x, 22, y)}"/>'
        case "mark":
            sign = SIGNS[entry.kind]
            return _mark(Mark(entry.kind, 0, entry.words, sign), x + 11, y)
        case "vertical":
            return f'<path class="sig {entry.kind}" d="M{x + 11} {y - 9}v18"/>'


def _shape(kind: str, x: int, width: int, y: int) -> str:
    if kind in LINES:
        return f"M{x} {y}h{width}"
    height = BAR // 2 if kind == "late" else BAR
    return f"M{x} {y - height // 2}h{width}v{height}h-{width}z"


_BAD = {"raised", "misreturned", "failed", "deadline", "cancelled"}


def _mark(mark: Mark, x: int, y: int) -> str:
    """Draw a mark: a disc for what comes out, a dot for what comes in, a letter for the rest."""
    title = f"<title>{quoted(mark.text)}</title>"
    if mark.kind == "taken":
        return f'<circle class="dot" cx="{x}" cy="{y}" r="4">{title}</circle>'
    if mark.kind == "returned":
        return f'<circle class="dot" cx="{x}" cy="{y}" r="3">{title}</circle>'
    if mark.kind == "emitted":
        return f'<path class="out" d="M{x} {y - 8}l8 8-8 8-8-8z">{title}</path>'
    kind = "no" if mark.kind in _BAD else "dot"
    letter = "no" if mark.kind in _BAD else ""
    return (
        f'<g>{title}<circle class="{kind}" cx="{x}" cy="{y}" r="7.5"/>'
        f'<text class="m {letter}" x="{x}" y="{y + 3.5:g}">{quoted(mark.sign)}</text></g>'
    )


def left(column: int) -> int:
    """Return where a column begins."""
    return LEFT + CELL * column


def middle(column: int) -> int:
    """Return the middle of a column."""
    return left(column) + CELL // 2


def _short(label: str) -> str:
    most = int((LEFT - 2 * EDGE) / LETTER)
    shown = printable(label)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def quoted(plain: str) -> str:
    """Return a text as it can stand in SVG, cut if it is long."""
    return escape(one_line(plain, LONGEST))
