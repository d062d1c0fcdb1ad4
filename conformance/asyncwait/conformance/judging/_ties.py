"""What a leg leaves open: which of several records that are alike were decided by their deadline.

Of two records with equal values, both answered in the instant of their deadline, the handler may
have been asked for either, and the error may name either. Then there are several ways to explain a
leg, and it is legal if one of them is.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from asyncwait.conformance.judging._calls import Calls
from asyncwait.conformance.judging._facts import Facts
from asyncwait.conformance.judging._identity import identity_of
from asyncwait.conformance.judging._items import Call
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
        alike: their places, those first that are not known to have answered in time.
        count: how many of them their deadline decided.
        requests: to the handler, one for each of those; none where there is no handler.
        is_optional: one more of them may have been decided by it, and failed unseen.
    """

    at: float
    alike: tuple[int, ...]
    count: int
    requests: tuple[Request, ...] = ()
    is_optional: bool = False

    @property
    def is_open(self) -> bool:
        """Whether there is more than one way to settle it."""
        return len(self.alike) > self.count


class Ties(Struct, frozen=True):
    """All ties of a leg.

    Args:
        ties: in the order of their instants.
        untimely: requests to the handler for which no record is due.
    """

    ties: tuple[Tie, ...]
    untimely: tuple[HandlerAsked, ...]


def find_ties(facts: Facts, calls: Calls) -> Ties:
    """Find what the events of a leg leave open."""
    ties: list[Tie] = []
    untimely: list[HandlerAsked] = []
    asked = _requests(facts)
    asked, due = _joined(facts, calls, asked, _due(facts, calls, asked))
    for moment, requests in asked.items():
        alike = due.get(moment, ())
        count = min(len(requests), len(alike))
        if count:
            ties.append(Tie(moment[0], tuple(alike), count, tuple(requests[:count])))
        untimely += [event for _, event in requests[count:]]
    if not facts.scenario.handled:
        ties += _unhandled(facts, calls)
    return Ties(tuple(ties), tuple(untimely))


def _requests(facts: Facts) -> Mapping[Moment, Sequence[Request]]:
    requests: dict[Moment, list[Request]] = defaultdict(list)
    for seq, event in facts.seen(HandlerAsked):
        requests[event.at, identity(event.value)].append((seq, event))
    return requests


def _due(
    facts: Facts, calls: Calls, asked: Mapping[Moment, Sequence[Request]]
) -> Mapping[Moment, Sequence[int]]:
    """Return the places of the records that no answer has decided before their deadline.

    Where the loop was blocked then, there are several moments at which that may be noticed: each
    record has the first one at which the handler is asked once more. One that was answered in the
    instant of its deadline may be meant besides.
    """
    left = {moment: len(requests) for moment, requests in asked.items()}
    due: dict[Moment, list[int]] = defaultdict(list)
    for is_tied in (False, True):
        for pos, call in sorted(calls.of.items()):
            deadline = facts.deadline(call)
            if _is_tied(call, deadline) is is_tied:
                moments = [(at, call.identity) for at in facts.instants(deadline)]
                free = [each for each in moments if left.get(each)]
                shared = [each for each in moments if is_tied and each in asked]
                moment = next(iter([*free, *shared]), moments[-1])
                left[moment] = max(0, left.get(moment, 0) - (len(moments) > 1))
                due[moment].append(pos)
    return due


def _joined(
    facts: Facts,
    calls: Calls,
    asked: Mapping[Moment, Sequence[Request]],
    due: Mapping[Moment, Sequence[int]],
) -> tuple[Mapping[Moment, Sequence[Request]], Mapping[Moment, Sequence[int]]]:
    """Return requests and records with those moments as one between which a record can't choose.

    It answered in the instant of its deadline, and while the loop was blocked again and again the
    handler was asked more than once: each of these requests may be its own.
    """
    first: dict[Moment, Moment] = {}
    for call in calls.of.values():
        deadline = facts.deadline(call)
        if _is_tied(call, deadline):
            moments = [(at, call.identity) for at in facts.instants(deadline)]
            shared = [each for each in moments if each in asked]
            for each in shared[1:]:
                first[each] = min(shared[0], first.get(each, each))
    requests: dict[Moment, list[Request]] = defaultdict(list)
    places: dict[Moment, list[int]] = defaultdict(list)
    for moment in sorted({*asked, *due}):  # so that the first of those that are one comes first
        joined = first.get(moment, moment)
        first[moment] = joined = first.get(joined, joined)
        requests[joined] += asked.get(moment, ())
        places[joined] += due.get(moment, ())
    for alike in places.values():
        alike.sort(key=lambda pos: _is_tied(calls.of[pos], facts.deadline(calls.of[pos])) or False)
    return {moment: each for moment, each in requests.items() if each}, places


def _is_tied(call: Call, deadline: float) -> bool | None:
    """Whether a call has answered in the instant of its deadline; None if it did before."""
    if call.ended is None or call.ended.how == "cancelled" or call.ended_at > deadline:
        return False
    return True if call.ended_at == deadline else None


def _unhandled(facts: Facts, calls: Calls) -> Iterator[Tie]:
    """Yield who may have failed by its deadline though it answered in that instant.

    An error names the record, or one that is alike. Where the consumer left before it could learn
    of an error, there may have been one all the same.
    """
    ending = facts.leg.ending
    if ending.error == "CallTimedOut":
        named = identity_of(ending.record)
        same = {pos: c for pos, c in calls.of.items() if facts.inputs[pos].identity == named}
        if not any(c.ended_at > facts.deadline(c) <= ending.at for c in same.values()):
            alike = [pos for each in _answered_at_deadline(facts, same).values() for pos in each]
            if alike:
                yield Tie(ending.at, tuple(sorted(alike)), 1)
    elif ending.how in {"left", "crashed"}:
        own = {pos: c for pos, c in calls.of.items() if c.ended and c.ended.how != "cancelled"}
        for at, tied in _answered_at_deadline(facts, own).items():
            yield Tie(at, tuple(tied), 0, is_optional=True)


def _answered_at_deadline(facts: Facts, calls: Mapping[int, Call]) -> Mapping[float, Sequence[int]]:
    """Return the places of those whose call ended in the instant of their deadline, by instant."""
    tied: dict[float, list[int]] = defaultdict(list)
    for pos, call in calls.items():
        if call.ended is not None and call.ended_at == facts.deadline(call):
            tied[call.ended_at].append(pos)
    return tied
