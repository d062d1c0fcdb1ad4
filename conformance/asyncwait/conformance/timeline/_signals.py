"""The lanes of all that is no record, and of what belongs to no input."""

from collections.abc import Iterator

from asyncwait.conformance.judging import Item, LegHistory, Output
from asyncwait.conformance.timeline._chart import VerticalKind
from asyncwait.conformance.timeline._draft import DraftLane, Point
from asyncwait.conformance.timeline._records import Leg
from asyncwait.conformance.timeline._words import how_ended, show
from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec.scenario import SnapshotAsked

_KINDS: dict[type, VerticalKind] = {
    Watermark: "watermark",
    WatermarkStatus: "status",
    LatencyMarker: "marker",
    Barrier: "snapshot",
    Snapshot: "snapshot",
}


def signal_lane(leg: Leg, item: Item, row: int) -> DraftLane:
    """Return the lane of a watermark, status, marker or barrier: from its input to its output."""
    lane = DraftLane("signal", show(item.element), row)
    began = Point(item.seq, item.at, row, alone=True)
    if item.index is None:
        began = Point(-1, 0, row, alone=True)
        lane.mark("restored", began, f"{lane.label} restored from the snapshot")
    else:
        lane.mark("taken", began, f"{lane.label} taken from the source")
        lane.vertical(_KINDS[type(item.element)], began, "in", f"{lane.label} comes in")
    outputs = leg.outputs.get(item.pos) or _answers(leg.history, item)
    _pass(lane, began, outputs)
    return lane


def _answers(history: LegHistory, item: Item) -> list[Output]:
    """Return the Snapshots that a barrier asked for."""
    return [snapshot.output for snapshot in history.snapshots if snapshot.barrier is item]


def request_lanes(leg: Leg, row: int) -> Iterator[DraftLane]:
    """Yield a lane for each snapshot on demand."""
    for seq, event in leg.history.seen(SnapshotAsked):
        lane = DraftLane("signal", f"snapshot {event.checkpoint_id} on demand", row)
        began = Point(seq, event.at, row, alone=True)
        lane.mark("taken", began, f"snapshot {event.checkpoint_id} requested")
        lane.vertical("snapshot", began, "in", f"snapshot {event.checkpoint_id} requested")
        given = [
            snapshot.output
            for snapshot in leg.history.snapshots
            if snapshot.barrier is None and snapshot.checkpoint_id == event.checkpoint_id
        ]
        _pass(lane, began, given)
        yield lane
        row += 1


def _pass(lane: DraftLane, began: Point, outputs: list[Output]) -> None:
    outs = [_out(lane, output) for output in outputs]
    lane.span("passing", began, outs[0] if outs else None, f"{lane.label} is on its way")


def _out(lane: DraftLane, output: Output) -> Point:
    point = Point(output.seq, output.at, lane.row, alone=True, is_output=True)
    text = f"{show(output.element)} comes out"
    lane.mark("emitted", point, text)
    if kind := _KINDS.get(type(output.element)):
        lane.vertical(kind, point, "out", text)
    return point


def stray_lanes(leg: Leg, row: int) -> Iterator[DraftLane]:
    """Yield a lane for each output and for each call that belongs to no input."""
    history = leg.history
    requested = {event.checkpoint_id for _, event in history.seen(SnapshotAsked)}
    for output in history.outputs:
        if output.item is None and not _is_asked_for(history, output.element, requested):
            lane = DraftLane("stray", f"{show(output.element)} {output.trouble}".rstrip(), row)
            _out(lane, output)
            yield lane
            row += 1
    for call in history.extra_calls:
        lane = DraftLane("stray", f"call of {call.value!r}", row)
        since = leg.event(call.seq, row)
        lane.mark("called", since, f"call #{call.number} of {call.value!r}, for no record")
        until = None if call.ended is None else leg.event(call.ended_seq, row)
        if call.ended is not None and until is not None:
            lane.mark(call.ended.how, until, f"call #{call.number} {how_ended(call.ended)}")
        lane.span("running", since, until, f"call #{call.number} runs")
        yield lane
        row += 1


def _is_asked_for(history: LegHistory, element: Element, requested: set[int]) -> bool:
    if not isinstance(element, Snapshot):
        return False
    barriers = {item.checkpoint_id for item in history.barriers}
    return element.checkpoint_id in requested | barriers
