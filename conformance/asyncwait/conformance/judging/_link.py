"""The input of each output, and the contents that each Snapshot must have.

Results carry the timestamp and key of their record. Records that are equal in all of this are
interchangeable, and the earliest takes the earliest output: any legal trace allows this assignment.
There is one exception: a record that a later Snapshot holds has given nothing yet, so another
record with the same results takes the output if it may.
"""

from bisect import bisect_left
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import heappop, heappush
from itertools import takewhile
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from asyncwait.conformance.judging._decide import Decision
from asyncwait.conformance.judging._observe import (
    Facts,
    Identity,
    Item,
    Output,
    RecordIdentity,
    Took,
    identity_of,
)
from asyncwait.spec import Snapshot
from asyncwait.spec.scenario import identity

Rank: TypeAlias = tuple[int, bool, int]
"""Order of candidates: by turn, then those that no later Snapshot holds, then by place."""

_Entry: TypeAlias = tuple[Rank, int]
"""Rank of a candidate, and its number."""


class Candidate(NamedTuple):
    """Results that may come out of a record."""

    pos: int
    decided_seq: int
    results: tuple[str, ...]

    @classmethod
    def of(cls, facts: Facts, pos: int, decision: Decision) -> "Candidate":
        """Return the candidate for the record at `pos` with this `decision`."""
        results = tuple(map(identity, decision.results or ()))
        seq = decision.decided_seq
        if seq < 0 and results:  # The deadline decided it, without a request to a handler.
            seq = bisect_left(facts.observed.events, decision.decided_at, key=attrgetter("at")) - 1
        return cls(pos, seq, results)


def turns(facts: Facts) -> Callable[[Candidate], int]:
    """Return a function that gives a candidate's turn: place in ordered mode, else segment."""
    if facts.observed.mode == "ordered":
        return lambda each: each.pos
    fences = [given.pos for given in facts.inputs if given.is_fence]
    return lambda each: bisect_left(fences, each.pos)


def held_until(facts: Facts) -> Mapping[int, int]:
    """Return the number of the last Snapshot that holds each record, by the record's place.

    No result of the record has come out before that Snapshot. Of equal records the last ones are
    held: the earliest takes the earliest output.
    """
    until: dict[int, int] = {}
    for took in facts.took:
        if isinstance(took.element, Snapshot):
            held = Counter(map(identity_of, took.element.in_flight))
            for given in reversed(facts.inputs if held else ()):
                if given.is_record and given.seq < took.seq and held[given.identity]:
                    held[given.identity] -= 1
                    until[given.pos] = took.seq
    return until


