"""The parts of a drawing, at points in the order of events, and the columns of these points.

Two points share a column only if they are of one instant and the later one is below the earlier, so
that a column reads from top to bottom. A vertical has a column of its own, and no column has two
outputs: their order matters.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from asyncwait.conformance.judging import Call
from asyncwait.conformance.timeline._chart import (
    LaneKind,
    Mark,
    MarkKind,
    Span,
    SpanKind,
    Vertical,
    VerticalKind,
    Way,
)
from asyncwait.conformance.timeline._words import MARKS


class Point(NamedTuple):
    """Place of an event in a leg.

    Args:
        at: ms since the leg began.
    """

    order: float
    at: float
    row: int
    alone: bool = False
    is_output: bool = False


@dataclass
class DraftLane:
    """A lane under construction."""

    kind: LaneKind | Literal["track"]
    label: str
    row: int
    spans: list[Span[Point | None]] = field(default_factory=list)
    marks: list[Mark[Point]] = field(default_factory=list)
    verticals: list[Vertical[Point]] = field(default_factory=list)

    def span(self, kind: SpanKind, since: Point, until: Point | None, text: str = "") -> None:
        """Add a span; a span until None goes on to the end of the leg."""
        self.spans.append(Span(kind, since, until, text))

    def running(self, call: Call, since: Point, until: Point | None, text: str) -> None:
        """Add the running time of a call, which other records may share."""
        kind: SpanKind = "running" if call.batch is None else "shared"
        self.spans.append(Span(kind, since, until, text, call.batch))

    def mark(self, kind: MarkKind, point: Point, text: str, sign: str = "") -> None:
        """Add a mark, with the usual sign if none is given."""
        self.marks.append(Mark(kind, point, text, sign or MARKS[kind][0]))

    def vertical(self, kind: VerticalKind, point: Point, way: Way, text: str) -> None:
        """Add a vertical."""
        self.verticals.append(Vertical(kind, point, way, text))

    @property
    def points(self) -> list[Point]:
        """All points that need a column."""
        ends = [end for span in self.spans for end in (span.since, span.until) if end is not None]
        marks = [mark.column for mark in self.marks]
        return [*ends, *marks, *(vertical.column for vertical in self.verticals)]


class Columns:
    """The columns of a leg."""

    def __init__(self, points: Iterable[Point], moments: Iterable[float]) -> None:
        self.ats: list[float] = []
        self._of: dict[Point, int] = {}
        self._last: list[Point] = []
        for point in sorted({*points}):
            self._place(point)
        for moment in moments:
            self._insert(moment)

    def __getitem__(self, point: Point | None) -> int:
        """Return the number of the column of a point; None is the end of the leg."""
        return len(self.ats) - 1 if point is None else self._of[point]

    def _place(self, point: Point) -> None:
        if not self._last or not self._fits(point):
            self.ats.append(point.at)
            self._last = []
        self._last.append(point)
        self._of[point] = len(self.ats) - 1

    def _fits(self, point: Point) -> bool:
        if point.at != self.ats[-1]:
            return False
        last = self._last[-1]
        if (last.order, last.row) == (point.order, point.row):
            return True
        if point.alone or any(each.alone for each in self._last):
            return False
        has_output = any(each.is_output for each in self._last)
        return point.row > last.row and not (point.is_output and has_output)

    def _insert(self, moment: float) -> None:
        number = bisect_right(self.ats, moment)
        if number and self.ats[number - 1] == moment:
            return
        self.ats.insert(number, moment)
        moved = {point: column + (column >= number) for point, column in self._of.items()}
        self._of = moved
