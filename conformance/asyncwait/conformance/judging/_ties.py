"""What a leg leaves open: which of several records that are alike were decided by their deadline.

Of two records with equal values, both answered in the instant of their deadline, the handler may
have been asked for either, and the error may name either. Then there are several ways to explain a
leg, and it is legal if one of them is.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from asyncwait.conformance.judging._calls import Calls, Course
from asyncwait.conformance.judging._observe import Call, Facts, identity_of
from asyncwait.spec.scenario import FailureAsked, HandlerAsked, identity

Asked: TypeAlias = HandlerAsked | FailureAsked
"""A request to the timeout handler; without one, to the failure handler about a deadline."""

Request: TypeAlias = tuple[int, Asked]
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
        by_limit: it is not about their deadline, but about the limit of the last attempt of a
            record, which may have answered in that very instant.
    """

    at: float
    alike: tuple[int, ...]
    count: int
    requests: tuple[Request, ...] = ()
    is_optional: bool = False
    by_limit: bool = False

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
    untimely: tuple[Asked, ...]


def find_ties(facts: Facts, calls: Calls) -> Ties:
    """Find what the events of a leg leave open."""
    ties: list[Tie] = [*_at_their_limits(calls)]
    untimely: list[Asked] = []
    asked = _requests(facts)
    asked, due = _joined(facts, calls, asked, _due(facts, calls, asked))
    for moment, requests in asked.items():
        alike = due.get(moment, ())
        count = min(len(requests), len(alike))
        if count:
            ties.append(Tie(moment[0], tuple(alike), count, tuple(requests[:count])))
        untimely += [event for _, event in requests[count:]]
    if not (facts.scenario.handled or facts.scenario.failures_handled):
        ties += _unhandled(facts, calls)
    return Ties(tuple(ties), tuple(untimely))


def _requests(facts: Facts) -> Mapping[Moment, Sequence[Request]]:
    requests: dict[Moment, list[Request]] = defaultdict(list)
    for seq, event in _asked_at_deadlines(facts):
        requests[event.at, asked_for(facts, event)].append((seq, event))
    return requests


def _asked_at_deadlines(facts: Facts) -> Sequence[Request]:
    """Return the requests that tell of a deadline."""
    if facts.scenario.handled:
        return facts.seen(HandlerAsked)
    return [each for each in facts.seen(FailureAsked) if each[1].error == "CallTimedOut"]


def _at_their_limits(calls: Calls) -> Iterator[Tie]:
    """Yield whose last attempt has answered in the very instant of its limit.

    If another attempt followed in any case, it is not the last one.
    """
    for pos, course in calls.of.items():
        if len(course.outcomes) > 1:
            yield Tie(course.outcomes[0].at, (pos,), 0, is_optional=True, by_limit=True)


def name_of(call: Call) -> str:
    """Return what tells the record of a call, or at least its value, from others."""
    return call.identity if call.record is None else f"record {call.record}"


def asked_for(facts: Facts, event: Asked) -> str:
    """Return the same of a request to a handler."""
    value = identity(event.value)
    record = facts.numbers.of(event, value)
    return value if record is None else f"record {record}"


def _due(
    facts: Facts, calls: Calls, asked: Mapping[Moment, Sequence[Request]]
) -> Mapping[Moment, Sequence[int]]:
    """Return the places of the records that no answer has decided before their deadline.

    Where the loop was blocked then, there are several moments at which that may be noticed: each
    record has the first one at which the handler is asked once more, or else shares one with those
    that are alike: any of them may be meant. One that was answered in the instant of its deadline
    comes last.
    """
    left = {moment: len(requests) for moment, requests in asked.items()}
    due: dict[Moment, list[int]] = defaultdict(list)
    for is_tied in (False, True):
        for pos, course in sorted(calls.of.items()):
            if _is_tied(course) is is_tied:
                name = name_of(course.first)
                moments = [(at, name) for at in facts.instants(course.deadline)]
                free = [each for each in moments if left.get(each)]
                shared = [each for each in moments if each in asked]
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
    for course in calls.of.values():
        if _is_tied(course):
            name = name_of(course.first)
            moments = [(at, name) for at in facts.instants(course.deadline)]
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
        alike.sort(key=lambda pos: _is_tied(calls.of[pos]) or False)
    return {moment: each for moment, each in requests.items() if each}, places


def _is_tied(course: Course) -> bool | None:
    """Whether a record may have been answered, and may not, when its deadline came.

    False if it surely was not, None if it surely was before.
    """
    in_time = [each.stands and each.at <= course.deadline for each in course.outcomes]
    if not any(in_time):
        return False
    is_sure = all(in_time) and all(each.at < course.deadline for each in course.outcomes)
    return None if is_sure else True


def _unhandled(facts: Facts, calls: Calls) -> Iterator[Tie]:
    """Yield who may have failed by its deadline though it answered in that instant.

    An error names the record, or one that is alike. Where the consumer left before it could learn
    of an error, there may have been one all the same.
    """
    ending = facts.leg.ending
    if ending.error == "CallTimedOut":
        same = {pos: each for pos, each in calls.of.items() if _is_named(facts, pos, each)}
        if not any(_is_tied(c) is False and c.deadline <= ending.at for c in same.values()):
            alike = [pos for each in _answered_at_deadline(same).values() for pos in each]
            if alike:
                yield Tie(ending.at, tuple(sorted(alike)), 1)
    elif ending.how in {"left", "crashed"}:
        for at, tied in _answered_at_deadline(calls.of).items():
            yield Tie(at, tuple(tied), 0, is_optional=True)


def _is_named(facts: Facts, pos: int, course: Course) -> bool:
    """Whether the error of a leg may mean a record."""
    ending = facts.leg.ending
    if ending.number is not None and course.first.record is not None:
        return ending.number == course.first.record
    return facts.inputs[pos].identity == identity_of(ending.record)


def _answered_at_deadline(courses: Mapping[int, Course]) -> Mapping[float, Sequence[int]]:
    """Return the places of those whose call ended in the instant of their deadline, by instant."""
    tied: dict[float, list[int]] = defaultdict(list)
    for pos, course in courses.items():
        if any(each.stands and each.at == course.deadline for each in course.outcomes):
            tied[course.deadline].append(pos)
    return tied
