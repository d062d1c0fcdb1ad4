"""Conversion of a run to its timeline."""

from bisect import bisect_left, bisect_right
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
    nearest_lanes,
    shown_columns,
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
    drafts = _lanes(Leg(history))
    wrong_at = None if violation is None else violation.at
    moments = [history.end_at] if wrong_at is None else [history.end_at, wrong_at]
    columns = Columns((point for lane in drafts for point in lane.points), moments)
    ats, counts = columns.ats, _in_flight(drafts, columns)
    focus = max((n for n, at in enumerate(ats) if at == wrong_at), default=0)
    shown = shown_columns(len(ats), focus)
    placed = [_placed(lane, columns, shown) for lane in drafts]
    lanes = nearest_lanes(placed, shown.index(focus))
    return Chart(
        f"{name}{history.observed.mode}, capacity {history.capacity}",
        history.capacity,
        history.room,
        tuple(
            Column(ats[number], counts[number], ats[number] == wrong_at, number - before - 1)
            for before, number in zip([-1, *shown], shown, strict=False)
        ),
        tuple(lanes),
        f"{ending_of(history.ending)} at {history.end_at:g} ms",
        "" if violation is None else violation.text,
        wrong_at or 0,
        len(placed) - len(lanes),
    )


def _lanes(leg: Leg) -> list[DraftLane]:
    lanes = [
        (record_lane if item.is_record else signal_lane)(leg, item, row)
        for row, item in enumerate(leg.history.items)
    ]
    lanes += request_lanes(leg, len(lanes))
    lanes += stray_lanes(leg, len(lanes))
    return [*lanes, *track_lanes(leg, len(lanes))]


def _placed(lane: DraftLane, columns: Columns, shown: Sequence[int]) -> Lane:
    """Return a lane with its parts in the columns that are shown."""
    places = {number: place for place, number in enumerate(shown)}
    spans = (
        Span(
            span.kind,
            bisect_left(shown, columns[span.since]),
            bisect_right(shown, columns[span.until]) - 1,
            span.text,
        )
        for span in lane.spans
    )
    marks = (
        Mark(mark.kind, places[columns[mark.column]], mark.text, mark.sign)
        for mark in sorted(lane.marks, key=lambda mark: columns[mark.column])
        if columns[mark.column] in places
    )
    there = (span for span in spans if span.since <= span.until)
    return Lane(lane.kind, lane.label, tuple(there), tuple(marks))


def _in_flight(lanes: Sequence[DraftLane], columns: Columns) -> list[int]:
    """Return, after each column, how many records are called and not yet out."""
    changes = [0] * (len(columns.ats) + 1)
    for lane in lanes:
        called = [columns[mark.column] for mark in lane.marks if mark.kind == "called"]
        if lane.kind != "record" or not called:
            continue
        there = (s for s in lane.spans if s.kind in {"running", "shared", "back-off", "held"})
        changes[min(called)] += 1
        changes[max(columns[span.until] for span in there)] -= 1
    return list(accumulate(changes[:-1]))
