"""Calls of each record, and the outcome of its last attempt.

First calls start in input order, so the k-th call of a value belongs to the k-th record with that
value. ORD-4 convicts an operator that breaks this order. Repeated calls do not keep it: then the
trace names the record of each call, because the harness knows the object that the operator passed.

An attempt ends with the outcome of its call, or at its own limit, whichever comes first. If the
policy repeats that outcome, the record backs off; else the outcome stands. It also stands if the
back-off would not end before the deadline.
"""

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import nextafter
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from asyncwait.conformance.judging._observe import NEVER, Call, Facts
from asyncwait.spec import Record
from asyncwait.spec.scenario import PlannedRetry, Step, identity

TURN = 20.0
"""Milliseconds after a cancellation after which a call that runs on is abandoned (TIME-8)."""


class Outcome(NamedTuple):
    """Outcome of one attempt.

    Args:
        at: ms.
        by_limit: the attempt reached its limit.
        since: earliest start of the next attempt, in ms; NEVER if the outcome stands.
        until: latest start of the next attempt, in ms; NEVER where it may wait for its permit.
        due: latest start of the next attempt without a wait for a permit, in ms.
        is_beyond: the outcome stands only because a back-off would not end before the deadline.
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
    """Attempts of one record, and the outcome of the last attempt; None for no outcome."""

    attempts: tuple[Call, ...]
    outcome: Outcome | None

    @property
    def first(self) -> Call:
        """The call with which the record's time begins."""
        return self.attempts[0]

    @property
    def last(self) -> Call:
        """The call whose outcome counts."""
        return self.attempts[-1]

    @property
    def deadline(self) -> float:
        """The end of the record's time, in ms."""
        return self.first.deadline


def course(facts: Facts, calls: Sequence[Call]) -> tuple[Course, Sequence[Call]]:
    """Return the attempts among the calls of a record, and the calls without a reason."""
    attempts, others = [calls[0]], list[Call]()
    for call in calls[1:]:
        end = outcome(facts, attempts[-1], len(attempts))
        has_reason = end is not None and not end.stands and end.at <= call.at <= call.deadline
        (attempts if has_reason else others).append(call)
    return Course(tuple(attempts), outcome(facts, attempts[-1], len(attempts))), others


def outcome(facts: Facts, call: Call, number: int) -> Outcome | None:
    """Return the outcome of the attempt with this 1-based number; None if it has no outcome."""
    ended, retry = call.ended, facts.scenario.retry
    is_over = call.limit < call.ended_at or (call.limit == call.ended_at and _is_cut(call))
    if ended is not None and ended.how != "cancelled" and not is_over:
        return _outcome(facts, call, call.ended_at, _own_pauses(facts, call, number)[0])
    if retry is None or call.limit > facts.observed.ending.at:
        return None
    return _outcome(facts, call, call.limit, _pause_at_limit(retry, number))._replace(by_limit=True)


def is_open(facts: Facts, call: Call, number: int) -> bool:
    """Whether the trace leaves open the outcome of an attempt: its answer and its limit may tie.

    A call in callback form that completes its record and then raises may be repeated for either.
    """
    pauses = {*_own_pauses(facts, call, number)}
    is_answered = call.ended is not None and call.ended.how != "cancelled"
    ties = is_answered and not _is_cut(call) and facts.may_tie(call.ended_at, call.limit)
    if ties and facts.scenario.retry is not None:
        pauses.add(_pause_at_limit(facts.scenario.retry, number))
    # No check that judges a blocked loop distinguishes an error from a limit.
    is_failure = call.step.does != "reply" and bool(facts.blocks)
    return len(pauses) > 1 or (ties and None in pauses and not is_failure)


def _is_cut(call: Call) -> bool:
    """Whether the operator cancelled a call before it ended."""
    return -1 < call.cancelled_seq < call.ended_seq


_Pause: TypeAlias = tuple[float, float]
"""The shortest and the longest back-off, in ms."""


