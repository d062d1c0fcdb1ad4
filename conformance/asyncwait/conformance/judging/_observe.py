"""What the events of a leg say by themselves, and in which terms: the same in every explanation.

Calls and inputs are read off the events once (`read_leg`); an `Item` is an input and what became of
it, an `Output` what the consumer took.

Two values, or two elements, are the same if they are equal, and of one type however deep. To Python
1, 1.0 and True are equal, and what is unhashable can't be counted; a repr differs where the keys of
a dict only stand in another order. So the judge never compares values or elements by `==`, and
counts them by their identity: canonical JSON, as plans are looked up.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import count, groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.spec import Barrier, Element, Record, Snapshot, Watermark, WatermarkStatus
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
    Step,
    Taken,
    identity,
)

Identity: TypeAlias = Hashable
"""Equal for two elements if, and only if, they are the same."""


class RecordIdentity(NamedTuple):
    """What tells a record from others: the identities of its value, its timestamp and its key."""

    value: str
    timestamp: str
    key: str

    def result(self, value: str) -> "RecordIdentity":
        """Return the identity of the record that comes out with `value` as a result of this one."""
        return RecordIdentity(value, self.timestamp, self.key)


def is_same(value: Any, other: Any) -> bool:
    """Whether two values are equal and of the same type, and all in them: 1 is not True."""
    return value is other or identity(value) == identity(other)


def is_same_element(element: Any, other: Any) -> bool:
    """Whether two elements are of the same kind and hold the same."""
    return identity_of(element) == identity_of(other)


def identity_of(element: Any) -> Identity:
    """Return what tells an element from others; an operator may hand out what is none."""
    match element:
        case Record():
            return RecordIdentity(*map(identity, (element.value, element.timestamp, element.key)))
        case Snapshot():
            return (
                Snapshot,
                identity(element.checkpoint_id),
                tuple(map(identity_of, element.in_flight)),
                identity(element.read),
                identity_of(element.upstream),
            )
        case _:
            fields = getattr(element, "__struct_fields__", None)
            if fields is None:
                return type(element), identity(element)
            return type(element), *(identity(getattr(element, name)) for name in fields)


NEVER = float("inf")

ROUNDING = 0.002
"""Milliseconds by which a sum of times may be off: each is written with three decimals."""

_FENCES = (Watermark, WatermarkStatus)
_STORED = (Record, *_FENCES)
_BARRIERS = (Barrier, Snapshot)


class Call(Struct, frozen=True, eq=False):
    """One call of the function.

    Args:
        at: ms since the leg began.
        record: number of its record; None where the trace does not tell it.
        deadline: of its record, in ms.
        limit: of itself as one attempt, in ms.
        cancelled_at: ms, when a cancellation reached it.
        ended: how it ended; None if it did not.
        ended_at: ms.
        batch: number of the call that it shares with others; None for none.
        left_at: ms, when the last of those had left it at the latest; as `until` for none.
    """

    number: int
    value: Any
    identity: str
    at: float
    seq: int
    step: Step
    record: int | None = None
    deadline: float = NEVER
    limit: float = NEVER
    cancelled_at: float = NEVER
    cancelled_seq: int = -1
    ended: CallEnded | None = None
    ended_at: float = NEVER
    ended_seq: int = -1
    batch: int | None = None
    left_at: float = -NEVER

    @property
    def until(self) -> float:
        """When it is cancelled at the latest, unless the operator is over, in ms."""
        return max(min(self.deadline, self.limit), self.left_at)

    def runs_before(self, seq: int) -> bool:
        """Whether it has not ended before the event number `seq`."""
        return not -1 < self.ended_seq < seq


class Input(Struct, frozen=True, eq=False):
    """One element that the operator had to deal with: restored, or taken from the source.

    Args:
        index: in the scenario's inputs; None for a restored element.
        at: ms since the leg began, when it was taken; 0 for a restored element.
    """

    pos: int
    element: Element
    identity: Identity
    index: int | None
    at: float
    seq: int

    @property
    def is_record(self) -> bool:
        """Whether it is a record."""
        return isinstance(self.element, Record)

    @property
    def is_fence(self) -> bool:
        """Whether it is a watermark or a status."""
        return isinstance(self.element, _FENCES)

    @property
    def is_stored(self) -> bool:
        """Whether it is a record or a fence: what a snapshot holds until it is gone."""
        return isinstance(self.element, _STORED)

    @property
    def checkpoint_id(self) -> int | None:
        """The id of the Snapshot that it asks for; None if it asks for none."""
        return self.element.checkpoint_id if isinstance(self.element, _BARRIERS) else None

    def __str__(self) -> str:
        where = "restored" if self.index is None else f"input {self.index}"
        return f"{self.element} ({where})"


class Item(Input, frozen=True, eq=False):
    """An input, and what became of it.

    Args:
        attempts: the calls of a record, in order; none as long as it waits for its first.
        asked_at: ms, when the handler was asked for it.
        decided_at: ms.
        decided_seq: number of the event that decided it; -1 if it was no event.
        timed_out: its deadline decided it.
        results: what it has to put out once decided; None while undecided or failed.
        wrong: name of the error that it was decided with; empty for none.
        cause: class of the cause of that error, where it is not what its call has raised.
        failure: name of the error that its failure handler was to be asked about; empty for none.
        failure_cause: class of the cause of that, as `cause`.
        given: how many of its outputs the consumer has taken.
        first_at: ms, when the consumer took the first of them.
        first_seq: number of that event; -1 for none.
        emitted_at: ms, when the consumer took the last of them.
        emitted_seq: number of that event; -1 for none.
    """

    attempts: tuple[Call, ...] = ()
    asked_at: float = NEVER
    decided_at: float = NEVER
    decided_seq: int = -1
    timed_out: bool = False
    results: tuple[Any, ...] | None = None
    wrong: str = ""
    cause: str = ""
    failure: str = ""
    failure_cause: str = ""
    given: int = 0
    first_at: float = NEVER
    first_seq: int = -1
    emitted_at: float = NEVER
    emitted_seq: int = -1

    @property
    def call(self) -> Call | None:
        """A record's first call; None as long as it has none."""
        return self.attempts[0] if self.attempts else None

    @property
    def last(self) -> Call | None:
        """A record's last call so far, whose outcome counts; None as long as it has none."""
        return self.attempts[-1] if self.attempts else None

    def is_begun_before(self, seq: float) -> bool:
        """Whether the consumer took some of it before the event number `seq`."""
        return -1 < self.first_seq < seq

    def is_out_before(self, seq: float) -> bool:
        """Whether the consumer took all of it before the event number `seq`."""
        return -1 < self.emitted_seq < seq


