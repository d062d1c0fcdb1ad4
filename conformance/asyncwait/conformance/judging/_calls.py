"""Which call belongs to which record, and what the last of its attempts came to.

First calls start in input order, so the k-th call of a value belongs to the k-th record with that
value. Where that is broken, ORD-4 says so. If calls are repeated, that tells nothing: then the
trace says which record each call is for, as the harness knows the very object that it was given.

An attempt ends by what its call comes to, or at its own limit, whichever is first; in the very same
instant it may be either. If that asks for another attempt, and there may be one, its record backs
off; else the outcome stands. So does an outcome whose back-off would not end before the deadline.
"""

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import nextafter
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from asyncwait.conformance.judging._observe import NEVER, ROUNDING, Call, Facts
from asyncwait.spec import Record
from asyncwait.spec.scenario import PlannedRetry, Step, identity

TURN = 20.0
"""Milliseconds that a cancelled call has to end in before it is abandoned for sure (TIME-8)."""


class Outcome(NamedTuple):
    """What an attempt may have come to.

    Args:
        at: when, in ms.
        by_limit: it took longer than one attempt may.
        since: when the next attempt may begin at the earliest, in ms; NEVER if the outcome stands.
        until: when it has to begin at the latest, in ms; NEVER where it may wait for its permit.
        due: when it may begin for sure, as far as its record goes, in ms.
        is_beyond: it stands only because a back-off would not end before the deadline.
    """

    at: float
    by_limit: bool = False
    since: float = NEVER
    until: float = NEVER
    due: float = NEVER
    is_beyond: bool = False

    @property
    def stands(self) -> bool:
        """Whether no further attempt follows."""
        return self.since == NEVER