class Candidates:
    """Finds the record that an output begins.

    The results of that record are this output and the following ones, and it has their timestamp
    and key. If no record fits so well, a record whose first result is this output fits.
    """

    def __init__(self, facts: Facts, candidates: Iterable[Candidate]) -> None:
        self._facts = facts
        self._turn = turns(facts)
        self._all = [each for each in candidates if each.results]
        self._all.sort(key=lambda each: (each.decided_seq, each.pos))
        held = held_until(facts)
        self._held = [held.get(each.pos, -1) for each in self._all]
        """Number of the last Snapshot that holds each candidate; -1 for none."""
        self._released = sorted((seq, number) for number, seq in enumerate(self._held) if seq >= 0)
        self._free = 0
        """Number of these Snapshots that are out by now."""
        self._decided = 0
        """Number of candidates that are decided by now."""
        self._waiting: dict[Identity, list[_Entry]] = defaultdict(list)
        self._lengths: dict[Identity, set[int]] = defaultdict(set)
        """Numbers of results of the candidates whose first output is this record."""
        self._taken: set[int] = set()

    def take(self, number: int) -> Candidate | None:
        """Return the record that the output `number` begins; None if no decided record fits."""
        took = self._facts.took[number]
        assert isinstance(took.identity, RecordIdentity)
        self._decide_until(took.seq)
        found = (
            min(self._whole(number, took.identity), key=self._length_first, default=None)
            or self._first(took.identity)
            or self._first(took.identity.value)
        )
        if found is None:
            return None
        candidate = self._all[found[1]]
        self._taken.add(candidate.pos)
        return candidate

    def is_known(self, value: str) -> bool:
        """Whether `value` is a result of any record."""
        return value in self._results

    @cached_property
    def _values(self) -> tuple[str, ...]:
        """Identities of the values that came out; empty for an output that is not a record."""
        took = (each.identity for each in self._facts.took)
        return tuple(each.value if isinstance(each, RecordIdentity) else "" for each in took)

    @cached_property
    def _results(self) -> set[str]:
        return {value for each in self._all for value in each.results}

    def _decide_until(self, seq: int) -> None:
        while self._decided < len(self._all) and self._all[self._decided].decided_seq < seq:
            self._add(self._decided, is_held=self._held[self._decided] > seq)
            self._decided += 1
        while self._free < len(self._released) and self._released[self._free][0] < seq:
            number = self._released[self._free][1]
            if number < self._decided:
                self._add(number, is_held=False)
            self._free += 1

    def _add(self, number: int, *, is_held: bool) -> None:
        """Add the candidate `number`; within a turn, candidates that no Snapshot holds go first.

        A candidate that was added while a Snapshot held it is added again when the Snapshot is out.
        """
        candidate = self._all[number]
        record = self._facts.inputs[candidate.pos].identity
        assert isinstance(record, RecordIdentity)
        first = record.result(candidate.results[0])
        entry = (self._turn(candidate), is_held, candidate.pos), number
        heappush(self._waiting[first.value], entry)
        heappush(self._waiting[first], entry)
        heappush(self._waiting[first, candidate.results], entry)
        self._lengths[first].add(len(candidate.results))

    def _whole(self, number: int, first: RecordIdentity) -> Iterator[_Entry]:
        left = len(self._values) - number
        for length in self._lengths.get(first, ()):
            if length <= left:
                found = self._first((first, self._values[number : number + length]))
                if found is not None:
                    yield found
            else:
                yield from self._cut_off(first, self._values[number:])

    def _length_first(self, entry: _Entry) -> tuple[tuple[int, bool], int, _Entry]:
        """Rank candidates that all fit: the longest explains outputs of no other record."""
        rank, number = entry
        return rank[:2], -len(self._all[number].results), entry

    def _cut_off(self, first: RecordIdentity, values: tuple[str, ...]) -> Iterator[_Entry]:
        """Yield the candidates whose results begin with `values`, if the rest was not taken."""
        for entry in self._waiting[first]:
            candidate = self._all[entry[1]]
            if candidate.pos not in self._taken and candidate.results[: len(values)] == values:
                yield entry

    def _first(self, key: Identity) -> _Entry | None:
        waiting = self._waiting.get(key, [])
        while waiting and self._all[waiting[0][1]].pos in self._taken:
            heappop(waiting)
        return waiting[0] if waiting else None


class Link(Struct, frozen=True):
    """Origin of an output: `part` of the input at `pos`, or no input; see `Output`."""

    pos: int | None = None
    part: int = 0
    trouble: str = ""


def link_outputs(facts: Facts, decisions: Mapping[int, Decision]) -> list[Link]:
    """Return the link of each output, in order."""
    candidates = [Candidate.of(facts, pos, decision) for pos, decision in decisions.items()]
    return _Linker(facts, candidates).link_all()


class _Linker:
    """Goes through the outputs once, in order, and stores the results that must follow."""

    def __init__(self, facts: Facts, candidates: Iterable[Candidate]) -> None:
        self._begun: dict[int, Candidate] = {}
        self._facts = facts
        self._candidates = Candidates(facts, candidates)
        self._torn = _Torn()
        self._passed_on: dict[Identity, deque[int]] = defaultdict(deque)
        for given in facts.inputs:
            if not given.is_record:
                self._passed_on[given.identity].append(given.pos)
        self._given: dict[int, int] = {}
        """Number of results that came out, for each record that has begun."""
        self._open: int | None = None
        """The record whose results are coming out: the next output must be its next result."""

    def link_all(self) -> list[Link]:
        """Return the link of each output, in order."""
        return [self._link(number, took) for number, took in enumerate(self._facts.took)]

    def _link(self, number: int, took: Took) -> Link:
        value = took.identity.value if isinstance(took.identity, RecordIdentity) else None
        trouble, broken_off = "", self._open
        if broken_off is not None:
            if value == self._next(broken_off):
                return self._attach(broken_off, trouble)
            trouble = "torn"
            self._torn.add(broken_off, self._next(broken_off))
            self._open = None
        if value is not None:
            return self._link_result(number, value, trouble)
        is_snapshot = isinstance(took.element, Snapshot)
        return Link(trouble=trouble) if is_snapshot else self._pass(took, trouble)

    def _next(self, pos: int) -> str:
        return self._begun[pos].results[self._given[pos]]

    def _attach(self, pos: int, trouble: str) -> Link:
        part = self._given.get(pos, 0)
        self._given[pos] = part + 1
        self._open = pos if part + 1 < len(self._begun[pos].results) else None
        return Link(pos, part, trouble)

    def _link_result(self, number: int, value: str, trouble: str) -> Link:
        pos = self._torn.take(value)
        if pos is None:
            candidate = self._candidates.take(number)
            if candidate is None:
                known = self._candidates.is_known(value)
                return Link(trouble="repeated" if known else "invented")
            pos = candidate.pos
            self._begun[pos] = candidate
        return self._attach(pos, trouble)

    def _pass(self, took: Took, trouble: str) -> Link:
        """Link a watermark, status, marker or barrier with the first equal input not yet out."""
        if took.identity not in self._passed_on:
            return Link(trouble=trouble or "invented")
        same = self._passed_on[took.identity]
        return Link(same.popleft(), 0, trouble) if same else Link(trouble=trouble or "repeated")


