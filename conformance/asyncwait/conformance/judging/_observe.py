"""Facts of a leg: its events, sorted by their subject.

`_read` reads calls and inputs off the events once. An `Item` is an input with its decision and its
outputs, an `Output` is an element that the consumer took.

Two values, or two elements, are the same if they are equal and have the same types at every depth.
For Python 1, 1.0 and True are equal, unhashable values can't be counted, and the reprs of equal
dicts differ if their keys have different orders. So the judge never compares values or elements by
`==`. It compares and counts their identities: canonical JSON, by which plans are looked up, too.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from itertools import groupby, islice
from typing import Any, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct

from asyncwait.spec import Barrier, Element, Record, Snapshot, Watermark, WatermarkStatus
from asyncwait.spec.scenario import (
    CallEnded,
    CallStarted,
    Event,
    FailureAsked,
    HandlerAsked,
    Leg,
    Scenario,
    Step,
    identity,
)

Identity: TypeAlias = Hashable
"""Equal for two elements if, and only if, they are the same."""


class RecordIdentity(NamedTuple):
    """Identity of a record: the identities of its value, its timestamp and its key."""

    value: str
    timestamp: str
    key: str

    def result(self, value: str) -> "RecordIdentity":
        """Return the identity of the output that has `value` as a result of this record."""
        return RecordIdentity(value, self.timestamp, self.key)


def is_same(value: Any, other: Any) -> bool:
    """Whether two values are equal and have the same types at every depth: 1 is not True."""
    return value is other or identity(value) == identity(other)


def is_same_element(element: Any, other: Any) -> bool:
    """Whether two elements are of the same kind and have the same contents."""
    return identity_of(element) == identity_of(other)


def identity_of(element: Any) -> Identity:
    """Return the identity of an element, or of any other object that an operator puts out."""
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
"""Milliseconds by which a sum of times may be off: traces have three decimals."""

_FENCES = (Watermark, WatermarkStatus)
_STORED = (Record, *_FENCES)
_BARRIERS = (Barrier, Snapshot)


class Call(Struct, frozen=True, eq=False):
    """One call of the function.

    Args:
        at: ms since the leg began.
        record: number of its record; None where the trace does not tell it.
        deadline: deadline of its record, in ms.
        limit: end of its time as one attempt, in ms.
        cancelled_at: ms, when a cancellation reached it.
        ended: its end; None if it did not end.
        ended_at: ms.
        batch: number of its batch or its load; None for none.
        left_at: ms, when all calls of its batch or load had left it at the latest; -NEVER for none.
        is_stale: its load failed, and the call ended with stale results.
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
    is_stale: bool = False

    @property
    def until(self) -> float:
        """When it is cancelled at the latest, in ms, unless the operator is over."""
        return max(min(self.deadline, self.limit), self.left_at)

    def runs_before(self, seq: int) -> bool:
        """Whether it has not ended before the event number `seq`."""
        return not -1 < self.ended_seq < seq


class Load(Struct, frozen=True, eq=False):
    """One call of the function of an operator with a cache, and the calls that belong to it.

    Args:
        calls: the calls that began the load, joined it, or got its results from the cache.
        at: ms since the leg began, when it began.
        is_null: its key is null, so no other call may share it.
        is_background: it began ahead of time, for no record.
        cancelled_at: ms, when a cancellation reached it.
        ended: its end; None if it did not end.
        ended_at: ms.
    """

    number: int
    value: Any
    identity: str
    calls: tuple[Call, ...]
    at: float
    seq: int
    is_null: bool
    is_background: bool
    cancelled_at: float = NEVER
    cancelled_seq: int = -1
    ended: CallEnded | None = None
    ended_at: float = NEVER
    ended_seq: int = -1

    @property
    def waiting(self) -> Sequence[Call]:
        """The calls that began before the load had ended."""
        return [call for call in self.calls if not -1 < self.ended_seq < call.seq]

    @property
    def given_later(self) -> Sequence[Call]:
        """The calls that began after the load had ended, and got its results from the cache."""
        return [call for call in self.calls if -1 < self.ended_seq < call.seq]

    @property
    def results(self) -> tuple[Any, ...] | None:
        """Results of the load; None without results, or if it was cancelled before."""
        ended, is_cancelled = self.ended, self.cancelled_seq >= 0
        return ended.results if ended and ended.how == "returned" and not is_cancelled else None


class Input(Struct, frozen=True, eq=False):
    """One element that the operator restored, or took from the source.

    Args:
        index: number among the scenario's inputs; None for a restored element.
        at: ms since the leg began, when the operator took it; 0 for a restored element.
    """

    pos: int
    element: Element
    identity: Identity
    index: int | None
    at: float
    seq: int

    @property
    def is_record(self) -> bool:
        """Whether the element is a record."""
        return isinstance(self.element, Record)

    @property
    def is_fence(self) -> bool:
        """Whether the element is a watermark or a status."""
        return isinstance(self.element, _FENCES)

    @property
    def is_stored(self) -> bool:
        """Whether the element is a record or a fence: a snapshot stores it until it is gone."""
        return isinstance(self.element, _STORED)

    @property
    def checkpoint_id(self) -> int | None:
        """The id of the Snapshot that the element asks for; None if it asks for none."""
        return self.element.checkpoint_id if isinstance(self.element, _BARRIERS) else None

    def __str__(self) -> str:
        where = "restored" if self.index is None else f"input {self.index}"
        return f"{self.element} ({where})"


