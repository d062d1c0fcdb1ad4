"""A timeline as data: its contents without any rendering, cropped to what a person reads.

The time axis is not linear. Each column is a step in the order of the events, and has the
millisecond of the step; events of one instant are side by side, cause before effect. Within one
column events happen from top to bottom, and only one element comes out.

A long timeline shows its start, the cause of the violation, and its end. Otherwise a scenario
of thousands of elements that can't be shrunk would hide the violation.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct

from asyncwait.conformance.judging import Call

LaneKind: TypeAlias = Literal["record", "signal", "stray"]

SpanKind: TypeAlias = Literal[
    "waiting",
    "running",
    "shared",
    "back-off",
    "held",
    "late",
    "passing",
    "unread",
    "away",
    "blocked",
]

MarkKind: TypeAlias = Literal[
    "taken",
    "restored",
    "called",
    "returned",
    "raised",
    "misreturned",
    "cancelled",
    "deadline",
    "handler",
    "nothing",
    "failed",
    "emitted",
    "ended",
    "closed",
    "left",
    "noted",
]

_Place = TypeVar("_Place")
"""Place of a drawn part: a point of a draft, then the number of a column."""


class Span(Struct, Generic[_Place], frozen=True):
    """A state that lasts.

    Args:
        kind: a record is "waiting" for its call, its call is "running", or "shared" with other
            records in a batch, the record is in "back-off" before its next call, the decided
            record is "held", or its call runs on, "late". Any other element is "passing". The
            source is "unread" while the operator does not read it, the consumer is "away" while
            it does not wait, and the loop is "blocked".
        until: the place in which it ends.
    """

    kind: SpanKind
    since: _Place
    until: _Place
    text: str = ""


class Mark(Struct, Generic[_Place], frozen=True):
    """A momentary event."""

    kind: MarkKind
    column: _Place
    text: str
    sign: str


class Lane(Struct, frozen=True):
    """One row: an element on its way through the operator, or a side of the run.

    Args:
        kind: "record"; "signal": a watermark, status, marker, barrier or request; "stray": an
            output or a call that belongs to no input; "track": source, consumer or operator.
    """

    kind: LaneKind | Literal["track"]
    label: str
    spans: tuple[Span[int], ...] = ()
    marks: tuple[Mark[int], ...] = ()

    @property
    def seen(self) -> tuple[Mark[int], ...]:
        """The most important mark of each column, with the texts of all its marks."""
        by_column: dict[int, list[Mark[int]]] = {}
        for mark in self.marks:
            by_column.setdefault(mark.column, []).append(mark)
        return tuple(_together(there) for there in by_column.values())


def _together(marks: Sequence[Mark[int]]) -> Mark[int]:
    first = max(marks, key=lambda mark: _WEIGHTS.get(mark.kind, 1))
    texts = dict.fromkeys(mark.text for mark in marks)
    return Mark(first.kind, first.column, "; ".join(texts), first.sign)


_WEIGHTS: dict[MarkKind, int] = {
    "taken": 0,
    "returned": 0,
    "deadline": 2,
    "nothing": 2,
    "failed": 3,
}


class Column(Struct, frozen=True):
    """One step.

    Args:
        at: ms since the leg began.
    """

    at: float
    in_flight: int = 0
    offends: bool = False
    skipped: int = 0


class Chart(Struct, frozen=True):
    """One leg.

    Args:
        columns: the steps, in order.
        wrong: the violation in the leg; empty without a violation.
        wrong_at: ms of the violation.
    """

    title: str
    capacity: int
    room: int
    columns: tuple[Column, ...]
    lanes: tuple[Lane, ...]
    ending: str
    wrong: str = ""
    wrong_at: float = 0
    hidden: int = 0


FIRST, AFTER, LAST = 3, 4, 2
"""Columns shown: from the beginning, behind the violation, and from the end."""

MOST_COLUMNS, MOST_LANES = 60, 30
"""Largest numbers of columns, and of lanes beside the tracks; the rest is only counted."""


def shown_columns(count: int, focus: int) -> Sequence[int]:
    """Return the columns that are shown; `focus` is the last column of the violating instant."""
    if count <= MOST_COLUMNS:
        return range(count)
    until = min(count, max(focus + AFTER + 1, MOST_COLUMNS - LAST))
    since = max(0, until - (MOST_COLUMNS - FIRST - LAST))
    return sorted({*range(FIRST), *range(since, until), *range(count - LAST, count)})


def nearest_lanes(lanes: Sequence[Lane], focus: int) -> Sequence[Lane]:
    """Leave out empty lanes, and the lanes farthest from the violation, if there are many."""
    others = [n for n, lane in enumerate(lanes) if lane.kind != "track"]
    if len(others) <= MOST_LANES:
        return lanes
    seen = [n for n in others if lanes[n].spans or lanes[n].marks]

    def distance(n: int) -> int:
        return min((abs(mark.column - focus) for mark in lanes[n].marks), default=10**9)

    far = sorted(seen, key=lambda n: (distance(n), -n))[MOST_LANES:]
    left_out = {*others} - {*seen} | {*far}
    return [lane for n, lane in enumerate(lanes) if n not in left_out]


def instants(columns: Sequence[Column]) -> list[tuple[int, int]]:
    """Return the first and the last column of each instant."""
    found: list[tuple[int, int]] = []
    for number, column in enumerate(columns):
        if number and not column.skipped and columns[number - 1].at == column.at:
            found[-1] = found[-1][0], number
        else:
            found.append((number, number))
    return found


MARKS: Mapping[MarkKind, tuple[str, str]] = {
    "taken": ("t", "comes in"),
    "restored": ("r", "restored"),
    "called": ("1", "its call begins, 2: the next attempt"),
    "returned": ("g", "gives results"),
    "emitted": ("*", "comes out"),
    "raised": ("!", "raised"),
    "misreturned": ("?", "gave no collection"),
    "cancelled": ("x", "cancelled"),
    "deadline": ("T", "deadline"),
    "handler": ("h", "handler asked"),
    "nothing": ("n", "no results"),
    "failed": ("F", "has failed for good"),
    "ended": ("E", "end of input"),
    "closed": ("c", "source closed"),
    "left": ("L", "consumer leaves"),
    "noted": ("i", "hooks, figures, misuse"),
}
"""Character and meaning of each kind of mark."""


class Point(NamedTuple):
    """Place of an event in a leg.

    Args:
        at: ms since the leg began.
    """

    order: float
    at: float
    row: int
    is_output: bool = False


@dataclass
class DraftLane:
    """A lane under construction."""

    kind: LaneKind | Literal["track"]
    label: str
    row: int
    spans: list[Span[Point | None]] = field(default_factory=list)
    marks: list[Mark[Point]] = field(default_factory=list)

    def span(self, kind: SpanKind, since: Point, until: Point | None, text: str = "") -> None:
        """Add a span; a span until None goes on to the end of the leg."""
        self.spans.append(Span(kind, since, until, text))

    def running(self, call: Call, since: Point, until: Point | None, text: str) -> None:
        """Add the running time of a call, which other records may share."""
        kind: SpanKind = "running" if call.batch is None else "shared"
        self.spans.append(Span(kind, since, until, text))

    def mark(self, kind: MarkKind, point: Point, text: str, sign: str = "") -> None:
        """Add a mark, with the usual sign if none is given."""
        self.marks.append(Mark(kind, point, text, sign or MARKS[kind][0]))

    @property
    def points(self) -> list[Point]:
        """All points that need a column."""
        ends = [end for span in self.spans for end in (span.since, span.until) if end is not None]
        return [*ends, *(mark.column for mark in self.marks)]


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
        has_output = any(each.is_output for each in self._last)
        return point.row > last.row and not (point.is_output and has_output)

    def _insert(self, moment: float) -> None:
        number = bisect_right(self.ats, moment)
        if number and self.ats[number - 1] == moment:
            return
        self.ats.insert(number, moment)
        moved = {point: column + (column >= number) for point, column in self._of.items()}
        self._of = moved