class _Torn:
    """Records whose results were interrupted: later results still belong to them."""

    def __init__(self) -> None:
        self._order: dict[int, int] = {}
        self._waiting: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def add(self, pos: int, value: str) -> None:
        order = self._order.setdefault(pos, len(self._order))
        heappush(self._waiting[value], (order, pos))

    def take(self, value: str) -> int | None:
        """Return the first interrupted record whose next result is `value`."""
        waiting = self._waiting.get(value)
        return heappop(waiting)[1] if waiting else None


class SnapshotOut(Struct, frozen=True, eq=False):
    """One Snapshot that the consumer took.

    Args:
        barrier: the input that asked for the Snapshot; None for a Snapshot on request.
        bound: number of inputs that come before the Snapshot.
    """

    output: Output
    element: Snapshot
    barrier: Item | None
    bound: int
    stored: tuple[Identity, ...]

    @property
    def checkpoint_id(self) -> int:
        """The id of the request for the Snapshot."""
        return self.element.checkpoint_id

    @property
    def at(self) -> float:
        """When the Snapshot came out, in ms since the leg began."""
        return self.output.at

    @property
    def seq(self) -> int:
        """The number of the event with which it came out."""
        return self.output.seq


def snapshots_out(items: Sequence[Item], outputs: Sequence[Output]) -> tuple[SnapshotOut, ...]:
    """Return the Snapshots among `outputs`, each with the inputs it must account for."""
    asked_by = {item.checkpoint_id: item for item in reversed(items)}
    restored = sum(item.index is None for item in items)
    found = []
    for output in outputs:
        if isinstance(output.element, Snapshot):
            snapshot = output.element
            barrier = asked_by.get(snapshot.checkpoint_id)
            read = restored + max(0, snapshot.read or 0)
            bound = min(len(items), read) if barrier is None else barrier.pos
            stored = tuple(map(identity_of, snapshot.in_flight))
            found.append(SnapshotOut(output, snapshot, barrier, bound, stored))
    return tuple(found)


class Held:
    """Contents that a Snapshot must have and may have; `move_to` goes on to the next Snapshot.

    Each answer is an iterator, so that a caller that stops at the first wrong element has looked at
    no more elements than the Snapshot holds.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        stored = [item for item in items if item.is_stored]
        self._bound = 0
        self._must = OrderedDict((item.pos, item) for item in stored)
        self._may: dict[Identity, OrderedDict[int, Item]] = defaultdict(OrderedDict)
        for item in stored:
            self._may[item.identity][item.pos] = item
        out = (item for item in stored if item.emitted_seq >= 0)
        self._out = deque(sorted(out, key=lambda item: item.emitted_seq))
        silent = (item for item in stored if item.results == ())
        self._silent = deque(sorted(silent, key=lambda item: item.decided_at))

    def move_to(self, snapshot: SnapshotOut) -> None:
        """Remove the elements that are gone when `snapshot` comes out."""
        self._bound = snapshot.bound
        while self._out and self._out[0].is_out_before(snapshot.seq):
            item = self._out.popleft()
            self._must.pop(item.pos, None)
            del self._may[item.identity][item.pos]
        while self._silent and self._silent[0].decided_at <= snapshot.at:
            self._must.pop(self._silent.popleft().pos, None)

    def must(self) -> Iterator[Item]:
        """Yield the elements that it must hold: read before the Snapshot, and not gone."""
        return takewhile(self._is_read, self._must.values())

    def may(self, identity: Identity) -> Iterator[Item]:
        """Yield the elements of an identity that it may hold, records without results included."""
        return takewhile(self._is_read, self._may.get(identity, {}).values())

    def _is_read(self, item: Item) -> bool:
        return item.pos < self._bound


def held_at(
    snapshots: Sequence[SnapshotOut], items: Sequence[Item]
) -> Iterator[tuple[SnapshotOut, Held]]:
    """Yield each Snapshot with the contents that it must have; see `Held`."""
    if not snapshots:
        return
    held = Held(items)
    for snapshot in snapshots:
        held.move_to(snapshot)
        yield snapshot, held