class Output(Struct, frozen=True, eq=False):
    """One element that the consumer took.

    Args:
        at: ms since the leg began.
        item: the input that it belongs to; None if there is none.
        trouble: "invented", "repeated", "torn" (not the next result of its record), or nothing.
    """

    element: Element
    at: float
    seq: int
    item: Item | None = None
    part: int = 0
    trouble: str = ""


def key_of(item: Input) -> Hashable:
    """Return what is equal for records with the same key, and can be hashed."""
    assert isinstance(item.element, Record)
    return _hashable(item.element.key)


def _hashable(key: Any) -> Hashable:
    if isinstance(key, list | tuple):
        return (type(key).__name__, *map(_hashable, key))
    if isinstance(key, dict):
        return "dict", frozenset((name, _hashable(value)) for name, value in key.items())
    return key  # type: ignore[no-any-return]


def has_plain_key(before: Input, item: Input) -> bool:
    """Whether two records that have the same key have it in the same words, which can be hashed."""
    assert isinstance(before.element, Record)
    assert isinstance(item.element, Record)
    one, other = before.element.key, item.element.key
    return isinstance(one, str | int) and type(one) is type(other)


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
        began_at: ms of the scenario's time at which the leg begins.
        took: what the consumer took, in order.
        blocks: from when until when the loop was blocked, in ms.
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

    @property
    def most_calls(self) -> int:
        """How many calls of the function may run at a time: a batch is one."""
        return self.leg.capacity if self.scenario.batch is None else self.scenario.batch.in_flight

    @property
    def runs(self) -> Sequence[Call]:
        """One call for each that the function runs: the first of a batch for all of it."""
        shared = groupby(self.calls, key=lambda call: call.batch)
        return [
            c for batch, calls in shared for c in (calls if batch is None else islice(calls, 1))
        ]

    def instants(self, at: float) -> list[float]:
        """Return when what falls due at `at` ms may be noticed: then, or when blocks are over.

        At the very beginning of a block it may have been noticed before, or not; and at the end of
        one, before the next begins.
        """
        blocks = self.blocks
        number = bisect_left(blocks, at, key=itemgetter(1))
        is_held = number < len(blocks) and blocks[number][0] < at < blocks[number][1]
        found = [] if is_held else [at]
        while number < len(blocks) and blocks[number][0] <= at:
            at = blocks[number][1]
            found.append(at)
            number += 1
        return found

    def blocked_between(self, since: float, until: float) -> float:
        """Return for how many ms of that time the loop was blocked."""
        blocked, number = 0.0, bisect_right(self.blocks, since, key=itemgetter(1))
        while number < len(self.blocks) and self.blocks[number][0] < until:
            begin, end = self.blocks[number]
            blocked += max(0.0, min(until, end) - max(since, begin))
            number += 1
        return blocked


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
        tuple(_batched(scenario, tuple(_calls(scenario, seen, numbers)))),
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
        yield call if event.batch is None else replace(call, batch=event.batch)


def _batched(scenario: Scenario, calls: Sequence[Call]) -> Iterator[Call]:
    """Give each call that others share the step that it has with them, and their time."""
    for batch, group in groupby(calls, key=lambda call: call.batch):
        shared = tuple(group)
        if batch is None or scenario.batch is None:
            yield from shared
            continue
        left_at = max(call.until for call in shared)
        steps = scenario.batch.together([call.step for call in shared])
        for call, step in zip(shared, steps, strict=True):
            yield replace(call, step=step, left_at=left_at)


def _after(began: float, timeout: float | None) -> float:
    """Return when a time that began is over; rounded, as all times in a trace are."""
    return NEVER if timeout is None else round(began + timeout, 3)


class Numbers:
    """The numbers of records, where records are told apart.

    The trace tells them, or no two values are equal.
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
