"""What a leg leaves open: which of several records that are alike were decided by their deadline.

Of two records with equal values, both answered in the instant of their deadline, the handler may
have been asked for either, and the error may name either. Then there are several ways to explain a
leg, and it is legal if one of them is.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from msgspec import Struct

from asyncwait.conformance.judging._calls import Calls
from asyncwait.conformance.judging._facts import Facts
from asyncwait.conformance.judging._identity import identity_of, identity_of_result
from asyncwait.conformance.judging._items import NEVER, Call, Input
from asyncwait.spec.scenario import HandlerAsked, identity

Request: TypeAlias = tuple[int, HandlerAsked]
"""A request to the handler, behind its number in the leg."""

Moment: TypeAlias = tuple[float, str]
"""The deadline of records with a value: ms, and the identity of the value."""

Explanation: TypeAlias = tuple[tuple[int, ...], ...]
"""For each tie of a leg the places of the records that their deadline decided."""


class Tie(Struct, frozen=True):
    """Records that are alike, some of which were decided by their deadline.

    Args:
        at: ms; their deadline.
        alike: their places, the likeliest to be decided by it first.
        count: how many of them their deadline decided.
        requests: to the handler, one for each of those; none where an error names the record.
    """

    at: float
    alike: tuple[int, ...]
    count: int
    requests: tuple[Request, ...] = ()

    def options(self) -> Iterator[tuple[int, ...]]:
        """Yield who it may have been, the likeliest first."""
        return combinations(self.alike, self.count)


class Ties(Struct, frozen=True):
    """All ties of a leg.

    Args:
        ties: in the order of their instants.
        untimely: requests to the handler for which no record is due.
    """

    ties: tuple[Tie, ...]
    untimely: tuple[HandlerAsked, ...]


def explanations(ties: Sequence[Tie]) -> Iterator[Explanation]:
    """Yield all ways to settle `ties`, the likeliest first."""
    wheels = [tie.options() for tie in ties]
    settled = [next(wheel) for wheel in wheels]
    while True:
        yield tuple(settled)
        for number, tie in enumerate(ties):
            other = next(wheels[number], None)
            if other is not None:
                settled[number] = other
                break
            wheels[number] = tie.options()
            settled[number] = next(wheels[number])
        else:
            return


def find_ties(facts: Facts, calls: Calls) -> Ties:
    """Find what the events of a leg leave open."""
    ties: list[Tie] = []
    untimely: list[HandlerAsked] = []
    due, rank = _due(facts, calls), _Rank(facts, calls)
    for moment, requests in _requests(facts).items():
        alike = due.get(moment, [])
        count = min(len(requests), len(alike))
        likely = sorted(alike, key=rank) if count < len(alike) else alike
        ties.append(Tie(moment[0], tuple(likely), count, tuple(requests[:count])))
        untimely += [event for _, event in requests[count:]]
    blamed = _blamed(facts, calls)
    if blamed:
        ties.append(Tie(facts.leg.ending.at, blamed, 1))
    return Ties(tuple(ties), tuple(untimely))


def _requests(facts: Facts) -> Mapping[Moment, Sequence[Request]]:
    requests: dict[Moment, list[Request]] = defaultdict(list)
    for seq, event in facts.seen(HandlerAsked):
        requests[event.at, identity(event.value)].append((seq, event))
    return requests


def _due(facts: Facts, calls: Calls) -> Mapping[Moment, Sequence[int]]:
    """Return the places of the records that no answer has decided before their deadline."""
    due: dict[Moment, list[int]] = defaultdict(list)
    for pos, call in sorted(calls.of.items()):
        deadline = facts.deadline(call)
        answered = call.ended is not None and call.ended.how != "cancelled"
        if not (answered and call.ended_at < deadline):
            due[deadline, call.identity].append(pos)
    return due


class _Rank:
    """How much speaks against a record's being decided by its deadline."""

    def __init__(self, facts: Facts, calls: Calls) -> None:
        self._facts = facts
        self._calls = calls
        self._came_out = {took.identity for took in facts.took}
        named = facts.leg.ending.record
        self._named = None if named is None else identity_of(named)

    def __call__(self, pos: int) -> int:
        """Rank the record at a place: its call's results speak against its handler's.

        An error that names the record speaks for it, if it is one that the handler brings.
        """
        given, call = self._facts.inputs[pos], self._calls.of[pos]
        handler = self._facts.scenario.handler(call.value)
        if handler and handler.does != "reply" and self._named == given.identity:
            return -1
        ended = call.ended
        if ended is None or ended.how == "cancelled" or ended.at > self._facts.deadline(call):
            return 0
        return 2 if self._has_come_out(given, call) else 1

    def _has_come_out(self, source: Input, call: Call) -> bool:
        results = () if call.ended is None else call.ended.results
        wanted = (identity_of_result(identity(value), source.identity) for value in results)
        return not self._came_out.isdisjoint(wanted)


def _blamed(facts: Facts, calls: Calls) -> tuple[int, ...]:
    """Return the records of which one failed at its deadline though it answered in that instant."""
    ending = facts.leg.ending
    if ending.error != "CallTimedOut" or ending.record is None or facts.scenario.handled:
        return ()
    named = identity_of(ending.record)
    same = [(pos, c) for pos, c in calls.of.items() if facts.inputs[pos].identity == named]
    if any(call.ended_at > facts.deadline(call) <= ending.at for _, call in same):
        return ()
    return tuple(sorted(p for p, c in same if c.ended_at == facts.deadline(c) != NEVER))
