"""What the events of a leg say by themselves: read once, and the same in every explanation."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance.judging._identity import Identity, identity_of
from asyncwait.conformance.judging._items import NEVER, Call, Input
from asyncwait.spec import Element, Record
from asyncwait.spec.scenario import (
    Blocked,
    CallCancelled,
    CallEnded,
    CallStarted,
    Event,
    FailureAsked,
    HandlerAsked,
    Leg,
    Scenario,
    SinkTook,
    Taken,
    identity,
)

_E = TypeVar("_E")


class Seen(Struct, frozen=True, eq=False):
    """The events of a leg by their kind, each with its number."""

    by_kind: Mapping[type, Sequence[tuple[int, Any]]]

    @classmethod
    def of(cls, events: Sequence[Event]) -> "Seen":
        """Sort `events`."""
        by_kind: dict[type, list[tuple[int, Event]]] = defaultdict(list)
        for seq, event in enumerate(events):
            by_kind[type(event)].append((seq, event))
        return cls(by_kind)

    def __call__(self, kind: type[_E]) -> Sequence[tuple[int, _E]]:
        """Return the events of `kind`, in order, each behind its number in the leg."""
        return self.by_kind.get(kind, ())


class Took(Struct, frozen=True, eq=False):
    """One element that the consumer took: what, when, and the number of the event."""

    element: Element
    identity: Identity
    at: float
    seq: int


class Facts(Struct, frozen=True, eq=False):
    """One leg as it was observed, sorted by what it speaks of.

    Args:
        scenario: whose leg it is.
        leg: what was observed.
        began_at: ms of the scenario's time at which the leg begins.
        seen: its events by their kind.
        inputs: restored and taken elements, in input order.
        calls: in the order in which they started.
        took: what the consumer took, in order.
        blocks: from when until when the loop was blocked, in ms.
        numbers: of the records that calls and requests to handlers are for.
        despite: the first request to the failure handler about a record, by its number.
    """

    scenario: Scenario
    leg: Leg
    began_at: float
    seen: Seen
    inputs: tuple[Input, ...]
    calls: tuple[Call, ...]
    took: tuple[Took, ...]
    blocks: tuple[tuple[float, float], ...]
    numbers: "Numbers"
    despite: Mapping[int, tuple[int, FailureAsked]]

    def deadline(self, call: Call | None) -> float:
        """Return when the time of the record of `call` is over, in ms."""
        return NEVER if call is None else call.deadline

    def due(self, call: Call | None) -> float:
        """Return when it has to be decided at the latest: then, or when the loop is free again."""
        return self.instants(self.deadline(call))[-1]

    def instants(self, at: float) -> list[float]:
        """Return when what falls due at `at` ms may be noticed: then, or when blocks are over.

        At the very beginning of a block it may have been noticed before, or not; and at the end of
        one, before the next begins.
        """
        blocks = self.blocks
        number = bisect_left(blocks, at, key=_over)
        is_held = number < len(blocks) and blocks[number][0] < at < blocks[number][1]
        found = [] if is_held else [at]
        while number < len(blocks) and blocks[number][0] <= at:
            at = blocks[number][1]
            found.append(at)
            number += 1
        return found

    def blocked_between(self, since: float, until: float) -> float:
        """Return for how many ms of that time the loop was blocked."""
        blocked, number = 0.0, bisect_right(self.blocks, since, key=_over)
        while number < len(self.blocks) and self.blocks[number][0] < until:
            begin, end = self.blocks[number]
            blocked += max(0.0, min(until, end) - max(since, begin))
            number += 1
        return blocked


def _over(block: tuple[float, float]) -> float:
    return block[1]


def read_leg(scenario: Scenario, leg: Leg, began_at: float = 0) -> Facts:
    """Sort the events of a leg; see `Facts`."""
    seen = Seen.of(leg.events)
    inputs = tuple(_inputs(scenario, leg, seen))
    numbers = Numbers(scenario, inputs)
    return Facts(
        scenario,
        leg,
        began_at,
        seen,
        inputs,
        tuple(_calls(scenario, seen, numbers)),
        tuple(Took(e.element, identity_of(e.element), e.at, seq) for seq, e in seen(SinkTook)),
        tuple((event.at, event.until) for _, event in seen(Blocked)),
        numbers,
        _despite(seen, numbers),
    )


def _despite(seen: Seen, numbers: "Numbers") -> Mapping[int, tuple[int, FailureAsked]]:
    first: dict[int, tuple[int, FailureAsked]] = {}
    for seq, event in seen(FailureAsked):
        number = numbers.of(event, identity(event.value))
        if number is not None:
            first.setdefault(number, (seq, event))
    return first


def _inputs(scenario: Scenario, leg: Leg, seen: Seen) -> Iterator[Input]:
    places = count()
    for element in leg.restored.in_flight if leg.restored else ():
        yield Input(next(places), element, identity_of(element), None, 0.0, -1)
    for seq, event in seen(Taken):
        given = scenario.inputs[event.index].element
        yield Input(next(places), given, identity_of(given), event.index, event.at, seq)


def _calls(scenario: Scenario, seen: Seen, numbers: "Numbers") -> Iterator[Call]:
    """Give each call its step: the k-th call of a value does what step k of its plan says."""
    cancelled = {event.call: (event.at, seq) for seq, event in seen(CallCancelled)}
    ended = {event.call: (seq, event) for seq, event in seen(CallEnded)}
    unknown = (cancelled.keys() | ended.keys()) - {event.call for _, event in seen(CallStarted)}
    if unknown:
        raise ValueError(f"call {min(unknown)} was cancelled or ended, and never started")
    retry = scenario.retry
    ordinals: Counter[str] = Counter()
    began: dict[int, float] = {}
    for seq, event in seen(CallStarted):
        key = identity(event.value)
        step = scenario.step(event.value, ordinals[key])
        ordinals[key] += 1
        record = numbers.of(event, key)
        first = event.at if record is None else began.setdefault(record, event.at)
        call = Call(
            event.call,
            event.value,
            key,
            event.at,
            seq,
            step,
            record,
            _after(first, scenario.timeout),
            _after(event.at, None if retry is None else retry.attempt_timeout),
            *cancelled.get(event.call, (NEVER, -1)),
        )
        if event.call in ended:
            ended_seq, end = ended[event.call]
            call = replace(call, ended=end, ended_at=end.at, ended_seq=ended_seq)
        yield call


def _after(began: float, timeout: float | None) -> float:
    """Return when a time that began is over; rounded, as all times in a trace are."""
    return NEVER if timeout is None else round(began + timeout, 3)


class Numbers:
    """The numbers of records, where records are told apart.

    The trace tells them, or no two values are equal.

    Args:
        scenario: says whether they are.
        inputs: restored and taken elements.
    """

    def __init__(self, scenario: Scenario, inputs: Sequence[Input]) -> None:
        self._are_told = scenario.tells_apart
        records = (each.element for each in inputs if isinstance(each.element, Record))
        values = [identity(record.value) for record in records] if self._are_told else []
        self._by_value = {value: number for number, value in enumerate(values)}

    def of(self, event: CallStarted | HandlerAsked | FailureAsked, value: str) -> int | None:
        """Return the number of the record that an event is about; None where it is not told."""
        if not self._are_told or event.record is not None:
            return event.record if self._are_told else None
        return self._by_value.get(value)
