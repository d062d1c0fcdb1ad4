"""What will be drawn, at points in the order of events that have no columns yet."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from asyncwait.conformance.timeline._chart import LaneKind, MarkKind, SpanKind, VerticalKind


class Point(NamedTuple):
    """Where something happens in a leg.

    Args:
        at: ms since the leg began.
    """

    order: float
    at: float
    row: int
    alone: bool = False
    is_output: bool = False


class DraftSpan(NamedTuple):
    """A span from one point to another, or to the end of the leg."""

    kind: SpanKind
    since: Point
    until: Point | None
    text: str


class DraftMark(NamedTuple):
    """A mark at a point."""

    kind: MarkKind
    point: Point
    text: str
    sign: str


class DraftVertical(NamedTuple):
    """A vertical at a point."""

    kind: VerticalKind
    point: Point
    way: Literal["in", "out"]
    text: str


@dataclass
class DraftLane:
    """A lane that is being put together."""

    kind: LaneKind | Literal["track"]
    label: str
    row: int
    spans: list[DraftSpan] = field(default_factory=list)
    marks: list[DraftMark] = field(default_factory=list)
    verticals: list[DraftVertical] = field(default_factory=list)

    def span(self, kind: SpanKind, since: Point, until: Point | None, text: str = "") -> None:
        """Add a span."""
        self.spans.append(DraftSpan(kind, since, until, text))

    def mark(self, kind: MarkKind, point: Point, text: str, sign: str = "") -> None:
        """Add a mark, with the usual sign if none is given."""
        self.marks.append(DraftMark(kind, point, text, sign or SIGNS[kind]))

    def vertical(
        self, kind: VerticalKind, point: Point, way: Literal["in", "out"], text: str
    ) -> None:
        """Add a vertical."""
        self.verticals.append(DraftVertical(kind, point, way, text))

    @property
    def points(self) -> list[Point]:
        """All points that need a column."""
        ends = [span.until for span in self.spans if span.until is not None]
        marks = [mark.point for mark in self.marks]
        verticals = [vertical.point for vertical in self.verticals]
        return [*(span.since for span in self.spans), *ends, *marks, *verticals]


SIGNS: dict[MarkKind, str] = {
    "taken": "t",
    "restored": "r",
    "called": "1",
    "returned": "g",
    "raised": "!",
    "misreturned": "?",
    "cancelled": "x",
    "deadline": "T",
    "handler": "h",
    "nothing": "n",
    "failed": "F",
    "emitted": "*",
    "ended": "E",
    "closed": "c",
    "left": "L",
    "noted": "i",
}
"""What stands for a mark where there is room for one character."""
