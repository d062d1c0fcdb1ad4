"""STAT: the figures of an operator tell what is seen of it, at any moment."""

from bisect import bisect_left
from collections.abc import Iterator

from asyncwait.conformance.judging import (
    NEVER,
    ROUNDING,
    Bounds,
    Finding,
    LegHistory,
    Reading,
    figures_at_the_end,
    figures_read,
    leg_check,
    readings,
)
from asyncwait.spec.scenario import FiguresRead


def _within(leg: LegHistory, name: str) -> Iterator[Finding]:
    """Compare a figure with what it may be, each time it is read."""
    for reading in leg.once(readings):
        figure, (least, most) = getattr(reading.figures, name), reading.bounds[name]
        if not least <= figure <= most:
            yield f"{name} is {figure}, expected {_told(least, most)}", reading.figures.at
            return
        if most:
            yield None


def _told(least: float, most: float) -> str:
    return f"{least:g}" if least >= most else f"{least:g} to {most:g}"


@leg_check("STAT-1")
def what_is_in_flight_is_counted(leg: LegHistory) -> Iterator[Finding]:
    """Records that were called and are not gone are in flight, and no others."""
    yield from _within(leg, "in_flight")


@leg_check("STAT-2")
def what_waits_for_room_is_counted(leg: LegHistory) -> Iterator[Finding]:
    """Records that were taken and not called wait for room; a fence may, too."""
    yield from _within(leg, "waiting")


@leg_check("STAT-3")
def what_is_held_is_counted(leg: LegHistory) -> Iterator[Finding]:
    """Records in flight that are decided are held, and no others."""
    yield from _within(leg, "held")


@leg_check("STAT-4")
def calls_are_counted(leg: LegHistory) -> Iterator[Finding]:
    """Every call counts when it begins."""
    yield from _within(leg, "calls")


@leg_check("STAT-5")
def repeated_calls_are_counted(leg: LegHistory) -> Iterator[Finding]:
    """Every call but the first of each record is a retry."""
    yield from _within(leg, "retries")


@leg_check("STAT-6")
def timeouts_are_counted(leg: LegHistory) -> Iterator[Finding]:
    """Each record that its deadline decides counts, and none that answers in time."""
    yield from _within(leg, "timeouts")


@leg_check("STAT-7")
def handled_failures_are_counted(leg: LegHistory) -> Iterator[Finding]:
    """Each record counts that the failure handler has results for."""
    yield from _within(leg, "failures_handled")


@leg_check("STAT-8")
def abandoned_calls_are_counted_when_they_are_known(leg: LegHistory) -> Iterator[Finding]:
    """A call that runs on counts while it does, and not only when all is over."""
    yield from _within(leg, "abandoned")


@leg_check("STAT-9")
def the_marks_stand_at_the_highest(leg: LegHistory) -> Iterator[Finding]:
    """The high-water marks are what in_flight and held have been at most."""
    yield from _within(leg, "max_in_flight")
    yield from _within(leg, "max_held")


@leg_check("STAT-10")
def the_oldest_record_is_told_by_its_age(leg: LegHistory) -> Iterator[Finding]:
    """The age is that of the first call of a record that is in flight, of the earliest."""
    starts = sorted({call.at for call in leg.calls})
    for reading in leg.once(readings):
        at, oldest = reading.figures.at, reading.figures.oldest
        if not _is_an_age(reading, starts):
            yield f"oldest is {oldest:g} ms, expected {_age(at, reading.oldest_since)}", at
            return
        if reading.oldest_since[1] < at:
            yield None


def _is_an_age(reading: Reading, starts: list[float]) -> bool:
    """Whether there is a call that is so old, of a record that may be the oldest."""
    at, oldest, (earliest, latest) = (
        reading.figures.at,
        reading.figures.oldest,
        reading.oldest_since,
    )
    if oldest == 0 and latest == NEVER:
        return True
    since = at - oldest
    number = bisect_left(starts, since - ROUNDING)
    is_a_start = number < len(starts) and starts[number] <= since + ROUNDING
    return is_a_start and earliest - ROUNDING <= since <= min(latest, at) + ROUNDING


def _age(at: float, since: Bounds) -> str:
    earliest, latest = since
    if earliest == NEVER:
        return "0: nothing is in flight"
    return _told(0 if latest == NEVER else at - latest, at - earliest)


_PRESENT = ("in_flight", "waiting", "held", "oldest")
_FALLING = ("loads", "shared")
"""Calls that are neither any more once they are given old results."""
_LASTING = tuple(
    name for name in FiguresRead.__struct_fields__ if name not in {"at", *_PRESENT, *_FALLING}
)


@leg_check("STAT-11")
def when_it_is_over_nothing_is_there(leg: LegHistory) -> Iterator[Finding]:
    """After a failure and after leaving nothing is in flight any more, and totals stay."""
    if not leg.seen(FiguresRead):
        return
    is_for_all = leg.ending.how == "interrupted"  # What ends the program is no failure of it.
    failed_at = NEVER if is_for_all else leg.facts.instants(leg.fail_at)[-1]
    over = [each for each in figures_read(leg) if failed_at < each.at]
    before = [each for each in figures_read(leg) if failed_at >= each.at]
    for figures in [*over, *figures_at_the_end(leg)]:
        there = [name for name in _PRESENT if getattr(figures, name)]
        fallen = [name for name in _LASTING if _has_fallen(name, before, figures)]
        if there:
            yield f"{there[0]} is {getattr(figures, there[0]):g} after the end", figures.at
            return
        if fallen:
            yield f"{fallen[0]} has fallen to {getattr(figures, fallen[0])}", figures.at
            return
        yield None


def _has_fallen(name: str, before: list[FiguresRead], figures: FiguresRead) -> bool:
    return bool(before) and getattr(figures, name) < getattr(before[-1], name)
