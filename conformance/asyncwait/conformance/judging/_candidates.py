"""Which record an output begins: one that is decided, and of which nothing came out yet."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

from asyncwait.conformance.judging._decide import Decision
from asyncwait.conformance.judging._observe import Facts, Identity, RecordIdentity, identity_of
from asyncwait.spec import Snapshot
from asyncwait.spec.scenario import Event, identity

Rank: TypeAlias = tuple[int, ...]
"""How much a candidate is preferred, less being more; its turn comes first, and always."""

_Entry: TypeAlias = tuple[Rank, int]
"""The rank of a candidate, and its number."""


class Candidate(NamedTuple):
    """What may come out of a record.

    Args:
        pos: the record's place.
        decided_seq: the number of the event that decided it, or of the last one before that.
        results: the identities of its results.
        by_deadline: whether its deadline decided it.
    """

    pos: int
    decided_seq: int
    results: tuple[str, ...]
    by_deadline: bool

    @classmethod
    def of(cls, facts: Facts, pos: int, decision: Decision) -> "Candidate":
        """Return what `decision` brings out of the record at `pos`."""
        results = tuple(map(identity, decision.results or ()))
        seq = decision.decided_seq
        if seq < 0 and results:  # Its time is up, and no handler was asked any more.
            seq = bisect_left(facts.leg.events, decision.decided_at, key=_at) - 1
        return cls(pos, seq, results, decision.timed_out)


def _at(event: Event) -> float:
    return event.at


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

    Args:
        facts: the leg.
        candidates: what may come out; of each record only one of its own.
        preferred: ranks those that an output may begin.
    """

    def __init__(
        self, facts: Facts, candidates: Iterable[Candidate], preferred: Callable[[Candidate], Rank]
    ) -> None:
        self._facts = facts
        self._preferred = preferred
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
        turn, *others = self._preferred(candidate)
        entry = (turn, int(is_held), *others), number
        heappush(self._waiting[first.value], entry)
        heappush(self._waiting[first], entry)
        heappush(self._waiting[first, candidate.results], entry)
        self._lengths[first].add(len(candidate.results))

    def _whole(self, number: int, first: RecordIdentity) -> Iterator[_Entry]:
        """Yield those whose results are the output and as many that follow as they have."""
        left = len(self._values) - number
        for length in self._lengths.get(first, ()):
            if length <= left:
                found = self._first((first, self._values[number : number + length]))
                if found is not None:
                    yield found
            else:
                yield from self._cut_off(first, self._values[number:])

    def _length_first(self, entry: _Entry) -> tuple[Rank, int, _Entry]:
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
