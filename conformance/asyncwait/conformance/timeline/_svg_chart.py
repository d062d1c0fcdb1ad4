"""Draws one leg as SVG: bands for its instants, lanes, what is in flight, and words below."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from asyncwait.conformance._counted import counted
from asyncwait.conformance.timeline._chart import Chart, Vertical
from asyncwait.conformance.timeline._crop import instants
from asyncwait.conformance.timeline._legend import legend
from asyncwait.conformance.timeline._svg_lane import (
    CELL,
    EDGE,
    LETTER,
    ROW,
    labelled,
    lane_lines,
    left,
    middle,
    quoted,
    sample,
)
from asyncwait.conformance.timeline._words import LONGEST
from asyncwait.spec.texts import one_line

HEAD, LINE = 44, 16
"""Pixels: above the first lane, for title and milliseconds; and of a line of words."""


def chart_lines(chart: Chart, top: int, width: int) -> tuple[list[str], int]:
    """Return one leg, and where it ends."""
    first = top + HEAD
    last = first + ROW * len(chart.lanes)
    foot = last + ROW
    lines = [
        f'<text x="{EDGE}" y="{top + 18}" class="b">{quoted(chart.title)}</text>',
        *_bands(chart, first, foot),
        *(_vertical(each, first, foot) for each in chart.verticals),
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
    """Yield the lines below, each behind its kind."""
    yield "ms", chart.ending
    if chart.hidden:
        yield "ms", f"{counted(chart.hidden, 'more lane is', 'more lanes are')} not shown"
    if chart.wrong:
        said = f"▲ at {chart.wrong_at:g} ms: {one_line(chart.wrong, LONGEST)}"
        for line in wrap(said, int((width - 2 * EDGE) / LETTER)):
            yield "wrong", line


def _bands(chart: Chart, first: int, foot: int) -> Iterator[str]:
    """Yield a band for each instant, with its time above."""
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


def _vertical(vertical: Vertical, first: int, foot: int) -> str:
    kind = "end" if vertical.kind == "end" else "sig"
    return (
        f'<path class="{kind} {vertical.way}" d="M{middle(vertical.column)} {first}V{foot}">'
        f"<title>{quoted(vertical.text)}</title></path>"
    )


def _in_flight(chart: Chart, top: int) -> Iterator[str]:
    """Yield how many records are in flight behind each column."""
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
    """Return what the signs mean, as far as there are some, and where that ends."""
    lines, x = list[str](), EDGE
    for entry in legend(charts):
        needed = int(len(entry.words) * LETTER) + 40
        if x + needed > width:
            x, y = EDGE, y + 22
        lines.append(sample(entry, x, y + 10))
        lines.append(f'<text class="ms" x="{x + 28}" y="{y + 14}">{quoted(entry.words)}</text>')
        x += needed
    return lines, y + 28
