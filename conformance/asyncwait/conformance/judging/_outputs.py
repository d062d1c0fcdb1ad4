"""Which output belongs to which input.

Results carry the timestamp and key of their record. Records that are alike in all of this are
interchangeable, and the earliest takes the earliest output: any legal trace allows that assignment.
"""

from collections import defaultdict, deque
from collections.abc import Mapping
from functools import cached_property
from heapq import heappop, heappush

from msgspec import Struct

from asyncwait.conformance.judging._decisions import Decision
from asyncwait.conformance.judging._facts import Facts, Took
from asyncwait.conformance.judging._identity import Identity, identity_of_result
from asyncwait.spec import Record, Snapshot
from asyncwait.spec.scenario import identity


class Link(Struct, frozen=True):
    """What an output is: `part` of the input at `pos`, or of none; see `Output`."""

    pos: int | None = None
    part: int = 0
    trouble: str = ""


def link_outputs(facts: Facts, decisions: Mapping[int, Decision]) -> list[Link]:
    """Return for each output what it belongs to."""
    linker = _Linker(facts, decisions)
    return [linker.link(took) for took in facts.took]


class _Linker:
    """Goes through the outputs once, in order, and keeps what is still to come."""

    def __init__(self, facts: Facts, decisions: Mapping[int, Decision]) -> None:
        self._results = {
            pos: [identity(value) for value in decision.results]
            for pos, decision in decisions.items()
            if decision.results
        }
        firsts = {pos: results[0] for pos, results in self._results.items()}
        self._first = _FirstResults(facts, decisions, firsts)
        self._torn = _Torn()
        self._passed_on: dict[Identity, deque[int]] = defaultdict(deque)
        for given in facts.inputs:
            if not given.is_record:
                self._passed_on[given.identity].append(given.pos)
        self._given: dict[int, int] = {}
        """How many of its results came out, of each record that has begun."""
        self._open: int | None = None
        """The record that is being handed out: the next output has to be its next result."""

    def link(self, took: Took) -> Link:
        """Find the input of the next output."""
        element, trouble, broken_off = took.element, "", self._open
        if broken_off is not None:
            if isinstance(element, Record) and identity(element.value) == self._next(broken_off):
                return self._attach(broken_off, trouble)
            trouble = "torn"
            self._torn.add(broken_off, self._next(broken_off))
            self._open = None
        if isinstance(element, Record):
            return self._link_result(took, element, trouble)
        return Link(trouble=trouble) if isinstance(element, Snapshot) else self._pass(took, trouble)

    def _next(self, pos: int) -> str:
        """Return the identity of the next result of a record that has one."""
        return self._results[pos][self._given[pos]]

    def _attach(self, pos: int, trouble: str) -> Link:
        part = self._given.get(pos, 0)
        self._given[pos] = part + 1
        self._open = pos if part + 1 < len(self._results[pos]) else None
        return Link(pos, part, trouble)

    def _link_result(self, took: Took, element: Record, trouble: str) -> Link:
        value = identity(element.value)
        pos = self._torn.take(value)
        if pos is None:
            pos = self._first.take(value, took)
        if pos is not None:
            return self._attach(pos, trouble)
        return Link(trouble="repeated" if value in self._known else "invented")

    @cached_property
    def _known(self) -> set[str]:
        """What some record gives."""
        return {value for results in self._results.values() for value in results}

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
        """Note that the record at `pos` was broken off before its result `value`."""
        order = self._order.setdefault(pos, len(self._order))
        heappush(self._waiting[value], (order, pos))

    def take(self, value: str) -> int | None:
        """Return the record that was broken off first, of those whose next result is `value`."""
        waiting = self._waiting.get(value)
        return heappop(waiting)[1] if waiting else None


class _FirstResults:
    """Records that nothing came of, by their first result.

    Those with the right timestamp and key come first, then those in front.
    """

    def __init__(
        self, facts: Facts, decisions: Mapping[int, Decision], firsts: Mapping[int, str]
    ) -> None:
        decided = [(decisions[pos].decided_seq, pos, first) for pos, first in firsts.items()]
        self._undecided = deque(
            (seq, pos, first, identity_of_result(first, facts.inputs[pos].identity))
            for seq, pos, first in sorted(decided)
        )
        self._waiting: dict[Identity, list[int]] = defaultdict(list)
        self._taken: set[int] = set()

    def take(self, value: str, took: Took) -> int | None:
        """Return the record whose first result came out; it was decided before."""
        while self._undecided and self._undecided[0][0] < took.seq:
            _, decided, first, exact = self._undecided.popleft()
            heappush(self._waiting[first], decided)
            heappush(self._waiting[exact], decided)
        pos = self._first(took.identity)
        return self._first(value) if pos is None else pos

    def _first(self, key: Identity) -> int | None:
        waiting = self._waiting.get(key, [])
        while waiting:
            pos = heappop(waiting)
            if pos not in self._taken:
                self._taken.add(pos)
                return pos
        return None
