"""The lanes at the foot: the source, the consumer, and what else there is to tell of a run."""

from collections.abc import Iterator

from asyncwait.conformance.timeline._chart import MarkKind
from asyncwait.conformance.timeline._draft import DraftLane, Point
from asyncwait.conformance.timeline._records import Leg
from asyncwait.spec.scenario import (
    Blocked,
    Event,
    FiguresRead,
    HandlerAsked,
    HookRun,
    Misuse,
    SinkGaveUp,
    SinkIntruded,
    SinkLeft,
    SinkTook,
    SinkWaits,
    SourceAsked,
    SourceClosed,
    SourceEnded,
    Taken,
)


def track_lanes(leg: Leg, row: int) -> Iterator[DraftLane]:
    """Yield the lanes of source, consumer and operator, as far as there is something in them."""
    for lane in (_source(leg, row), _consumer(leg, row + 1), _operator(leg, row + 2)):
        if lane.spans or lane.marks:
            yield lane


def _source(leg: Leg, row: int) -> DraftLane:
    """Return the lane of the source: it is not read where nobody asks it while time goes on."""
    lane = DraftLane("track", "source", row)
    taken: Point | None = None
    for seq, event in enumerate(leg.history.events):
        point = Point(seq, event.at, row)
        match event:
            case Taken():
                taken = point
            case SourceAsked():
                if taken is not None and event.at > taken.at:
                    lane.span("unread", taken, point, "nobody reads the source: back-pressure")
                taken = None
            case SourceEnded():
                taken = None
                _note(lane, "ended", point, "the source raises" if event.raised else "end of input")
                lane.vertical("end", _alone(point), "in", "end of input")
            case SourceClosed():
                taken = None
                _note(lane, "closed", point, "the source is closed")
            case _:
                pass
    asked = leg.history.seen(SourceAsked)
    if taken is not None and asked and leg.history.end_at > taken.at:
        lane.span("unread", taken, None, "nobody reads the source: back-pressure")
    return lane


def _consumer(leg: Leg, row: int) -> DraftLane:
    """Return the lane of the consumer: it is away where it does not wait while time goes on."""
    lane = DraftLane("track", "consumer", row)
    went: Point | None = None
    for seq, event in enumerate(leg.history.events):
        point = Point(seq, event.at, row)
        match event:
            case SinkTook():
                went = point
            case SinkWaits():
                if went is not None and event.at > went.at:
                    lane.span("away", went, point, "the consumer does not read")
                went = None
            case SinkGaveUp():
                went = point
                _note(lane, "noted", point, "the consumer gives up waiting")
            case SinkIntruded():
                _note(lane, "noted", point, f"a second task reads, and {event.got}")
            case SinkLeft():
                went = None
                text = "the consumer leaves, raising" if event.raising else "the consumer leaves"
                _note(lane, "left", point, text)
                lane.vertical("end", _alone(point), "out", text)
            case _:
                pass
    return lane


def _operator(leg: Leg, row: int) -> DraftLane:
    """Return the lane of all else."""
    lane = DraftLane("track", "operator", row)
    timely = {item.decided_seq for item in leg.history.records}
    for seq, event in enumerate(leg.history.events):
        point = Point(seq, event.at, row)
        if isinstance(event, Blocked):
            over = Point(seq + 0.5, event.until, row)
            lane.span("blocked", point, over, "the loop is blocked")
        elif seq not in timely and (text := _said(event)):
            _note(lane, "noted", point, text)
    return lane


def _said(event: Event) -> str:
    match event:
        case HookRun():
            return f"the hook {event.hook} runs"
        case Misuse():
            return f"{event.detail}: {event.what}"
        case HandlerAsked():
            return f"the timeout handler is asked for {event.value!r}, which is not due"
        case FiguresRead():
            told = {name: getattr(event, name) for name in event.__struct_fields__ if name != "at"}
            figures = (f"{name} {figure:g}" for name, figure in told.items() if figure)
            return f"statistics: {', '.join(figures) or 'all 0'}"
        case _:
            return ""


def _note(lane: DraftLane, kind: MarkKind, point: Point, text: str) -> None:
    lane.mark(kind, _alone(point) if kind in {"ended", "left"} else point, text)


def _alone(point: Point) -> Point:
    return point._replace(alone=True)
