"""What stands in a timeline, in words, and what its signs mean."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from asyncwait.conformance.timeline._chart import Chart, MarkKind, SpanKind
from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec.scenario import CallEnded, Ending
from asyncwait.spec.texts import one_line, shown

MARK = ">>>"
"""Stands before what is wrong."""

LONGEST = 1_000
"""Characters of an error, or of a line of a timeline that is read event by event."""


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
    """Return what a call came to."""
    return f"gave {values(event.results)}" if event.how == "returned" else event.how


def ending_of(ending: Ending) -> str:
    """Return how a leg ended, with its error."""
    error = one_line(" ".join(filter(None, (ending.error, ending.detail))), LONGEST)
    return f"{ending.how}: {error}" if error else ending.how


_SPANS: dict[SpanKind, str] = {
    "waiting": "waits for its call",
    "running": "its call runs",
    "back-off": "back-off",
    "held": "decided and held",
    "late": "runs on though decided",
    "passing": "on its way",
    "unread": "source not read",
    "away": "consumer does not read",
    "blocked": "the loop is blocked",
}

_MARKS: dict[MarkKind, str] = {
    "taken": "comes in",
    "restored": "restored",
    "called": "its call begins, 2: the next attempt",
    "returned": "gives results",
    "emitted": "comes out",
    "raised": "raised",
    "misreturned": "gave no collection",
    "cancelled": "cancelled",
    "deadline": "deadline",
    "handler": "handler asked",
    "nothing": "no results",
    "failed": "fails the stream",
    "ended": "end of input",
    "closed": "source closed",
    "left": "consumer leaves",
    "noted": "hooks, figures, misuse",
}


class SpanEntry(NamedTuple):
    """What a kind of span means."""

    kind: SpanKind
    words: str
    what: Literal["span"] = "span"


class MarkEntry(NamedTuple):
    """What a kind of mark means."""

    kind: MarkKind
    words: str
    what: Literal["mark"] = "mark"


class VerticalEntry(NamedTuple):
    """What a kind of vertical means."""

    kind: Literal["in", "out"]
    words: str
    what: Literal["vertical"] = "vertical"


Entry: TypeAlias = SpanEntry | MarkEntry | VerticalEntry


def legend(charts: Sequence[Chart]) -> Iterator[Entry]:
    """Yield what is seen in some charts."""
    lanes = [lane for chart in charts for lane in chart.lanes]
    spans = {span.kind for lane in lanes for span in lane.spans}
    marks = {mark.kind for lane in lanes for mark in lane.seen}
    signals = {v.way for chart in charts for v in chart.verticals if v.kind != "end"}
    yield from (SpanEntry(kind, words) for kind, words in _SPANS.items() if kind in spans)
    yield from (MarkEntry(kind, words) for kind, words in _MARKS.items() if kind in marks)
    if "in" in signals:
        yield VerticalEntry("in", "a signal comes in")
    if "out" in signals:
        yield VerticalEntry("out", "it goes out")
