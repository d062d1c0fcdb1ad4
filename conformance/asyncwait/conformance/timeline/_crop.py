"""As much of a long timeline as a person reads: how it begins, what led to what is wrong, its end.

A scenario of thousands of elements that can't be made smaller would bury everything else.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import replace

from asyncwait.conformance.timeline._chart import Chart, Column, Lane, Mark, Span, Vertical

FIRST, AFTER, LAST = 3, 4, 2
"""Columns that are shown: of the beginning, behind what is wrong, and of the end."""

_At = TypeVar("_At", Mark, Vertical)


def cropped(chart: Chart, columns: int, lanes: int) -> Chart:
    """Return a chart with at most so many columns, and so many lanes beside its tracks."""
    shown = _shown(chart, max(columns, FIRST + AFTER + LAST + 2))
    if len(shown) < len(chart.columns):
        chart = _with_columns(chart, shown)
    return _with_lanes(chart, lanes)


def _shown(chart: Chart, most: int) -> Sequence[int]:
    """Return the numbers of the columns that are shown."""
    count = len(chart.columns)
    if count <= most:
        return range(count)
    focus = _focus(chart)
    until = min(count, max(focus + AFTER + 1, most - LAST))
    since = max(0, until - (most - FIRST - LAST))
    return sorted({*range(FIRST), *range(since, until), *range(count - LAST, count)})


def _focus(chart: Chart) -> int:
    """Return the last column of the instant that offends; the first column where none does."""
    return max((n for n, column in enumerate(chart.columns) if column.offends), default=0)


def _with_columns(chart: Chart, shown: Sequence[int]) -> Chart:
    places = {number: place for place, number in enumerate(shown)}
    columns = tuple(
        replace(chart.columns[number], skipped=number - before - 1)
        for before, number in zip([-1, *shown], shown, strict=False)
    )
    lanes = tuple(
        replace(lane, spans=_spans(lane, shown), marks=_kept(lane.marks, places))
        for lane in chart.lanes
    )
    verticals = _kept(chart.verticals, places)
    return replace(chart, columns=columns, lanes=lanes, verticals=verticals)


def _kept(found: Sequence[_At], places: dict[int, int]) -> tuple[_At, ...]:
    return tuple(
        replace(each, column=places[each.column]) for each in found if each.column in places
    )


def _spans(lane: Lane, shown: Sequence[int]) -> tuple[Span, ...]:
    """Return the spans as far as they are seen."""
    found = (
        replace(
            span, since=bisect_left(shown, span.since), until=bisect_right(shown, span.until) - 1
        )
        for span in lane.spans
    )
    return tuple(span for span in found if span.since <= span.until)


def _with_lanes(chart: Chart, most: int) -> Chart:
    """Leave out lanes in which nothing is seen, and those in which it is farthest off."""
    others = [n for n, lane in enumerate(chart.lanes) if lane.kind != "track"]
    if len(others) <= most:
        return chart
    focus = _focus(chart)
    seen = [n for n in others if chart.lanes[n].spans or chart.lanes[n].marks]
    nearest = sorted(seen, key=lambda n: (_distance(chart.lanes[n], focus), -n))[:most]
    tracks = [n for n, lane in enumerate(chart.lanes) if lane.kind == "track"]
    kept = tuple(chart.lanes[number] for number in sorted([*nearest, *tracks]))
    return replace(chart, lanes=kept, hidden=len(chart.lanes) - len(kept))


def _distance(lane: Lane, focus: int) -> int:
    return min((abs(mark.column - focus) for mark in lane.marks), default=10**9)


def instants(columns: Sequence[Column]) -> list[tuple[int, int]]:
    """Return the first and the last column of each instant."""
    found: list[tuple[int, int]] = []
    for number, column in enumerate(columns):
        if number and not column.skipped and columns[number - 1].at == column.at:
            found[-1] = found[-1][0], number
        else:
            found.append((number, number))
    return found
