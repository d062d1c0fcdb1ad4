"""What the signs of a timeline mean."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from asyncwait.conformance.timeline._chart import Chart, MarkKind, SpanKind

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