class Item(Input, frozen=True, eq=False):
    """An input with its decision and its outputs.

    Args:
        attempts: the calls of a record, in order; empty before its first call.
        asked_at: ms, when the operator asked the timeout handler for it.
        decided_at: ms.
        decided_seq: number of the event that decided it; -1 if no event did.
        timed_out: its deadline decided it.
        results: the results to put out; None while undecided or failed.
        wrong: name of the error that decided it; empty for none.
        cause: class of the cause of that error, where it differs from the error of its call.
        failure: name of the error for its failure handler; empty for none.
        failure_cause: class of the cause of `failure`, like `cause`.
        given: number of its outputs that the consumer took.
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
        """The first call of a record; None before that call."""
        return self.attempts[0] if self.attempts else None

    @property
    def last(self) -> Call | None:
        """The last call of a record, whose outcome counts; None before the first call."""
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
        item: the input of the output; None without one.
        trouble: "invented", "repeated", "torn" (not the next result of its record), or "".
    """

    element: Element
    at: float
    seq: int
    item: Item | None = None
    part: int = 0
    trouble: str = ""


def key_of(item: Input) -> Hashable:
    """Return a hashable object that is equal for records with equal keys."""
    assert isinstance(item.element, Record)
    return _hashable(item.element.key)


def _hashable(key: Any) -> Hashable:
    if isinstance(key, list | tuple):
        return (type(key).__name__, *map(_hashable, key))
    if isinstance(key, dict):
        return "dict", frozenset((name, _hashable(value)) for name, value in key.items())
    return key  # type: ignore[no-any-return]


def has_plain_key(before: Input, item: Input) -> bool:
    """Whether two records with the same key have keys of one plain type: text, or integer."""
    assert isinstance(before.element, Record)
    assert isinstance(item.element, Record)
    one, other = before.element.key, item.element.key
    return isinstance(one, str | int) and type(one) is type(other)


_E = TypeVar("_E")


class Seen(Struct, frozen=True, eq=False):
    """Events of a leg by their kind, each with its number."""

    by_kind: Mapping[type, Sequence[tuple[int, Any]]]

    @classmethod
    def of(cls, events: Sequence[Event]) -> "Seen":
        """Sort `events` by their kind."""
        by_kind: dict[type, list[tuple[int, Event]]] = defaultdict(list)
        for seq, event in enumerate(events):
            by_kind[type(event)].append((seq, event))
        return cls(by_kind)

    def __call__(self, kind: type[_E]) -> Sequence[tuple[int, _E]]:
        """Return the events of `kind`, in order, each after its number in the leg."""
        return self.by_kind.get(kind, ())


class Took(Struct, frozen=True, eq=False):
    """One element that the consumer took, with its time and the number of the event."""

    element: Element
    identity: Identity
    at: float
    seq: int


class Facts(Struct, frozen=True, eq=False, dict=True):
    """The facts of one leg, sorted by their subject.

    Args:
        observed: the trace of the leg, with all its fields.
        began_at: ms of the scenario's time at which the leg begins.
        seen: the events by their kind, each with its number: `leg.seen(Closed)`.
        calls: the calls of records, in the order of their start.
        took: the elements that the consumer took, in order.
        blocks: begin and end of each block of the loop, in ms.
        despite: the first request to the failure handler about each record, by its number.
        loads: the calls of the function of an operator with a cache, in the order of their start.
        background: the calls among them that are for no record.
    """

    scenario: Scenario
    observed: Leg
    began_at: float
    seen: Seen
    inputs: tuple[Input, ...]
    calls: tuple[Call, ...]
    took: tuple[Took, ...]
    blocks: tuple[tuple[float, float], ...]
    numbers: "Numbers"
    despite: Mapping[int, tuple[int, FailureAsked]]
    loads: tuple[Load, ...]
    background: tuple[Call, ...]

    @property
    def most_calls(self) -> int:
        """Largest number of calls of the function that may run at a time; a batch counts once."""
        return (
            self.observed.capacity if self.scenario.batch is None else self.scenario.batch.in_flight
        )

    @cached_property
    def runs(self) -> Sequence[Call]:
        """First call of each run of the function: the calls of a batch or load share one run."""
        if self.loads:
            return [load.calls[0] for load in self.loads]
        shared = groupby(self.calls, key=lambda call: call.batch)
        return [
            c for batch, calls in shared for c in (calls if batch is None else islice(calls, 1))
        ]

    def noticed(self, at: float) -> float:
        """Return when the loop notices an event due at `at` ms at the latest: after a block."""
        for since, until in self.blocks:
            if since <= at <= until:
                at = until
        return at

    def may_tie(self, at: float, other: float) -> bool:
        """Whether the loop may notice either of two events first."""
        return at <= self.noticed(other) and other <= self.noticed(at) < NEVER


class Numbers:
    """Numbers of the records of a leg, where the scenario tells records apart.

    The trace has these numbers, or no two values are equal.
    """

    def __init__(self, scenario: Scenario, inputs: Sequence[Input]) -> None:
        self._are_told = scenario.tells_apart
        records = (each.element for each in inputs if isinstance(each.element, Record))
        values = [identity(record.value) for record in records] if self._are_told else []
        self._by_value = {value: number for number, value in enumerate(values)}

    def of(self, event: CallStarted | HandlerAsked | FailureAsked, value: str) -> int | None:
        """Return the number of the record that an event is about; None if the trace hides it."""
        if not self._are_told or event.record is not None:
            return event.record if self._are_told else None
        return self._by_value.get(value)
