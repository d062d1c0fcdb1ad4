"""Conversion of a run to its timeline."""

from collections.abc import Sequence
from itertools import accumulate

from asyncwait.conformance.judging import LegHistory, Violation, history_of
from asyncwait.conformance.timeline._chart import (
    Chart,
    Column,
    Columns,
    DraftLane,
    Lane,
    Mark,
    Span,
)
from asyncwait.conformance.timeline._lanes import (
    Leg,
    record_lane,
    request_lanes,
    signal_lane,
    stray_lanes,
    track_lanes,
)
from asyncwait.conformance.timeline._text import ending_of
from asyncwait.spec.scenario import Scenario, Trace


def lay_out(
    scenario: Scenario, trace: Trace, violation: Violation | None = None
) -> tuple[Chart, ...]:
    """Return the timeline of a run: a chart for each leg.

    Args:
        scenario: the plan.
        trace: the trace of the run.
        violation: the violation in it; None for none.

    Raises:
        ValueError: no operator can have written the trace: a call ends that has never started.
    """
    history = history_of(scenario, trace)
    several = len(history.legs) > 1
    charts = []
    for number, leg in enumerate(history.legs):
        here = violation if violation is not None and violation.leg == number else None
        charts.append(_chart(leg, f"leg {number + 1}: " if several else "", here))
    return tuple(charts)


def _chart(history: LegHistory, name: str, violation: Violation | None) -> Chart:
    lanes = _lanes(Leg(history))
    moments = [history.end_at] if violation is None else [history.end_at, violation.at]
    columns = Columns((point for lane in lanes for point in lane.points), moments)
    wrong_at = None if violation is None else violation.at
    placed = tuple(_placed(lane, columns) for lane in lanes)
    return Chart(
        f"{name}{history.observed.mode}, capacity {history.capacity}",
        history.capacity,
        history.room,
        tuple(
            Column(at, count, at == wrong_at)
            for at, count in zip(columns.ats, _in_flight(placed, len(columns.ats)), strict=True)
        ),
        placed,
        f"{ending_of(history.ending)} at {history.end_at:g} ms",
        "" if violation is None else violation.text,
        0 if violation is None else violation.at,
    )


def _lanes(leg: Leg) -> list[DraftLane]:
    lanes = [
        (record_lane if item.is_record else signal_lane)(leg, item, row)
        for row, item in enumerate(leg.history.items)
    ]
    lanes += request_lanes(leg, len(lanes))
    lanes += stray_lanes(leg, len(lanes))
    return [*lanes, *track_lanes(leg, len(lanes))]


def _placed(lane: DraftLane, columns: Columns) -> Lane:
    spans = tuple(Span(s.kind, columns[s.since], columns[s.until], s.text) for s in lane.spans)
    marks = (Mark(m.kind, columns[m.column], m.text, m.sign) for m in lane.marks)
    in_order = sorted(marks, key=lambda mark: mark.column)
    return Lane(lane.kind, lane.label, spans, tuple(in_order))


def _in_flight(lanes: Sequence[Lane], count: int) -> list[int]:
    """Return, after each column, how many records are called and not yet out."""
    changes = [0] * (count + 1)
    for lane in lanes:
        called = [mark.column for mark in lane.marks if mark.kind == "called"]
        if lane.kind != "record" or not called:
            continue
        there = (s for s in lane.spans if s.kind in {"running", "shared", "back-off", "held"})
        changes[called[0]] += 1
        changes[max(span.until for span in there)] -= 1
    return list(accumulate(changes[:count]))
