"""Which explanation of a leg is the likeliest: what came out says how most ties were settled.

The outputs are linked once as if each record of a tie had both outcomes, its call's and its
deadline's; the first output of one of them settles it. For the others it is weighed how well each
outcome goes with the fact that nothing came out.
"""

from collections.abc import Callable, Mapping
from itertools import chain
from typing import NamedTuple

from asyncwait.conformance.judging._calls import Calls, Course
from asyncwait.conformance.judging._decide import (
    UNDECIDED,
    Decision,
    Explanation,
    Tie,
    Ties,
    decide,
    decided_by_call,
    decided_by_deadline,
)
from asyncwait.conformance.judging._link import Candidate, Linker, Rank, turns
from asyncwait.conformance.judging._observe import Facts, Identity, RecordIdentity, identity_of

_CERTAIN = 4
"""More than an outcome can weigh."""


def likeliest(facts: Facts, calls: Calls, ties: Ties) -> Explanation:
    """Return the explanation for which most speaks.

    Args:
        facts: the leg.
        calls: which belong to which record.
        ties: what is left open.
    """
    first = tuple(tie.alike[: tie.count] for tie in ties.ties)
    tied = {pos: t for t in ties.ties if t.is_open and not t.is_optional for pos in t.alike}
    if not tied:
        return first
    decisions = decide(facts, calls, ties, first)
    certain = [Candidate.of(facts, pos, d) for pos, d in decisions.items() if pos not in tied]
    either = {pos: _Either.of(facts, calls.of[pos], pos, tie) for pos, tie in tied.items()}
    candidates = chain(certain, *(outcomes.candidates for outcomes in either.values()))
    linker = Linker(facts, candidates, _preferred(facts, either))
    linker.link_all()
    weigh = _Weigh(facts, either, linker.settled)
    return tuple(weigh.settled(tie) for tie in ties.ties)


class _Either(NamedTuple):
    """How a record of a tie may have been decided, and what may come out of it in either case."""

    own: Decision
    late: Decision
    candidates: tuple[Candidate, Candidate]

    @classmethod
    def of(cls, facts: Facts, course: Course, pos: int, tie: Tie) -> "_Either":
        """Return the outcomes of the record at `pos`: of its call, if that can be, and deadline."""
        standing = course.standing(by_limit=False)
        in_time = standing is not None and standing.at <= course.deadline
        own = decided_by_call(facts, course, standing) if in_time else UNDECIDED
        late = decided_by_deadline(facts, course, next(iter(tie.requests), None))
        return cls(own, late, (Candidate.of(facts, pos, own), Candidate.of(facts, pos, late)))

    @property
    def looks_the_same(self) -> bool:
        """Whether what comes out does not tell which it was."""
        own, late = self.candidates
        return bool(own.results) and own.results == late.results


def _preferred(facts: Facts, either: Mapping[int, _Either]) -> Callable[[Candidate], Rank]:
    """Return what ranks the records that an output may begin.

    Of those whose turn it is rather one about which nothing is open, or whose other outcome is
    nowhere to be seen: the others may still be needed.
    """
    turn = turns(facts)
    came_out = {took.identity for took in facts.took}

    def rank(each: Candidate) -> Rank:
        if each.pos not in either:
            return turn(each), 0, 0, each.pos
        own, late = either[each.pos].candidates
        seen = _first_output(facts, own if each.by_deadline else late) in came_out
        return turn(each), 1, int(seen), each.pos

    return rank


def _first_output(facts: Facts, candidate: Candidate) -> Identity:
    record = facts.inputs[candidate.pos].identity
    assert isinstance(record, RecordIdentity)
    return record.result(candidate.results[0]) if candidate.results else None


class _Weigh:
    """Settles ties by what speaks for their records.

    Args:
        facts: the leg.
        either: the outcomes of the records of all ties.
        came_out: what came out of a record.
    """

    def __init__(
        self,
        facts: Facts,
        either: Mapping[int, _Either],
        came_out: Mapping[int, Candidate],
    ) -> None:
        self._facts = facts
        self._either = either
        self._came_out = came_out
        named = facts.leg.ending.record
        self._named = None if named is None else identity_of(named)

    def settled(self, tie: Tie) -> tuple[int, ...]:
        """Return which of the records of `tie` were decided by their deadline."""
        if tie.is_optional or not tie.is_open:
            return tie.alike[: tie.count]
        return tuple(sorted(tie.alike, key=self._for_its_call)[: tie.count])

    def _for_its_call(self, pos: int) -> tuple[bool, int]:
        """Return how much speaks for a record's being decided by its call, not its deadline."""
        own, late, _ = self._either[pos]
        if pos in self._came_out:
            weight = -_CERTAIN if self._came_out[pos].by_deadline else _CERTAIN
            return True, 0 if self._either[pos].looks_the_same else weight
        if own is UNDECIDED:
            return not self._explains(pos, late), -_CERTAIN
        return not self._explains(pos, late), self._weight(pos, own) - self._weight(pos, late)

    def _weight(self, pos: int, outcome: Decision) -> int:
        """Return how well it goes with an outcome that nothing came out."""
        if outcome.wrong:
            return 3 if self._explains(pos, outcome) else 0
        return 1 if outcome.results else 2

    def _explains(self, pos: int, outcome: Decision) -> bool:
        """Whether an outcome is the very failure that ended the leg."""
        is_named = self._facts.inputs[pos].identity == self._named
        return is_named and outcome.wrong != "" and outcome.wrong == self._facts.leg.ending.error
