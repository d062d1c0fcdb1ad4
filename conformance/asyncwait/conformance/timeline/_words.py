"""Words of a timeline, and the legend of its signs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from asyncwait.conformance._words import figure_text
from asyncwait.conformance.timeline._chart import Chart, MarkKind, SpanKind, Way
from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec.scenario import CallEnded, Ending, FiguresRead
from asyncwait.spec.texts import one_line, shown

MARK = ">>>"
"""Prefix of a violation."""

LONGEST = 1_000
"""Longest error, or line of a timeline in text, in characters."""


def show(element: Element) -> str:
    """Return an element in a few characters."""
    match element:
        case Record():
            stamp = "" if element.timestamp is None else f"@{element.timestamp}"
            key = "" if element.key is None else f"/{one_line(element.key)}"
            return f"{shown(element.value)}{stamp}{key}"
        case Watermark():
            return f"watermark {element.timestamp}"
        case WatermarkStatus():
            return "idle" if element.idle else "active"
        case LatencyMarker():
            return f"marker {element.marked_at}"
        case Barrier():
            return f"barrier {element.checkpoint_id}"
        case Snapshot():
            stored = ", ".join(map(show, element.in_flight))
            return f"snapshot {element.checkpoint_id} [{stored}]"


def values(given: Iterable[Any]) -> str:
    """Return results in a few characters."""
    return ", ".join(map(shown, given)) or "nothing"


def how_ended(event: CallEnded) -> str:
    """Return the outcome of a call in words."""
    return f"gave {values(event.results)}" if event.how == "returned" else event.how


def batch_sign(number: int) -> str:
    """Return the letter of a batch, never a letter of a mark; letters repeat after a while."""
    return _LETTERS[number % len(_LETTERS)]


_LETTERS = "ABCDGHJKMNPQRSUVWXYZ"


def in_batch(number: int | None) -> str:
    """Return the batch of a call in words; empty if it is in none."""
    return "" if number is None else f" in batch {batch_sign(number)}"


def ending_of(ending: Ending) -> str:
    """Return the ending of a leg, with its error."""
    error = one_line(" ".join(filter(None, (ending.error, ending.detail))), LONGEST)
    return f"{ending.how}: {error}" if error else ending.how


def figures(event: FiguresRead) -> str:
    """Return the figures that were read, without those that are 0."""
    told = {name: getattr(event, name) for name in event.__struct_fields__ if name != "at"}
    there = [
        f"{name} {figure_text(figure)}"
        for name, figure in told.items()
        if (any(figure) if isinstance(figure, tuple) else figure)
    ]
    return ", ".join(there) or "all 0"


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

WAYS: Mapping[Way, str] = {"in": "a signal comes in", "out": "it goes out"}
"""Meaning of each way of a vertical."""


class Entry(NamedTuple):
    """Meaning of a kind of span, mark or vertical."""

    what: Literal["span", "mark", "vertical"]
    kind: str
    sign: str
    words: str


def legend(charts: Sequence[Chart]) -> Iterator[Entry]:
    """Yield the entries for everything that some charts show."""
    lanes = [lane for chart in charts for lane in chart.lanes]
    spans = {span.kind for lane in lanes for span in lane.spans}
    marks = {mark.kind for lane in lanes for mark in lane.seen}
    ways = {v.way for chart in charts for v in chart.verticals if v.kind != "end"}
    yield from (Entry("span", kind, "", said) for kind, said in SPANS.items() if kind in spans)
    yield from (Entry("mark", kind, *said) for kind, said in MARKS.items() if kind in marks)
    yield from (Entry("vertical", way, "", said) for way, said in WAYS.items() if way in ways)
