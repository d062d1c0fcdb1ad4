"""A timeline as data: what is drawn, before anybody says how.

Time is not linear in it. Each column is a step in the order of the events, and says at which
millisecond it is; what happens in one instant stands side by side, cause before effect. Within one
column things happen from the top to the bottom, and only one element comes out.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

LaneKind: TypeAlias = Literal["record", "signal", "stray"]

SpanKind: TypeAlias = Literal[
    "waiting", "running", "back-off", "held", "late", "passing", "unread", "away", "blocked"
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

VerticalKind: TypeAlias = Literal["watermark", "status", "marker", "snapshot", "end"]


class Span(Struct, frozen=True):
    """What lasts.

    Args:
        kind: of a record: "waiting" for its call, its call is "running", it waits in "back-off"
            for the next, is "held" once it is decided, or its call runs on, "late". Any other
            element is "passing". The source is "unread" while nobody asks it, the consumer is
            "away" while it does not wait, and the loop is "blocked".
        until: that in which it ends.
    """

    kind: SpanKind
    since: int
    until: int
    text: str = ""


class Mark(Struct, frozen=True):
    """What happens at once."""

    kind: MarkKind
    column: int
    text: str
    sign: str


class Lane(Struct, frozen=True):
    """One row: an element on its way through the operator, or one of the sides of the run.

    Args:
        kind: "record"; "signal": a watermark, status, marker, barrier or request; "stray": an
            output or a call that belongs to no input; "track": source, consumer or operator.
    """

    kind: LaneKind | Literal["track"]
    label: str
    spans: tuple[Span, ...] = ()
    marks: tuple[Mark, ...] = ()

    @property
    def seen(self) -> tuple[Mark, ...]:
        """One mark for each column, the weightiest, with the words of all."""
        by_column: dict[int, list[Mark]] = {}
        for mark in self.marks:
            by_column.setdefault(mark.column, []).append(mark)
        return tuple(_together(there) for there in by_column.values())


def _together(marks: Sequence[Mark]) -> Mark:
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


class Vertical(Struct, frozen=True):
    """What concerns all lanes at once.

    Args:
        way: it comes "in", or goes "out".
    """

    kind: VerticalKind
    column: int
    way: Literal["in", "out"]
    text: str


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
        wrong: what is wrong in it; empty for nothing.
        wrong_at: when, in ms.
    """

    title: str
    capacity: int
    room: int
    columns: tuple[Column, ...]
    lanes: tuple[Lane, ...]
    verticals: tuple[Vertical, ...]
    ending: str
    wrong: str = ""
    wrong_at: float = 0
    hidden: int = 0


class Timeline(Struct, frozen=True):
    """All legs of a run, one below another."""

    charts: tuple[Chart, ...]
