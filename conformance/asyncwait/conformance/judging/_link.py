"""Which output belongs to which input, and what each Snapshot among them has to account for.

Results carry the timestamp and key of their record. Records that are alike in all of this are
interchangeable, and the earliest takes the earliest output: any legal trace allows that assignment.
But one that a later Snapshot holds has given nothing yet, if another with the same results may
have.
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
"""Order in which outputs begin candidates: by turn, those in no later Snapshot first, by place."""

_Entry: TypeAlias = tuple[Rank, int]
"""The rank of a candidate, and its number."""


class Candidate(NamedTuple):
    """What may come out of a record."""

    pos: int
    decided_seq: int
    results: tuple[str, ...]

    @classmethod
    def of(cls, facts: Facts, pos: int, decision: Decision) -> "Candidate":
        """Return what `decision` brings out of the record at `pos`."""
        results = tuple(map(identity, decision.results or ()))
        seq = decision.decided_seq
        if seq < 0 and results:  # Its time is up, and no handler was asked any more.
            seq = bisect_left(facts.leg.events, decision.decided_at, key=attrgetter("at")) - 1
        return cls(pos, seq, results)


def turns(facts: Facts) -> Callable[[Candidate], int]:
    """Return what tells a candidate's turn: its place in ordered mode, else its segment."""
    if facts.leg.mode == "ordered":
        return lambda each: each.pos
    fences = [given.pos for given in facts.inputs if given.is_fence]
    return lambda each: bisect_left(fences, each.pos)


def held_until(facts: Facts) -> Mapping[int, int]:
    """Return, for the place of each record that a Snapshot holds, the number of the last such.

    Nothing has come out of it before. Of records that are the same the last ones are held: the
    earliest takes the earliest output.
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

    Its results are this output and those that follow, and it has their timestamp and key. Where
    there is no such record, one will do whose first result is this one.
    """

    def __init__(self, facts: Facts, candidates: Iterable[Candidate]) -> None:
        self._facts = facts
        self._turn = turns(facts)
        self._all = [each for each in candidates if each.results]
        self._all.sort(key=lambda each: (each.decided_seq, each.pos))
        held = held_until(facts)
        self._held = [held.get(each.pos, -1) for each in self._all]
        """For each of them, the number of the last Snapshot that holds it."""
        self._released = sorted((seq, number) for number, seq in enumerate(self._held) if seq >= 0)
        self._free = 0
        """How many of these Snapshots are out by now."""
        self._decided = 0
        """How many of them are decided by now."""
        self._waiting: dict[Identity, list[_Entry]] = defaultdict(list)
        self._lengths: dict[Identity, set[int]] = defaultdict(set)
        """How many results those have that begin with a record."""
        self._taken: set[int] = set()

    def take(self, number: int) -> Candidate | None:
        """Return the record that the output `number` begins; it was decided before."""
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
        """Whether it is a result of any record."""
        return value in self._results

    @cached_property
    def _values(self) -> tuple[str, ...]:
        """The identities of the values that came out; an empty one where it was no record."""
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
        """Have an output begin the candidate `number`; one of its turn that is not held goes first.

        What was added while a Snapshot held it is added again when that is out.
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
        """Rank one of those that may all be meant: the longest takes what else nobody gave."""
        rank, number = entry
        return rank[:2], -len(self._all[number].results), entry

    def _cut_off(self, first: RecordIdentity, values: tuple[str, ...]) -> Iterator[_Entry]:
        """Yield those whose results begin with `values`: nobody took the rest."""
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
    """What an output is: `part` of the input at `pos`, or of none; see `Output`."""

    pos: int | None = None
    part: int = 0
    trouble: str = ""


def link_outputs(facts: Facts, decisions: Mapping[int, Decision]) -> list[Link]:
    """Return for each output what it belongs to."""
    candidates = [Candidate.of(facts, pos, decision) for pos, decision in decisions.items()]
    return _Linker(facts, candidates).link_all()


class _Linker:
    """Goes through the outputs once, in order, and keeps what is still to come."""

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
        """How many of its results came out, of each record that has begun."""
        self._open: int | None = None
        """The record that is being handed out: the next output has to be its next result."""

    def link_all(self) -> list[Link]:
        """Return for each output what it belongs to."""
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
        """Link a watermark, status, marker or barrier with the first equal one that is not out."""
        if took.identity not in self._passed_on:
            return Link(trouble=trouble or "invented")
        same = self._passed_on[took.identity]
        return Link(same.popleft(), 0, trouble) if same else Link(trouble=trouble or "repeated")


class _Torn:
    """Records whose results were broken off: what follows still belongs to them."""

    def __init__(self) -> None:
        self._order: dict[int, int] = {}
        self._waiting: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def add(self, pos: int, value: str) -> None:
        order = self._order.setdefault(pos, len(self._order))
        heappush(self._waiting[value], (order, pos))

    def take(self, value: str) -> int | None:
        """Return the record that was broken off first, of those whose next result is `value`."""
        waiting = self._waiting.get(value)
        return heappop(waiting)[1] if waiting else None


class SnapshotOut(Struct, frozen=True, eq=False):
    """One Snapshot that the consumer took.

    Args:
        barrier: the input that asked for it; None for one on request.
    """

    output: Output
    element: Snapshot
    barrier: Item | None
    bound: int
    stored: tuple[Identity, ...]

    @property
    def checkpoint_id(self) -> int:
        """The id that it was asked for with."""
        return self.element.checkpoint_id

    @property
    def at(self) -> float:
        """When it came out, in ms since the leg began."""
        return self.output.at

    @property
    def seq(self) -> int:
        """The number of that event."""
        return self.output.seq


def snapshots_out(items: Sequence[Item], outputs: Sequence[Output]) -> tuple[SnapshotOut, ...]:
    """Return the Snapshots among `outputs`, each with what it has to account for."""
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
    """What a Snapshot has to hold, and what it may: moved on from each Snapshot to the next.

    Each answer comes element by element, so that who stops at the first that is wrong has looked
    at no more elements than the Snapshot holds.
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
        """Take away what is gone by the time at which `snapshot` comes out."""
        self._bound = snapshot.bound
        while self._out and self._out[0].is_out_before(snapshot.seq):
            item = self._out.popleft()
            self._must.pop(item.pos, None)
            del self._may[item.identity][item.pos]
        while self._silent and self._silent[0].decided_at <= snapshot.at:
            self._must.pop(self._silent.popleft().pos, None)

    def must(self) -> Iterator[Item]:
        """Yield what it must hold: all that was read before it and is not gone."""
        return takewhile(self._is_read, self._must.values())

    def may(self, identity: Identity) -> Iterator[Item]:
        """Yield what it may hold of one identity: records without results need not be gone."""
        return takewhile(self._is_read, self._may.get(identity, {}).values())

    def _is_read(self, item: Item) -> bool:
        return item.pos < self._bound


def held_at(
    snapshots: Sequence[SnapshotOut], items: Sequence[Item]
) -> Iterator[tuple[SnapshotOut, Held]]:
    """Yield each Snapshot with what it has to hold; see `Held`."""
    if not snapshots:
        return
    held = Held(items)
    for snapshot in snapshots:
        held.move_to(snapshot)
        yield snapshot, held
