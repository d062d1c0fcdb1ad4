"""The lane of a record: it waits, its calls run, it is held, and it comes out."""

from collections.abc import Mapping, Sequence

from asyncwait.conformance.judging import NEVER, Call, Item, LegHistory, Output
from asyncwait.conformance.timeline._draft import DraftLane, Point
from asyncwait.conformance.timeline._words import how_ended, show, values
from asyncwait.spec.scenario import CallCancelled, FailureAsked, HandlerAsked


class Leg:
    """A leg, with what lanes ask of it."""

    def __init__(self, history: LegHistory) -> None:
        self.history = history
        self._cancelled = {event.call: (seq, event) for seq, event in history.seen(CallCancelled)}
        self._handlers = {seq for seq, _ in history.seen(HandlerAsked)}
        self.outputs: dict[int, list[Output]] = {}
        for output in history.outputs:
            if output.item is not None:
                self.outputs.setdefault(output.item.pos, []).append(output)
        self._despite = self._failures_asked()

    def _failures_asked(self) -> Mapping[int, tuple[int, FailureAsked]]:
        records = self.history.records
        asked = self.history.facts.despite.items()
        return {records[number].pos: found for number, found in asked if number < len(records)}

    def event(self, seq: int, row: int) -> Point:
        """Return where an event is."""
        return Point(seq, self.history.events[seq].at, row)

    def cancelled(self, call: Call, row: int) -> Point | None:
        """Return where a cancellation reaches a call."""
        found = self._cancelled.get(call.number)
        return None if found is None else Point(found[0], found[1].at, row)

    def failure_asked(self, item: Item) -> tuple[int, FailureAsked] | None:
        """Return the request to the failure handler about a record."""
        return self._despite.get(item.pos)

    def is_asked(self, item: Item) -> bool:
        """Whether the timeout handler decides a record."""
        return item.decided_seq in self._handlers

    def decided(self, item: Item, row: int) -> Point | None:
        """Return where a record is decided; by its deadline: before the events of that instant."""
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
        lane.mark("called", since, f"call #{call.number} of {call.value!r}", f"{number}"[:2])
        if number < len(item.attempts):
            _repeated(leg, lane, call, leg.event(item.attempts[number].seq, row), number)
        else:
            _last(leg, lane, call, decided)
    if decided is not None:
        _decision(leg, lane, item, decided)
    _handlers(leg, lane, item)
    _outputs(lane, leg.outputs.get(item.pos, ()))
    return lane


def _begin(leg: Leg, lane: DraftLane, item: Item) -> Point:
    if item.index is None:
        begin = Point(-1, 0, lane.row)
        lane.mark("restored", begin, f"{lane.label} restored from the snapshot")
    else:
        begin = leg.event(item.seq, lane.row)
        lane.mark("taken", begin, f"{lane.label} taken from the source")
    return begin


def _repeated(leg: Leg, lane: DraftLane, call: Call, again: Point, number: int) -> None:
    """Draw a call that is repeated, and the wait until then."""
    since = leg.event(call.seq, lane.row)
    ends = (*_ends(leg, lane, call), again)
    until = min(point for point in ends if point is not None)
    lane.span("running", since, until, f"attempt {number} runs")
    lane.span("back-off", until, again, f"backs off before attempt {number + 1}")


def _last(leg: Leg, lane: DraftLane, call: Call, decided: Point | None) -> None:
    """Draw the call whose outcome counts, and that it runs on where it does."""
    since = leg.event(call.seq, lane.row)
    _, ended = _ends(leg, lane, call)
    if decided is None or (ended is not None and ended.order <= decided.order):
        lane.span("running", since, ended, f"call #{call.number} runs")
    else:
        over = max(since, decided)
        lane.span("running", since, over, f"call #{call.number} runs")
        lane.span("late", over, ended, f"call #{call.number} has not ended")


def _ends(leg: Leg, lane: DraftLane, call: Call) -> tuple[Point | None, Point | None]:
    """Mark where a call is cancelled, and where it ends."""
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
    """Draw what a record came to, and how long it is held."""
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
    if leg.is_asked(item):
        asked = leg.event(item.decided_seq, lane.row)
        lane.mark("handler", asked, "its deadline: the timeout handler is asked")
    found = leg.failure_asked(item)
    if found is not None:
        seq, event = found
        text = f"the failure handler is asked about {event.error}"
        lane.mark("handler", leg.event(seq, lane.row), text)


def _outputs(lane: DraftLane, outputs: Sequence[Output]) -> None:
    for output in outputs:
        torn = f", {output.trouble}" if output.trouble else ""
        lane.mark("emitted", _out(output, lane.row), f"{show(output.element)} comes out{torn}")


def _out(output: Output, row: int) -> Point:
    return Point(output.seq, output.at, row, is_output=True)
