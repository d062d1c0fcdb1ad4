"""Which output belongs to which input.

Results carry the timestamp and key of their record. Records that are alike in all of this are
interchangeable, and the earliest takes the earliest output: any legal trace allows that assignment.
But one that a later Snapshot holds has given nothing yet, if another with the same results may
have.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from heapq import heappop, heappush

from msgspec import Struct

from asyncwait.conformance.judging._candidates import Candidate, Candidates, Rank, turns
from asyncwait.conformance.judging._decide import Decision
from asyncwait.conformance.judging._observe import Facts, Identity, RecordIdentity, Took
from asyncwait.spec import Snapshot


class Link(Struct, frozen=True):
    """What an output is: `part` of the input at `pos`, or of none; see `Output`."""

    pos: int | None = None
    part: int = 0
    trouble: str = ""


def link_outputs(facts: Facts, decisions: Mapping[int, Decision]) -> list[Link]:
    """Return for each output what it belongs to."""
    candidates = [Candidate.of(facts, pos, decision) for pos, decision in decisions.items()]
    turn = turns(facts)
    linker = Linker(facts, candidates, lambda each: (turn(each), each.pos))
    return linker.link_all()


class Linker:
    """Goes through the outputs once, in order, and keeps what is still to come.

    Args:
        facts: the leg.
        candidates: what may come out; of a record only one of its own.
        preferred: ranks the records that an output may begin.

    Attributes:
        settled: the candidate of each record of which something came out.
    """

    def __init__(
        self,
        facts: Facts,
        candidates: Iterable[Candidate],
        preferred: Callable[[Candidate], Rank],
    ) -> None:
        self.settled: dict[int, Candidate] = {}
        self._facts = facts
        self._candidates = Candidates(facts, candidates, preferred)
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
        """Return the identity of the next result of a record that has one."""
        return self.settled[pos].results[self._given[pos]]

    def _attach(self, pos: int, trouble: str) -> Link:
        part = self._given.get(pos, 0)
        self._given[pos] = part + 1
        self._open = pos if part + 1 < len(self.settled[pos].results) else None
        return Link(pos, part, trouble)

    def _link_result(self, number: int, value: str, trouble: str) -> Link:
        pos = self._torn.take(value)
        if pos is None:
            candidate = self._candidates.take(number)
            if candidate is None:
                known = self._candidates.is_known(value)
                return Link(trouble="repeated" if known else "invented")
            pos = candidate.pos
            self.settled[pos] = candidate
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
        """Note that the record at `pos` was broken off before its result `value`."""
        order = self._order.setdefault(pos, len(self._order))
        heappush(self._waiting[value], (order, pos))

    def take(self, value: str) -> int | None:
        """Return the record that was broken off first, of those whose next result is `value`."""
        waiting = self._waiting.get(value)
        return heappop(waiting)[1] if waiting else None
