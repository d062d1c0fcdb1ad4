"""Lanes of a timeline: of records, of other elements, of strays; at the foot, of the sides.

A record waits, its calls run, it is held, and it comes out.
"""

from collections.abc import Iterator, Mapping

from asyncwait.conformance.judging import NEVER, Call, Item, LegHistory, Output
from asyncwait.conformance.timeline._chart import DraftLane, Point
from asyncwait.conformance.timeline._text import figures, how_ended, in_batch, show, values
from asyncwait.spec import Element, Snapshot
from asyncwait.spec.scenario import (
    Blocked,
    CallCancelled,
    Event,
    FailureAsked,
    FiguresRead,
    HandlerAsked,
    HookRun,
    Misuse,
    SinkGaveUp,
    SinkLeft,
    SinkTook,
    SinkWaits,
    SnapshotAsked,
    SourceAsked,
    SourceClosed,
    SourceEnded,
    Taken,
)


class Leg:
    """A leg, with the lookups that lanes need."""

    def __init__(self, history: LegHistory) -> None:
        self.history = history
        self._cancelled = {event.call: (seq, event) for seq, event in history.seen(CallCancelled)}
        self.handlers = {seq for seq, _ in history.seen(HandlerAsked)}
        self.outputs: dict[int, list[Output]] = {}
        for output in history.outputs:
            if output.item is not None:
                self.outputs.setdefault(output.item.pos, []).append(output)
        records = history.records
        self.failures_asked: Mapping[int, tuple[int, FailureAsked]] = {
            records[number].pos: found
            for number, found in history.despite.items()
            if number < len(records)
        }

    def event(self, seq: int, row: int) -> Point:
        """Return the place of an event."""
        return Point(seq, self.history.events[seq].at, row)

    def cancelled(self, call: Call, row: int) -> Point | None:
        """Return the place at which a cancellation reaches a call."""
        found = self._cancelled.get(call.number)
        return None if found is None else Point(found[0], found[1].at, row)

    def decided(self, item: Item, row: int) -> Point | None:
        """Return the place of a record's decision; a deadline is before its instant's events."""
        if item.decided_at == NEVER or item.decided_at > self.history.end_at:
            return None
        if item.decided_seq >= 0:
            return self.event(item.decided_seq, row)
        events = self.history.events
        follows = (seq for seq, event in enumerate(events) if event.at >= item.decided_at)
        return Point(next(follows, len(events)) - 0.5, item.decided_at, row)


def record_lane(leg: Leg, item: Item, row: int) -> DraftLane:
    """Return the lane of a record."""
    lane = DraftLane("record", show(item.element), row)
    begin = _begin(leg, lane, item)
    first = item.call
    called = None if first is None else leg.event(first.seq, row)
    lane.span("waiting", begin, called, "waits for its call")
    decided = leg.decided(item, row)
    for number, call in enumerate(item.attempts, 1):
        since = leg.event(call.seq, row)
        lane.mark("called", since, _called(call), f"{number}"[:2])
        if number < len(item.attempts):
            _repeated(leg, lane, call, leg.event(item.attempts[number].seq, row), number)
        else:
            _last(leg, lane, call, decided)
    if decided is not None:
        _decision(leg, lane, item, decided)
    _handlers(leg, lane, item)
    for output in leg.outputs.get(item.pos, ()):
        torn = f", {output.trouble}" if output.trouble else ""
        lane.mark("emitted", _out(output, lane.row), f"{show(output.element)} comes out{torn}")
    return lane


def _called(call: Call) -> str:
    return f"call #{call.number} of {call.value!r}{in_batch(call.batch)}"


def _begin(leg: Leg, lane: DraftLane, item: Item) -> Point:
    if item.index is None:
        begin = Point(-1, 0, lane.row)
        lane.mark("restored", begin, f"{lane.label} restored from the snapshot")
    else:
        begin = leg.event(item.seq, lane.row)
        lane.mark("taken", begin, f"{lane.label} taken from the source")
    return begin


