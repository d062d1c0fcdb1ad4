"""STAT: the figures of an operator equal the observed state, at any moment."""

from bisect import bisect_left
from collections.abc import Iterator

from asyncwait.conformance.judging import (
    NEVER,
    ROUNDING,
    Bounds,
    Check,
    Finding,
    LegHistory,
    Reading,
    figure_text,
    figures_at_the_end,
    figures_hold,
    figures_read,
    first_failures,
    leg_check,
    readings,
    span,
)
from asyncwait.spec.scenario import FiguresRead


def _within(rule: str, *names: str) -> Check:
    """Return a check that compares each of the figures with its bounds at each reading."""
    return leg_check(rule)(lambda leg: figures_hold(leg, *names))


# Only records that were called and are not gone are in flight.
what_is_in_flight_is_counted = _within("STAT-1", "in_flight")
# Records that were taken and not called wait for room; a fence may, too.
what_waits_for_room_is_counted = _within("STAT-2", "waiting")
# Only records in flight that are decided are held.
what_is_held_is_counted = _within("STAT-3", "held")
# Every call counts when it begins.
calls_are_counted = _within("STAT-4", "calls")
# Every call except the first of each record is a retry.
repeated_calls_are_counted = _within("STAT-5", "retries")
# Each record for which the failure handler has results counts.
handled_failures_are_counted = _within("STAT-7", "failures_handled")
# A call that runs on counts while it runs, and not only at the end.
abandoned_calls_are_counted_when_they_are_known = _within("STAT-8", "abandoned")
# The high-water marks are the largest values that in_flight and held had.
the_marks_stand_at_the_highest = _within("STAT-9", "max_in_flight", "max_held")


@leg_check("STAT-6")
def timeouts_are_counted(leg: LegHistory) -> Iterator[Finding]:
    """Each record that its deadline decides counts; a record that answers in time does not."""
    yield from figures_hold(leg, "timeouts")
    yield from _look_behind_a_deadline_that_fails(leg)


def _look_behind_a_deadline_that_fails(leg: LegHistory) -> Iterator[Finding]:
    """The deadline that failed the operator counts; later deadlines are undetermined."""
    if leg.ending.error != "CallTimedOut" or not leg.may_be_over_at == leg.over_at == leg.fail_at:
        return
    if not all(item.timed_out for item in first_failures(leg)):
        return
    before = sum(item.timed_out and item.decided_at < leg.fail_at for item in leg.records)
    for figures in figures_read(leg):
        if figures.at <= leg.fail_at:
            continue
        if figures.timeouts <= before:
            yield f"timeouts is {figures.timeouts}, expected {before + 1} or more", figures.at
        yield None


@leg_check("STAT-10")
def the_oldest_record_is_told_by_its_age(leg: LegHistory) -> Iterator[Finding]:
    """The age is the time since the first call of the earliest record in flight."""
    starts = sorted({call.at for call in leg.calls})
    # With limits no event shows whether a record is in flight or waits for its permit.
    for reading in () if leg.scenario.limits else leg.once(readings):
        at, oldest = reading.figures.at, reading.figures.oldest
        if not _is_an_age(reading, starts):
            yield f"oldest is {oldest:g} ms, expected {_age(at, reading.oldest_since)}", at
        if reading.oldest_since[1] < at:
            yield None


def _is_an_age(reading: Reading, starts: list[float]) -> bool:
    """Whether a call is as old as the figure says, and its record may be the oldest."""
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
    return span(0 if latest == NEVER else at - latest, at - earliest)


_PRESENT = ("in_flight", "waiting", "held", "oldest")
_FALLING = ("loads", "shared")
"""Figures that decrease when a load fails and its calls get stale results."""
_LASTING = tuple(
    name
    for name in FiguresRead.__struct_fields__
    if name not in {"at", "waiting_for_permits", *_PRESENT, *_FALLING}
)


@leg_check("STAT-11")
def when_it_is_over_nothing_is_there(leg: LegHistory) -> Iterator[Finding]:
    """After a failure and after leaving the operator is empty, and totals stay."""
    if not leg.seen(FiguresRead):
        return
    is_for_all = leg.ending.how == "interrupted"  # An error for the program is no failure.
    failed_at = NEVER if is_for_all else leg.fail_at
    over = [each for each in figures_read(leg) if failed_at < each.at]
    before = [each for each in figures_read(leg) if failed_at >= each.at]
    for figures in [*over, *figures_at_the_end(leg)]:
        there = [name for name in _PRESENT if getattr(figures, name)]
        last = before[-1] if before else figures
        fallen = [name for name in _LASTING if getattr(figures, name) < getattr(last, name)]
        if there:
            figure = figure_text(getattr(figures, there[0]))
            yield f"{there[0]} is {figure} after the end", figures.at
        if fallen:
            yield f"{fallen[0]} has fallen to {getattr(figures, fallen[0])}", figures.at
        yield None
