"""The one place where a trace is judged: whatever a check does, it is reported from here.

If the likeliest explanation breaks a rule, others are tried. From the one that goes well longest,
one tie is settled otherwise: one record of it changes places with another. A tie can only be the
cause of what comes later, so those in front of the first violation are tried first, from there
backwards. Sooner or later all explanations are tried, if there are no more than are affordable.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from asyncwait.conformance.judging._check import Check, Judgement, Violation
from asyncwait.conformance.judging._decide import Explanation, Tie
from asyncwait.conformance.judging._explain import Reading, Way, explain
from asyncwait.conformance.judging._history import History
from asyncwait.conformance.judging._observe import NEVER
from asyncwait.spec.scenario import Scenario, Trace

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
    """Return how many explanations are tried, the likeliest included."""
    records = sum(len(reading.facts.inputs) for reading in readings)
    return max(FEWEST_WAYS, min(MOST_WAYS, MOST_RECORDS // max(1, records)))


def _known(settled: Sequence[Explanation]) -> tuple[tuple[frozenset[int], ...], ...]:
    """Return what tells an explanation from others."""
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
    """Yield `chosen` with one of them changed for another record of the tie, or left out."""
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
        """Return when the first rule is broken, or just that one is broken until then."""
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