def _repeated(leg: Leg, lane: DraftLane, call: Call, again: Point, number: int) -> None:
    since = leg.event(call.seq, lane.row)
    ends = (*_ends(leg, lane, call), again)
    until = min(point for point in ends if point is not None)
    lane.running(call, since, until, f"attempt {number} runs")
    lane.span("back-off", until, again, f"backs off before attempt {number + 1}")


def _last(leg: Leg, lane: DraftLane, call: Call, decided: Point | None) -> None:
    """Draw the call whose outcome counts, and its running on after the decision."""
    since = leg.event(call.seq, lane.row)
    _, ended = _ends(leg, lane, call)
    if decided is None or (ended is not None and ended.order <= decided.order):
        lane.running(call, since, ended, f"call #{call.number} runs")
    else:
        over = max(since, decided)
        lane.running(call, since, over, f"call #{call.number} runs")
        lane.span("late", over, ended, f"call #{call.number} has not ended")


def _ends(leg: Leg, lane: DraftLane, call: Call) -> tuple[Point | None, Point | None]:
    ended, cancelled = _ended(leg, lane, call), leg.cancelled(call, lane.row)
    if cancelled is not None:
        lane.mark("cancelled", cancelled, f"call #{call.number} cancelled")
    return cancelled, ended


def _ended(leg: Leg, lane: DraftLane, call: Call) -> Point | None:
    if call.ended is None:
        return None
    point = leg.event(call.ended_seq, lane.row)
    text = f"call #{call.number} {how_ended(call.ended)}"
    lane.mark(call.ended.how, point, text)
    return point


def _decision(leg: Leg, lane: DraftLane, item: Item, decided: Point) -> None:
    if item.timed_out:
        lane.mark("deadline", decided, "its deadline decides")
    if item.wrong:
        lane.mark("failed", decided, f"decided to fail: {item.wrong}")
        lane.span("held", decided, None, f"{item.wrong} is held")
    elif item.results == ():
        lane.mark("nothing", decided, "decided, without results")
    else:
        outputs = leg.outputs.get(item.pos, ())
        owed = len(item.results or ())
        last = _out(outputs[owed - 1], lane.row) if 0 < owed <= len(outputs) else None
        held = f"{values(item.results or ())} held"
        lane.span("held", decided, None if last is None else max(decided, last), held)


def _handlers(leg: Leg, lane: DraftLane, item: Item) -> None:
    if item.decided_seq in leg.handlers:
        asked = leg.event(item.decided_seq, lane.row)
        lane.mark("handler", asked, "its deadline: the timeout handler is asked")
    if item.pos in leg.failures_asked:
        seq, event = leg.failures_asked[item.pos]
        text = f"the failure handler is asked about {event.error}"
        lane.mark("handler", leg.event(seq, lane.row), text)


def _out(output: Output, row: int) -> Point:
    return Point(output.seq, output.at, row, is_output=True)


def signal_lane(leg: Leg, item: Item, row: int) -> DraftLane:
    """Return the lane of a watermark, status, marker or barrier: from its input to its output."""
    lane = DraftLane("signal", show(item.element), row)
    began = _begin(leg, lane, item)
    answers = [each.output for each in leg.history.snapshots if each.barrier is item]
    _pass(lane, began, leg.outputs.get(item.pos) or answers)
    return lane


def request_lanes(leg: Leg, row: int) -> Iterator[DraftLane]:
    """Yield a lane for each snapshot on demand."""
    for seq, event in leg.history.seen(SnapshotAsked):
        lane = DraftLane("signal", f"snapshot {event.checkpoint_id} on demand", row)
        began = Point(seq, event.at, row)
        lane.mark("taken", began, f"snapshot {event.checkpoint_id} requested")
        given = [
            snapshot.output
            for snapshot in leg.history.snapshots
            if snapshot.barrier is None and snapshot.checkpoint_id == event.checkpoint_id
        ]
        _pass(lane, began, given)
        yield lane
        row += 1


