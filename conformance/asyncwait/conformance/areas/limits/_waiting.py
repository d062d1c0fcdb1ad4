"""Records that wait for their permits, and the room that limits have for them."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from asyncwait.conformance.areas.limits._counted import (
    Place,
    Run,
    Window,
    is_too_large,
    place_of,
    runs,
    sizes,
    windows,
)
from asyncwait.conformance.judging import NEVER, ROUNDING, Item, LegHistory, Rest, figures_read
from asyncwait.spec.scenario import FiguresRead


class Waiter(Struct, frozen=True, eq=False):
    """A record that may wait for a permit at a moment of rest.

    Args:
        item: the record.
        is_retry: whether it was called before.
        is_sure: whether it surely waits.
    """

    item: Item
    is_retry: bool
    is_sure: bool


class Idle(NamedTuple):
    """A moment of rest at which records surely wait for permits.

    Args:
        rest: the moment.
        unused: a record that waits although all limits have room for it; None for no such record.
        rule: the rule that such a record breaks.
    """

    rest: Rest
    unused: Item | None
    rule: str


def callable_since(leg: LegHistory) -> Mapping[Item, float]:
    """Return the time in ms at which the key of each record was free for its first call."""
    before = {item: other for other, item in leg.pairs_of_keys}
    return {
        item: max(item.at, before[item].decided_at if item in before else -NEVER)
        for item in leg.records
    }


def idles(leg: LegHistory) -> Sequence[Idle]:
    """Return the moments of rest at which records surely wait; none for budgets and breakers."""
    scenario = leg.scenario
    has_others = any(each.kind not in {"window", "in-flight"} for each in scenario.limits)
    if not scenario.limits or has_others or scenario.batch is not None:
        return []
    found = []
    for rest, until in _moments(leg):
        waiters = list(_waiters(leg, rest, until))
        if any(each.is_sure for each in waiters):
            unused = _unused(leg, waiters, _Room(leg, rest, until))
            found.append(Idle(rest, unused, _rule(leg, rest, until)))
    return found


def _moments(leg: LegHistory) -> Iterator[tuple[Rest, float]]:
    return ((rest, rest.until) for rest in leg.waits if rest.until <= leg.may_be_over_at)


def _waiters(leg: LegHistory, rest: Rest, until: float) -> Iterator[Waiter]:
    """Yield the records that may wait for a permit just before the next instant."""
    since = leg.once(callable_since)
    is_admitted = rest.present <= leg.capacity
    for item in leg.records:
        if item.seq > rest.seq:
            return
        if item.decided_at <= rest.at or item.is_begun_before(rest.seq) or is_too_large(leg, item):
            continue
        again = _next_call(leg, item, rest.seq)
        if again is None:
            if since[item] <= rest.at:
                yield Waiter(item, is_retry=False, is_sure=is_admitted)
        elif again[0] <= until < NEVER:
            is_sure = again[1] < until - ROUNDING and leg.deadline(item) >= until
            yield Waiter(item, is_retry=True, is_sure=is_sure)


def _next_call(leg: LegHistory, item: Item, seq: int) -> tuple[float, float] | None:
    """Return when a record may be called again at the earliest, and when for sure, in ms.

    NEVER if the outcome of its last call up to an event stands. None if the record was not called
    by then.
    """
    begun = [call for call in item.attempts if call.seq <= seq]
    if not begun:
        return None
    end = leg.outcome(begun[-1], len(begun))
    return (NEVER, NEVER) if end is None else (end.since, end.due)


def _unused(leg: LegHistory, waiters: Sequence[Waiter], room: "_Room") -> Item | None:
    """Return a record that waits although all limits have room for it, reserved room left out."""
    for waiter in waiters:
        if not waiter.is_sure or room.lacking(waiter.item):
            continue
        others = (each for each in waiters if each is not waiter)
        before = [each.item for each in others if _may_be_before(leg, each, waiter)]
        places = room.places(waiter.item)
        if not any(places & room.lacking(item) for item in before):
            return waiter.item
    return None


def _may_be_before(leg: LegHistory, other: Waiter, waiter: Waiter) -> bool:
    if other.is_retry or waiter.is_retry:
        return other.is_retry
    return leg.key_ordered or other.item.pos < waiter.item.pos


class _Room:
    """The least room that limits have at a moment of rest."""

    def __init__(self, leg: LegHistory, rest: Rest, until: float) -> None:
        self._leg = leg
        self._taken: dict[Window, dict[Place, float]] = {}
        begun = [run for run in leg.once(runs) if run.seq <= rest.seq]
        for window in windows(leg):
            taken: dict[Place, float] = defaultdict(float)
            for run in begun:
                if _may_count(window, run, rest, until):
                    place = place_of(leg, window, run.calls[0].value)
                    taken[place] += max(sizes(leg, window.limit, run))
            self._taken[window] = taken

    def places(self, item: Item) -> set[Place]:
        """Return all places in which a record needs room."""
        value = item.element.value  # type: ignore[union-attr]
        return {place_of(self._leg, window, value) for window in self._taken}

    def lacking(self, item: Item) -> set[Place]:
        """Return the places that may lack room for a record."""
        value = item.element.value  # type: ignore[union-attr]
        found = set()
        for window, taken in self._taken.items():
            place = place_of(self._leg, window, value)
            size = self._leg.scenario.cost(value) if window.limit.costs else 1
            if taken[place] + size > window.most:
                found.add(place)
        return found


def _may_count(window: Window, run: Run, rest: Rest, until: float) -> bool:
    if window.per is None:
        return not -1 < run.calls[0].ended_seq <= rest.seq
    return window.until(run) >= until - ROUNDING


def _rule(leg: LegHistory, rest: Rest, until: float) -> str:
    there = [item for item in leg.records if item.seq <= rest.seq]
    if any(is_too_large(leg, item) and item.decided_at > rest.at for item in there):
        return "LIMIT-13"
    if any(_was_given_up(leg, item, rest) for item in there):
        return "LIMIT-6"
    if any(_can_not_be_called(leg, item, rest, until) for item in there):
        return "LIMIT-5"
    return "LIMIT-10" if any(each.by for each in leg.scenario.limits) else "LIMIT-4"


def _was_given_up(leg: LegHistory, item: Item, rest: Rest) -> bool:
    """Whether a record was decided while it may have waited to be called again."""
    if not item.attempts or item.decided_at > rest.at:
        return False
    end = leg.outcome(item.attempts[-1], len(item.attempts))
    return end is not None and end.since <= item.decided_at


def _can_not_be_called(leg: LegHistory, item: Item, rest: Rest, until: float) -> bool:
    if item.decided_at <= rest.at:
        return False
    begun = [call for call in item.attempts if call.seq <= rest.seq]
    if not begun:
        return leg.once(callable_since)[item] > rest.at
    end = leg.outcome(begun[-1], len(begun))
    return end is not None and end.at <= rest.at and until <= end.since < NEVER


def queues(leg: LegHistory) -> Sequence[tuple[FiguresRead, int, int]]:
    """Return each reading of the figures with the least and the most records that wait then.

    A reading is left out if something else happens in its instant.
    """
    if not leg.scenario.limits or leg.scenario.batch is not None or leg.may_stop:
        return []
    alone = Counter(event.at for event in leg.events)
    rests = [rest for rest in leg.rests if not rest.failed]
    found = []
    for figures in figures_read(leg):
        number = bisect_left(rests, figures.at, key=lambda rest: rest.at)
        if number and alone[figures.at] == 1 and figures.at < leg.may_be_over_at:
            waiters = list(_waiters(leg, rests[number - 1], figures.at))
            found.append((figures, sum(each.is_sure for each in waiters), len(waiters)))
    return found


def pending_retry(leg: LegHistory, run: Run) -> Item | None:
    """Return a record that surely waited to be called again when a call began."""
    for item in leg.records:
        if item.seq > run.seq:
            return None
        again = _next_call(leg, item, run.seq - 1)
        is_there = item.decided_at > run.at and leg.deadline(item) > run.at
        if again is not None and is_there and again[1] < run.at - ROUNDING:
            return item
    return None


def long_waits(leg: LegHistory) -> Sequence[tuple[Item, float, float]]:
    """Return each record that surely waits, since when, and until when at least, in ms.

    The result is empty with several limits, with retries, and with batches.
    """
    scenario = leg.scenario
    if scenario.retry is not None or scenario.batch is not None or len(scenario.limits) != 1:
        return []
    since: dict[Item, float] = {}
    return [
        (each.item, since.setdefault(each.item, rest.at), until)
        for rest, until in _moments(leg)
        for each in _waiters(leg, rest, until)
        if each.is_sure
    ]
