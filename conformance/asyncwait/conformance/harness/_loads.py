"""Events of an operator with a cache, rewritten as calls: each asked key and its results.

The operator calls the function for loads alone. The harness sees each ask for a key, because the
operator computes the key of a value with the harness's function. Each ask becomes a call of its
record, and belongs to a load: the load that begins with its value, a running load, or else the
load whose results are cached. A load that no ask has begun is a call for no record. The events are
rewritten when the leg is over, because an ask may precede the call of the function that it causes.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance.harness._telling import portable
from asyncwait.spec.scenario import (
    Blocked,
    CallCancelled,
    CallEnded,
    CallStarted,
    Event,
    PlannedCache,
    Scenario,
    identity,
    is_null,
)


def key_of(value: Any) -> Any:
    """Return the key of a value: the value itself, or a hashable substitute."""
    if isinstance(value, list):
        return tuple(map(key_of, value))
    return identity(value) if isinstance(value, dict) else value


class Ask(Struct, frozen=True, eq=False):
    """An operator's request for the key of a record.

    Args:
        number: 0 for the first of the leg, then 1, and so on.
        place: how many events were written before.
        at: ms since the leg began.
        value: the record's value, which is its key.
        record: the number of that record; None if it is unknown.
    """

    number: int
    place: int
    at: float
    value: Any
    record: int | None


class _Load(Struct, eq=False):
    """A call of the function, with the numbers of the events that begin, cancel and end it."""

    started: CallStarted
    began: int
    cancelled: float = math.inf
    ended: float = math.inf
    end: CallEnded | None = None
    first: Ask | None = None

    def is_running(self, place: float) -> bool:
        """Whether the load has begun, and has not ended before an event."""
        return self.began < place <= self.ended

    @property
    def since(self) -> float:
        """The ms from which on its results are valid."""
        return self.started.at if self.first is None else self.first.at

    @property
    def is_over(self) -> bool:
        """Whether the load ended without a cancellation."""
        return self.end is not None and self.cancelled == math.inf

    @property
    def is_good(self) -> bool:
        """Whether the load ended with results."""
        return self.is_over and self.end is not None and self.end.how == "returned"


def as_calls(
    scenario: Scenario, events: Sequence[Event], asks: Sequence[Ask], ended_at: float
) -> tuple[Event, ...]:
    """Return the events of a leg with a call for each ask.

    Args:
        scenario: a scenario with a cache.
        events: events in which each call of the function is a call.
        asks: in their order.
        ended_at: ms, when the leg ended.
    """
    assert scenario.cache is not None
    loads = _Loads(scenario.cache, events, asks)
    return tuple(_Teller(scenario, loads, ended_at).told(events, asks))


class _Loads:
    def __init__(self, planned: PlannedCache, events: Sequence[Event], asks: Sequence[Ask]) -> None:
        self._planned = planned
        self.by_number: dict[int, _Load] = {}
        self._by_key: dict[str, list[_Load]] = defaultdict(list)
        for place, event in enumerate(events):
            self._note(place, event)
        self._own = dict(self._begun_by(asks))

    def _note(self, place: int, event: Event) -> None:
        match event:
            case CallStarted():
                load = self.by_number[event.call] = _Load(event, place)
                self._by_key[identity(event.value)].append(load)
            case CallCancelled():
                self.by_number[event.call].cancelled = place
            case CallEnded():
                load = self.by_number[event.call]
                load.ended, load.end = place, event

    def _begun_by(self, asks: Sequence[Ask]) -> Iterator[tuple[Ask, _Load]]:
        """Yield each ask that has begun a load, with the load: the record's last ask before it.

        An ask that received cached results may have begun a refresh, which belongs to no record.
        """
        waiting: dict[tuple[int | None, str], list[Ask]] = defaultdict(list)
        places = sorted(self.by_number.values(), key=lambda load: load.began)
        number = 0
        for load in places:
            while number < len(asks) and asks[number].place <= load.began:
                waiting[_name(asks[number].record, asks[number].value)].append(asks[number])
                number += 1
            same = waiting[_name(load.started.record, load.started.value)]
            if same:
                ask = same.pop()
                if self._kept(ask, ahead=True) is None:
                    load.first = ask
                    yield ask, load

    def load_of(self, ask: Ask, *, is_last: bool) -> _Load | None:
        """Return the load that an ask belongs to; None if its key was never loaded.

        In the last instant of a leg, an ask may have begun a load that never got to run. If its
        results were not to be shared, the ask then belongs to no load.
        """
        own = self._own.get(ask)
        if own is not None:
            return own
        if is_last and is_null(ask.value):
            return None
        return self._kept(ask) or self._shared(ask) or self._given(ask, is_last=is_last)

    def _kept(self, ask: Ask, *, ahead: bool = False) -> _Load | None:
        """Return the last load whose results are valid; with `ahead`, only if a refresh is due.

        Applies only where refreshes are planned, and so a load may run besides: the cache then has
        room for all keys.
        """
        if self._planned.refresh_ahead is None or is_null(ask.value):
            return None
        good = self._last(ask, lambda load: load.is_good)
        if good is not None and not ahead and self._is_unnoted(good, ask):
            good = self._last(ask, lambda load: load.is_good and load is not good)
        if good is None or good.end is None:
            return None
        is_due = not ahead or self._planned.refresh_from(good.since) <= ask.at
        is_good = ask.at < self._good_until(good)
        return good if is_due and is_good and (good.end.results or not ahead) else None

    def _is_unnoted(self, load: _Load, ask: Ask) -> bool:
        """Whether a load with uncached results has just ended, and no ask has begun another."""
        assert load.end is not None
        begun = [each for each in self._by_key[identity(ask.value)] if each.began > load.ended]
        is_noted = any(each.first and each.first.number < ask.number for each in begun)
        return load.end.at == ask.at >= self._good_until(load) and not is_noted

    def _good_until(self, load: _Load) -> float:
        assert load.end is not None
        return self._planned.good_until(load.since, load.end.results)

    def _shared(self, ask: Ask) -> _Load | None:
        """Return a load that runs, or that another ask has already caused.

        A load is abandoned once another load has begun after it, or will begin because of an
        earlier ask, though the abandoned load may not have noticed yet.
        """
        same = self._by_key[identity(ask.value)]
        last_begun = [each for each in same if each.began < ask.place][-1:]
        going_on = [
            each
            for each in last_begun
            if each.is_running(ask.place) and each.cancelled >= ask.place
        ]
        soon = [
            each
            for each in same
            if each.first and each.first.number < ask.number and ask.place <= each.began
        ]
        last = self._last(ask, lambda load: load.is_over)
        just_now = [] if last is None or last.end is None or last.end.at < ask.at else [last]
        return next(iter([*soon[-1:], *going_on[-1:], *just_now]), None)

    def _given(self, ask: Ask, *, is_last: bool) -> _Load | None:
        same = self._by_key[identity(ask.value)]
        running = [each for each in same if each.is_running(ask.place)]
        good = self._last(ask, lambda load: load.is_good)
        over = self._last(ask, lambda load: load.is_over)
        return good or over or next(iter(() if is_last else running[-1:]), None)

    def _last(self, ask: Ask, fits: Any) -> _Load | None:
        ended = [
            each
            for each in self._by_key[identity(ask.value)]
            if each.ended < ask.place and fits(each)
        ]
        return max(ended, key=lambda load: load.ended, default=None)


def _name(record: int | None, value: Any) -> tuple[int | None, str]:
    return record, identity(value)


class _Teller:
    def __init__(self, scenario: Scenario, loads: _Loads, ended_at: float) -> None:
        self._scenario = scenario
        self._loads = loads
        self._last_at = ended_at
        """Start of the last instant, or of the loop blocks that last until the end."""
        self._calls = 0
        self._members: dict[int, list[int]] = defaultdict(list)

    def told(self, events: Sequence[Event], asks: Sequence[Ask]) -> Iterator[Event]:
        number = 0
        for block in reversed([event for event in events if isinstance(event, Blocked)]):
            if block.until >= self._last_at:
                self._last_at = min(self._last_at, block.at)
        for place, event in enumerate(events):
            while number < len(asks) and asks[number].place <= place:
                yield from self._asked(asks[number])
                number += 1
            yield from self._happened(event)
        for ask in asks[number:]:
            yield from self._asked(ask)

    def _asked(self, ask: Ask) -> Iterator[Event]:
        is_last = ask.at >= self._last_at
        load = self._loads.load_of(ask, is_last=is_last)
        if load is not None:
            number = load.started.call
            call = self._start(ask.at, ask.value, ask.record, number)
            yield call
            if load.ended < ask.place and load.end is not None:
                yield replace(load.end, at=ask.at, call=call.call)
        elif not is_last:  # or all was over before the load could begin
            yield (call := self._start(ask.at, ask.value, ask.record, None))
            results = self._scenario.step(ask.value, 0).results
            yield CallEnded(ask.at, call.call, results=tuple(map(portable, results)))

    def _start(self, at: float, value: Any, record: int | None, batch: int | None) -> CallStarted:
        call, self._calls = self._calls, self._calls + 1
        if batch is not None:
            self._members[batch].append(call)
        return CallStarted(at, call, portable(value), record, batch)

    def _happened(self, event: Event) -> Iterator[Event]:
        match event:
            case CallStarted():
                if self._loads.by_number[event.call].first is None:
                    yield self._start(event.at, event.value, None, event.call)
            case CallCancelled() | CallEnded():
                for call in self._members[event.call]:
                    yield replace(event, call=call)
            case _:
                yield event
