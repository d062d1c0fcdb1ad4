"""What an operator with a cache did, told as calls: who asked for a key, and what they were given.

Its function is called for loads alone, and the harness sees who asks for a key, as the operator
takes it of a value. So each ask is a call of its record, and belongs to a load: the one that begins
with its value, one that runs, or else the one whose results are kept. A load that no ask has begun
is a call for no record. Nothing of that is known before the leg is over: an ask may come before the
call of the function that it leads to.
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
    """Return the key of a value: itself, or what can be hashed in its place."""
    if isinstance(value, list):
        return tuple(map(key_of, value))
    return identity(value) if isinstance(value, dict) else value


class Ask(Struct, frozen=True, eq=False):
    """An operator has asked for the key of a record.

    Args:
        number: 0 for the first of the leg, then 1, and so on.
        place: how many events were written before.
        at: ms since the leg began.
        value: the record's, which is its key.
        record: the number of that record; None if it is not known.
    """

    number: int
    place: int
    at: float
    value: Any
    record: int | None


class _Load(Struct, eq=False):
    """A call of the function, and the numbers of the events at which it began, and so on."""

    started: CallStarted
    began: int
    cancelled: float = math.inf
    ended: float = math.inf
    end: CallEnded | None = None
    first: Ask | None = None

    def is_running(self, place: float) -> bool:
        """Whether it has begun and not ended before an event."""
        return self.began < place <= self.ended

    @property
    def since(self) -> float:
        """The ms from which on its results are good."""
        return self.started.at if self.first is None else self.first.at

    @property
    def is_over(self) -> bool:
        """Whether it came to something."""
        return self.end is not None and self.cancelled == math.inf

    @property
    def is_good(self) -> bool:
        """Whether it came to results."""
        return self.is_over and self.end is not None and self.end.how == "returned"


def as_calls(
    scenario: Scenario, events: Sequence[Event], asks: Sequence[Ask], ended_at: float
) -> tuple[Event, ...]:
    """Return the events of a leg, in which each ask is a call.

    Args:
        scenario: which has a cache.
        events: in which each call of the function is one.
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
        """Yield each ask that has begun a load with it: the last one of that record before.

        One that was given what is kept may have begun a load ahead of time: that is for nobody.
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
        """Return the load that an ask belongs to; None if there has been none of its key.

        In the last instant of a leg, an ask may have begun a load that never had its turn: then it
        belongs to none that was not to be shared.
        """
        own = self._own.get(ask)
        if own is not None:
            return own
        if is_last and is_null(ask.value):
            return None
        return self._kept(ask) or self._shared(ask) or self._given(ask, is_last=is_last)

    def _kept(self, ask: Ask, *, ahead: bool = False) -> _Load | None:
        """Return the last load whose results are good, and due to be loaded ahead of time.

        Only where that is planned, so that a load may run besides: there is room for all keys then.
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
        """Whether a load whose results aren't kept has just ended, and nobody has begun another."""
        assert load.end is not None
        begun = [each for each in self._by_key[identity(ask.value)] if each.began > load.ended]
        is_noted = any(each.first and each.first.number < ask.number for each in begun)
        return load.end.at == ask.at >= self._good_until(load) and not is_noted

    def _good_until(self, load: _Load) -> float:
        assert load.end is not None
        return self._planned.good_until(load.since, load.end.results)

    def _shared(self, ask: Ask) -> _Load | None:
        """Return a load that runs, or that another ask has led to already.

        One behind which another has begun, or will because of an ask before this one, was given up
        then, though it may not know that yet.
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
    """Writes the events of a leg anew."""

    def __init__(self, scenario: Scenario, loads: _Loads, ended_at: float) -> None:
        self._scenario = scenario
        self._loads = loads
        self._last_at = ended_at
        """The beginning of the last instant: of the blocks of the loop that last until the end."""
        self._calls = 0
        self._members: dict[int, list[int]] = defaultdict(list)

    def told(self, events: Sequence[Event], asks: Sequence[Ask]) -> Iterator[Event]:
        """Yield them."""
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