def _pass(lane: DraftLane, began: Point, outputs: list[Output]) -> None:
    outs = [_signal_out(lane, output) for output in outputs]
    lane.span("passing", began, outs[0] if outs else None, f"{lane.label} is on its way")


def _signal_out(lane: DraftLane, output: Output) -> Point:
    point = _out(output, lane.row)
    lane.mark("emitted", point, f"{show(output.element)} comes out")
    return point


def stray_lanes(leg: Leg, row: int) -> Iterator[DraftLane]:
    """Yield a lane for each output, and each call, that belongs to no input."""
    history = leg.history
    requested = {event.checkpoint_id for _, event in history.seen(SnapshotAsked)}
    for output in history.outputs:
        if output.item is None and not _is_asked_for(history, output.element, requested):
            lane = DraftLane("stray", f"{show(output.element)} {output.trouble}".rstrip(), row)
            _signal_out(lane, output)
            yield lane
            row += 1
    for call in history.extra_calls:
        lane = DraftLane("stray", f"call of {call.value!r}", row)
        since = leg.event(call.seq, row)
        lane.mark("called", since, f"{_called(call)}, for no record")
        lane.running(call, since, _ended(leg, lane, call), f"call #{call.number} runs")
        yield lane
        row += 1


def _is_asked_for(history: LegHistory, element: Element, requested: set[int]) -> bool:
    if not isinstance(element, Snapshot):
        return False
    barriers = {item.checkpoint_id for item in history.barriers}
    return element.checkpoint_id in requested | barriers


def track_lanes(leg: Leg, row: int) -> Iterator[DraftLane]:
    """Yield the lanes of source, consumer and operator that are not empty."""
    for lane in (_source(leg, row), _consumer(leg, row + 1), _operator(leg, row + 2)):
        if lane.spans or lane.marks:
            yield lane


def _source(leg: Leg, row: int) -> DraftLane:
    """Return the lane of the source: it is unread while time passes between two reads."""
    lane = DraftLane("track", "source", row)
    taken: Point | None = None
    for seq, event in enumerate(leg.history.events):
        point = Point(seq, event.at, row)
        match event:
            case Taken():
                taken = point
            case SourceAsked():
                if taken is not None and event.at > taken.at:
                    lane.span("unread", taken, point, "the source is not read: back-pressure")
                taken = None
            case SourceEnded():
                taken = None
                lane.mark("ended", point, "the source raises" if event.raised else "end of input")
            case SourceClosed():
                taken = None
                lane.mark("closed", point, "the source is closed")
            case _:
                pass
    asked = leg.history.seen(SourceAsked)
    if taken is not None and asked and leg.history.end_at > taken.at:
        lane.span("unread", taken, None, "the source is not read: back-pressure")
    return lane


def _consumer(leg: Leg, row: int) -> DraftLane:
    """Return the lane of the consumer: it is away while time passes between two waits."""
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
                lane.mark("noted", point, "the consumer gives up waiting")
            case SinkLeft():
                went = None
                text = "the consumer leaves, raising" if event.raising else "the consumer leaves"
                lane.mark("left", point, text)
            case _:
                pass
    return lane


def _operator(leg: Leg, row: int) -> DraftLane:
    lane = DraftLane("track", "operator", row)
    timely = {item.decided_seq for item in leg.history.records}
    for seq, event in enumerate(leg.history.events):
        point = Point(seq, event.at, row)
        if isinstance(event, Blocked):
            over = Point(seq + 0.5, event.until, row)
            lane.span("blocked", point, over, "the loop is blocked")
        elif seq not in timely and (text := _said(event)):
            lane.mark("noted", point, text)
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
            return f"statistics: {figures(event)}"
        case _:
            return ""