def _own_pauses(facts: Facts, call: Call, number: int) -> Sequence[_Pause | None]:
    """Return the back-offs that may follow the outcome of a call; None if the outcome stands."""
    retry, step = facts.scenario.retry, call.step
    if retry is None or number >= retry.max_attempts or not retry.repeats(step):
        return [None]
    pauses = [_back_off(retry, number, retry.told_after(step))]
    is_completed = step.throws and facts.scenario.form == "callback"
    if is_completed and retry.repeats(Step(results=step.results)):
        pauses.append(_back_off(retry, number))
    return pauses


def _pause_at_limit(retry: PlannedRetry, number: int) -> _Pause | None:
    may_repeat = number < retry.max_attempts and retry.repeats_after("TimeoutError")
    return _back_off(retry, number, retry.told_by_predicate()) if may_repeat else None


def _back_off(retry: PlannedRetry, number: int, told: int | None = None) -> _Pause:
    if told is not None:
        return told, told
    whole = retry.back_off(number)
    return whole * (100 - retry.jitter) / 100, whole


def _outcome(facts: Facts, call: Call, at: float, pause: _Pause | None) -> Outcome:
    if pause is None:
        return Outcome(at)
    since, due = round(at + pause[0], 3), round(at + pause[1], 3)
    if since >= call.deadline:
        return Outcome(at, is_beyond=True)
    if call.cancelled_at < NEVER:  # The record waits until the call has ended, or is abandoned.
        due = max(due, min(call.ended_at, call.cancelled_at + TURN))
    # No rule bounds the wait for a permit.
    return Outcome(at, since=since, until=NEVER if facts.scenario.limits else due, due=due)


class Calls(Struct, frozen=True, eq=False):
    """Calls by the places of their records, and calls without a record or a reason."""

    of: dict[int, Course]
    extra: tuple[Call, ...]


def link_calls(facts: Facts) -> Calls:
    """Return the calls with their records."""
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
    """Give each call the first record with its value that has no call yet."""
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
"""Begin and end of a run, in ms."""


def running_at(times: Iterable[_Span]) -> Iterator[tuple[float, int]]:
    """Yield each time at which a run begins, in order, and the number of runs at that time."""
    spans = list(times)
    begun = sorted(since for since, _ in spans)
    over = sorted(max(since, until) for since, until in spans)
    for at in begun:
        yield at, bisect_right(begun, at) - bisect_right(over, at)


def overloaded_at(facts: Facts) -> float:
    """Return when the call timed out with which too many abandoned calls ran; NEVER for none.

    The result is NEVER if the leg did not fail for this reason. Calls that end soon after their
    deadlines may have counted, too.
    """
    ending, most, calls = facts.observed.ending, facts.most_calls, facts.runs
    if ending.error != "TooManyAbandonedCalls" or facts.scenario.form == "callback":
        return NEVER
    too_many = [*_above(most, [(c.until, c.ended_at) for c in calls])]
    noticed = ((at, until) for at, until in too_many if until >= ending.at or until - at > TURN)
    found = chain(noticed, reversed(too_many), reversed([*_perhaps_above(facts)]))
    return next((at for at, _ in found if at <= ending.at), NEVER)


def may_be_overloaded_at(facts: Facts) -> float:
    """Return when the first call timed out with which too many may have run on; NEVER for none."""
    return next((at for at, _ in _perhaps_above(facts)), NEVER)


def _perhaps_above(facts: Facts) -> Iterator[_Span]:
    """Yield the spans in which more late calls than allowed may seem to run on.

    An operator may still count a call in the instant in which it ends.
    """
    late = [call for call in facts.runs if call.ended_at > call.until]
    return _above(facts.most_calls, [(c.until, nextafter(c.ended_at, NEVER)) for c in late])


def _above(most: int, spans: Sequence[_Span]) -> Iterator[_Span]:
    for at, running in running_at(spans):
        if running > most:
            ends = sorted(until for since, until in spans if since <= at < until)
            yield at, ends[running - most - 1]
