"""From a trace to its explanations: each is a history that the checks can judge.

What the events of a leg say by themselves, and what they leave open, is the same in all
explanations. From an explanation follow the decisions of the records, and from those what each
output belongs to. All of it is values that functions return.

Of several explanations the likeliest comes first. The outputs are linked once as if each record of
a tie had both outcomes, its call's and its deadline's; the first output of one of them settles it.
For the others it is weighed how well each outcome goes with the fact that nothing came out.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, repeat
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance.judging._calls import Calls, Course, link_calls, overloaded_at
from asyncwait.conformance.judging._decide import (
    UNDECIDED,
    Decision,
    Explanation,
    Tie,
    Ties,
    decide,
    decided_by_call,
    decided_by_deadline,
    find_ties,
)
from asyncwait.conformance.judging._history import History, LegHistory
from asyncwait.conformance.judging._link import Candidate, Link, Linker, Rank, link_outputs, turns
from asyncwait.conformance.judging._observe import (
    NEVER,
    Facts,
    Identity,
    Input,
    Item,
    Output,
    RecordIdentity,
    Took,
    identity_of,
    read_leg,
)
from asyncwait.spec.scenario import Leg, Scenario, Trace

_CERTAIN = 4
"""More than an outcome can weigh."""


def likeliest(facts: Facts, calls: Calls, ties: Ties) -> Explanation:
    """Return the explanation for which most speaks."""
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
    """Settles ties by what speaks for their records."""

    def __init__(
        self, facts: Facts, either: Mapping[int, _Either], came_out: Mapping[int, Candidate]
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


class Reading(Struct, frozen=True, eq=False):
    """What is known of a leg whatever explains it."""

    facts: Facts
    calls: Calls
    ties: Ties


def read(scenario: Scenario, leg: Leg, began_at: float = 0) -> Reading:
    """Read a leg that begins `began_at` ms after its scenario."""
    facts = read_leg(scenario, leg, began_at)
    calls = link_calls(facts)
    return Reading(facts, calls, find_ties(facts, calls))


def explained(reading: Reading, explanation: Explanation) -> LegHistory:
    """Return the leg as it was if `explanation` is the truth."""
    facts, calls = reading.facts, reading.calls
    decisions = decide(facts, calls, reading.ties, explanation)
    links = link_outputs(facts, decisions)
    given: dict[int | None, list[Took]] = defaultdict(list)
    for took, link in zip(facts.took, links, strict=True):
        given[link.pos].append(took)
    items = tuple(
        _item(each, calls.of.get(each.pos), decisions.get(each.pos, UNDECIDED), given[each.pos])
        for each in facts.inputs
    )
    outputs = tuple(map(partial(_output, items), facts.took, links))
    untimely = reading.ties.untimely
    return LegHistory(facts, items, outputs, calls.extra, untimely, overloaded_at(facts))


def _item(given: Input, course: Course | None, decision: Decision, took: Sequence[Took]) -> Item:
    """Put together what became of an input; `took` are its outputs."""
    owed = max(1, len(decision.results or ()))
    first, last = took[:1], took[owed - 1 : owed]
    return Item(
        given.pos,
        given.element,
        given.identity,
        given.index,
        given.at,
        given.seq,
        () if course is None else course.attempts,
        decision.asked_at,
        decision.decided_at,
        decision.decided_seq,
        decision.timed_out,
        decision.results,
        decision.wrong,
        decision.cause,
        decision.failure,
        decision.failure_cause,
        len(took),
        first[0].at if first else NEVER,
        first[0].seq if first else -1,
        last[0].at if last else NEVER,
        last[0].seq if last else -1,
    )


def _output(items: Sequence[Item], took: Took, link: Link) -> Output:
    item = None if link.pos is None else items[link.pos]
    return Output(took.element, took.at, took.seq, item, link.part, link.trouble)


class Way(Struct, frozen=True, eq=False):
    """A trace under one of its explanations."""

    readings: tuple[Reading, ...]
    settled: tuple[Explanation, ...]
    history: History

    def otherwise(self, number: int, explanation: Explanation) -> "Way":
        """Return the trace with the leg `number` explained otherwise."""
        leg = explained(self.readings[number], explanation)
        legs = (*self.history.legs[:number], leg, *self.history.legs[number + 1 :])
        settled = (*self.settled[:number], explanation, *self.settled[number + 1 :])
        return Way(self.readings, settled, replace(self.history, legs=legs))


def explain(scenario: Scenario, trace: Trace) -> Way:
    """Return the likeliest explanation of a trace."""
    readings = tuple(_read_all(scenario, trace))
    settled = tuple(likeliest(each.facts, each.calls, each.ties) for each in readings)
    legs = tuple(map(explained, readings, settled))
    return Way(readings, settled, History(scenario, trace, legs))


def _read_all(scenario: Scenario, trace: Trace) -> Iterator[Reading]:
    """Read all legs; each begins when the one before it was to crash."""
    begin = [0, *accumulate(crash.at for crash in scenario.crashes)]
    later = chain(begin, repeat(begin[-1]))
    for leg, at in zip(trace.legs, later, strict=False):
        yield read(scenario, leg, at)