class Course(Struct, frozen=True, eq=False):
    """The attempts of one record."""

    attempts: tuple[Call, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def first(self) -> Call:
        """The call with which its time begins."""
        return self.attempts[0]

    @property
    def last(self) -> Call:
        """The call that counts."""
        return self.attempts[-1]

    @property
    def deadline(self) -> float:
        """When its time is over, in ms."""
        return self.first.deadline

    def standing(self, *, by_limit: bool) -> Outcome | None:
        """Return the outcome that stands, if its own limit ended the last attempt, or did not."""
        fitting = [each for each in self.outcomes if each.by_limit is by_limit]
        chosen = next(iter(fitting or self.outcomes), None)
        return chosen if chosen is not None and chosen.stands else None


def course(facts: Facts, calls: Sequence[Call]) -> tuple[Course, Sequence[Call]]:
    """Return the attempts among the calls of a record, and those that there was no reason for."""
    attempts, others = [calls[0]], list[Call]()
    for call in calls[1:]:
        if (asking := _asking(facts, attempts, call)) is not None and call.at <= call.deadline:
            attempts[-1:] = asking, call
        else:
            others.append(call)
    return Course(tuple(attempts), outcomes(facts, attempts[-1], len(attempts))), others


def _asking(facts: Facts, attempts: Sequence[Call], call: Call) -> Call | None:
    """Return the last of some attempts as one that asks for another, `call`; None if it doesn't."""
    last, number = attempts[-1], len(attempts)
    for each in filter(None, (last, last.instead)):
        if any(not o.stands and o.at <= call.at for o in outcomes(facts, each, number)):
            return each
    return None


def otherwise(facts: Facts, course: Course) -> Course:
    """Return the attempts of a record whose last one was what it may have been instead."""
    last = course.last.instead or course.last
    outcome = outcomes(facts, last, len(course.attempts))
    return Course((*course.attempts[:-1], last), outcome)


def outcomes(facts: Facts, call: Call, number: int) -> tuple[Outcome, ...]:
    """Return what an attempt may have come to by itself; none if it came to nothing."""
    found: list[Outcome] = []
    ended, retry = call.ended, facts.scenario.retry
    # An answer counts that comes while the loop is blocked at the limit, before that is noticed.
    noticed = facts.instants(call.limit)[-1] if call.limit < NEVER else NEVER
    is_answered = ended is not None and ended.how != "cancelled" and call.ended_at <= noticed
    if is_answered:
        pauses = dict.fromkeys(_own_pauses(facts, call, number))
        found += [_outcome(facts, call, call.ended_at, pause) for pause in pauses]
    # Where the loop is blocked when its consumer goes, it learns of that when it is free again.
    over_at = facts.instants(facts.leg.ending.at)[-1]
    known_at = min(call.ended_at if is_answered else NEVER, over_at)
    if retry is not None and call.limit <= known_at:
        may_repeat = number < retry.max_attempts and retry.repeats_after("TimeoutError")
        pause = _back_off(retry, number, retry.told_by_predicate()) if may_repeat else None
        found.append(_outcome(facts, call, call.limit, pause)._replace(by_limit=True))
    return tuple(found)


_Pause: TypeAlias = tuple[float, float]
"""The least and the most that a back-off may last, in ms."""


def _own_pauses(facts: Facts, call: Call, number: int) -> Iterator[_Pause | None]:
    """Yield how long to back off after what a call came to by itself; None if it stands.

    One that completes its record and then raises came to either, if both are to be repeated.
    """
    retry, step = facts.scenario.retry, call.step
    if retry is None or number >= retry.max_attempts or not retry.repeats(step):
        yield None
        return
    yield _back_off(retry, number, retry.told_after(step))
    is_completed = step.throws and facts.scenario.form == "callback"
    if is_completed and retry.repeats(Step(results=step.results)):
        yield _back_off(retry, number)


def _back_off(retry: PlannedRetry, number: int, told: int | None = None) -> _Pause:
    if told is not None:
        return told, told
    whole = retry.back_off(number)
    return whole * (100 - retry.jitter) / 100, whole


def _outcome(facts: Facts, call: Call, at: float, pause: _Pause | None) -> Outcome:
    if pause is None:
        return Outcome(at)
    noticed = facts.instants(at)[-1]
    due = facts.instants(round(noticed + pause[1], 3))[-1]
    since = round(at + pause[0], 3)
    if since >= call.deadline:
        return Outcome(at, is_beyond=True)
    # Nobody can tell how long it may wait for its permit then.
    due = max(due, _free_at(facts, call))
    return Outcome(at, since=since, until=NEVER if facts.scenario.limits else due, due=due)


def _free_at(facts: Facts, call: Call) -> float:
    if call.cancelled_at == NEVER:
        return -NEVER
    return min(call.ended_at, facts.instants(turn_over_at(facts, call))[-1])


def turn_over_at(facts: Facts, call: Call) -> float:
    """Return when a call that was cancelled has had its turn to end for sure, in ms."""
    since, known = call.cancelled_at, call.cancelled_at + TURN
    while (later := since + TURN + facts.blocked_between(since, known)) > known + ROUNDING:
        known = later  # By no less: in a block it would creep on by rounding errors alone.
    return known


class Calls(Struct, frozen=True, eq=False):
    """Calls and the records that they belong to."""

    of: dict[int, Course]
    extra: tuple[Call, ...]


def link_calls(facts: Facts) -> Calls:
    """Find out which record each call is for."""
    return _as_told(facts) if facts.scenario.tells_apart else _in_order(facts)


def _as_told(facts: Facts) -> Calls:
    places = [given.pos for given in facts.inputs if given.is_record]
    of: dict[int, list[Call]] = defaultdict(list)
    extra: list[Call] = []
    for call in facts.calls:
        is_known = call.record is not None and call.record < len(places)
        (of[places[call.record or 0]] if is_known else extra).append(call)
    courses: dict[int, Course] = {}
    for pos, calls in sorted(of.items()):
        courses[pos], others = course(facts, calls)
        extra += others
    return Calls(courses, tuple(sorted(extra, key=lambda call: call.seq)))


def _in_order(facts: Facts) -> Calls:
    """Give each call the first record with its value that has none yet."""
    waiting: dict[str, deque[int]] = defaultdict(deque)
    for given in facts.inputs:
        if isinstance(given.element, Record):
            waiting[identity(given.element.value)].append(given.pos)
    of: dict[int, Course] = {}
    extra: list[Call] = []
    for call in facts.calls:
        same = waiting[call.identity]
        if same:
            of[same.popleft()], _ = course(facts, [call])
        else:
            extra.append(call)
    return Calls(of, tuple(extra))


_Span: TypeAlias = tuple[float, float]
"""From when until when something runs, in ms."""


def running_at(times: Iterable[_Span]) -> Iterator[tuple[float, int]]:
    """Yield each time at which something begins, in order, and how many things run then."""
    spans = list(times)
    begun = sorted(since for since, _ in spans)
    over = sorted(max(since, until) for since, until in spans)
    for at in begun:
        yield at, bisect_right(begun, at) - bisect_right(over, at)


def overloaded_at(facts: Facts) -> float:
    """Return when the call was late after which more late calls ran on for long than may.

    NEVER if the leg did not fail by them. Some that end soon after they were late may have been too
    many as well, and nobody has noticed.
    """
    ending, most, calls = facts.leg.ending, facts.most_calls, facts.runs
    if ending.error != "TooManyAbandonedCalls" or facts.scenario.form == "callback":
        return NEVER
    surely = [(facts.instants(c.until)[-1], c.ended_at) for c in calls]
    too_many, perhaps = [*_above(most, surely)], [*_perhaps_above(facts)]
    noticed = (
        (at, until)
        for at, until in too_many
        if until >= ending.at or until - at > TURN + facts.blocked_between(at, until)
    )
    found = chain(noticed, reversed(too_many), reversed(perhaps))
    return next((at for at, _ in found if at <= ending.at), NEVER)


def may_be_overloaded_at(facts: Facts) -> float:
    """Return when the first call was late after which too many may have run on; NEVER for none."""
    return next((at for at, _ in _perhaps_above(facts)), NEVER)


def _perhaps_above(facts: Facts) -> Iterator[_Span]:
    """Yield from when until when more late calls than may seem to run on.

    An operator may notice a deadline before the loop is blocked, and the end of a call when it is
    free, or when it has counted in that very instant.
    """
    late = [call for call in facts.runs if call.ended_at > call.until]
    spans = [(facts.instants(c.until)[0], nextafter(c.ended_at, NEVER)) for c in late]
    return _above(facts.most_calls, spans)


def _above(most: int, spans: Sequence[_Span]) -> Iterator[_Span]:
    for at, running in running_at(spans):
        if running > most:
            ends = sorted(until for since, until in spans if since <= at < until)
            yield at, ends[running - most - 1]
