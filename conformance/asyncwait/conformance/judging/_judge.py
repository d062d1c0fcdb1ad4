"""From a trace to its judgement: how it is explained, and what all checks say of that.

What the events of a leg say by themselves, and what they leave open, is the same in all
explanations. From an explanation follow the decisions of the records, and from those what each
output belongs to. All of it is values that functions return.

Of several explanations the likeliest comes first. The outputs are linked once as if each record of
a tie had both outcomes, its call's and its deadline's; the first output of one of them settles it.
For the others it is weighed how well each outcome goes with the fact that nothing came out.

If the likeliest explanation breaks a rule, others are tried. From the one that goes well longest,
one tie is settled otherwise: one record of it changes places with another. A tie can only be the
cause of what comes later, so those in front of the first violation are tried first, from there
backwards. Sooner or later all explanations are tried, if there are no more than are affordable.

This is the one place where a trace is judged: whatever a check does, it is reported from here.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import accumulate, chain, repeat
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import astuple, replace

from asyncwait.conformance.judging._calls import Calls, Course, link_calls, overloaded_at
from asyncwait.conformance.judging._check import Check, Judgement, Violation
from asyncwait.conformance.judging._decide import (
    UNDECIDED,
    Decision,
    Explanation,
    Tie,
    Ties,
    as_given,
    decide,
    decided_by_call,
    decided_by_deadline,
    find_ties,
    noticed_at,
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
)
from asyncwait.conformance.judging._read import read_leg
from asyncwait.conformance.judging._refused import refused
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
        in_time = standing is not None and standing.at <= noticed_at(facts, course)
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
    facts = reading.facts
    calls = as_given(facts, reading.calls, reading.ties, explanation)
    decisions = decide(facts, calls, reading.ties, explanation)
    decisions |= refused(facts, calls, decisions)
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
    fields: tuple[Any, ...] = (
        *astuple(given),
        () if course is None else course.attempts,
        *astuple(decision),
        len(took),
        first[0].at if first else NEVER,
        first[0].seq if first else -1,
        last[0].at if last else NEVER,
        last[0].seq if last else -1,
    )
    return Item(*fields)


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


Moment: TypeAlias = tuple[float, float]
"""The number of a leg, and ms since it began."""

LEGAL: Moment = (NEVER, NEVER)
"""Until when a trace goes well of which no rule is broken."""

MOST_WAYS = 1_000
"""Explanations that are tried: half of twelve records that are alike and tie have fewer."""

MOST_RECORDS = 60_000
"""Records that are judged for that: of a large trace fewer explanations are tried."""

FEWEST_WAYS = 3
"""Explanations that are tried of any trace, however large."""

GoesWell: TypeAlias = Callable[[History, Moment], Moment]
"""Says until when a history goes well; whatever is no later than the given moment will do."""


class _Tried(NamedTuple):
    """An explanation that was tried: the one that goes well longest is the first."""

    order: tuple[float, float, int]
    until: Moment
    way: Way
    others: Iterator[tuple[int, Explanation]]


def search(likeliest: Way, until: Moment, goes_well: GoesWell) -> History | None:
    """Return a history that is legal; None if none was found.

    Args:
        likeliest: where to begin.
        until: when that breaks the first rule.
        goes_well: judges a history.
    """
    seen = {_known(likeliest.settled)}
    tried = [_tried(likeliest, until, 0)]
    affordable = _affordable(likeliest.readings)
    while tried and len(seen) < affordable:
        best = tried[0]
        number, explanation = next(best.others, (-1, ()))
        if number < 0:
            heappop(tried)
            continue
        settled = (*best.way.settled[:number], explanation, *best.way.settled[number + 1 :])
        if (known := _known(settled)) not in seen:
            seen.add(known)
            way = best.way.otherwise(number, explanation)
            well = goes_well(way.history, best.until)
            if well == LEGAL:
                return way.history
            heappush(tried, _tried(way, well, len(seen)))
    return None


def _affordable(readings: Sequence[Reading]) -> int:
    records = sum(len(reading.facts.inputs) for reading in readings)
    return max(FEWEST_WAYS, min(MOST_WAYS, MOST_RECORDS // max(1, records)))


def _known(settled: Sequence[Explanation]) -> tuple[tuple[frozenset[int], ...], ...]:
    return tuple(tuple(map(frozenset, leg)) for leg in settled)


def _tried(way: Way, until: Moment, number: int) -> _Tried:
    return _Tried((-until[0], -until[1], number), until, way, _others(way, until))


def _others(way: Way, until: Moment) -> Iterator[tuple[int, Explanation]]:
    """Yield legs explained otherwise, by number: one tie is settled otherwise than in `way`."""
    ties = [
        ((leg, tie.at), number, tie)
        for leg, reading in enumerate(way.readings)
        for number, tie in enumerate(reading.ties.ties)
        if tie.is_open
    ]
    ties.sort(key=lambda each: (each[0] > until, -each[0][0], -each[0][1]))
    for (leg, _), number, tie in ties:
        explanation = way.settled[leg]
        for chosen in _swapped(tie, explanation[number]):
            yield leg, (*explanation[:number], chosen, *explanation[number + 1 :])


def _swapped(tie: Tie, chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if tie.is_optional:
        yield from [()] if chosen else [(pos,) for pos in tie.alike]
        return
    settled = set(chosen)
    others = [pos for pos in tie.alike if pos not in settled]
    for out in reversed(chosen):
        for pos in others:
            yield tuple(pos if each == out else each for each in chosen)


Checks = Mapping[str, Check]
"""Checks by the id of their rule."""


class Judged(Struct, frozen=True):
    """What all checks say of one trace."""

    by_rule: Mapping[str, Judgement] = {}
    error: str = ""

    def violations(self) -> Iterator[tuple[str, Violation]]:
        """Yield the first violation of each rule that is broken, in the order of the checks."""
        for rule, judgement in self.by_rule.items():
            for violation in judgement.violations[:1]:
                yield rule, violation


def judge(
    scenario: Scenario, trace: Trace, checks: Checks, only: Collection[str] | None = None
) -> Judged:
    """Judge `trace` by all `checks`; never raise, whatever is in it.

    Where records can't be told apart a trace may have several explanations. An operator is wrong
    only if each of them, as far as they are tried, breaks a rule; then the likeliest counts.

    Args:
        scenario: what was planned.
        trace: what was observed.
        checks: what to judge by, by the id of the rule. The explanation is chosen by the same.
        only: ids of those that matter; None for all. If the likeliest explanation breaks none of
            them, nobody asks what the others say: any other that would count breaks no rule at all.
    """
    try:
        way = explain(scenario, trace)
        if only is not None:
            judged = _judge(way.history, {rule: checks[rule] for rule in only})
            if not any(judged.violations()):
                return judged
        judged = _judge(way.history, checks)
        if any(judged.violations()):
            until = min(at for said in judged.by_rule.values() for at in _broken_at(said))
            legal = search(way, until, _Trial(checks))
            judged = judged if legal is None else _judge(legal, checks)
    except Exception as error:
        return Judged(error=f"reading the trace failed: {_described(error)}")
    return judged


class _Trial:
    """Says until when a history goes well; whatever was wrong with the last one is asked first."""

    def __init__(self, checks: Checks) -> None:
        self._checks = list(checks.values())

    def __call__(self, history: History, until: Moment) -> Moment:
        first = LEGAL
        for number, check in enumerate(self._checks):
            first = min([first, *_broken_at(_judgement(check, history))])
            if first <= until:
                self._checks.insert(0, self._checks.pop(number))
                break
        return first


def _broken_at(judgement: Judgement) -> Iterator[Moment]:
    return ((violation.leg, violation.at) for violation in judgement.violations)


def _judge(history: History, checks: Checks) -> Judged:
    return Judged({rule: _judgement(check, history) for rule, check in checks.items()})


def _judgement(check: Check, history: History) -> Judgement:
    """Judge by one rule; a broken check must not pass for a pass."""
    try:
        return check(history)
    except Exception as error:
        return Judgement(error=f"its check failed: {_described(error)}")


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
