"""How the attempts of one record followed each other, and what its last one came to.

An attempt ends by what its call comes to, or at its own limit, whichever is first; in the very same
instant it may be either. If that asks for another attempt, and there may be one, its record backs
off; else the outcome stands.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from asyncwait.conformance.judging._observe import NEVER, Call, Facts
from asyncwait.spec.scenario import PlannedRetry, Step

TURN = 20.0
"""Milliseconds that a cancelled call has to end in before it is abandoned for sure (TIME-8)."""


class Outcome(NamedTuple):
    """What an attempt may have come to.

    Args:
        at: when, in ms.
        by_limit: it took longer than one attempt may.
        since: when the next attempt may begin at the earliest, in ms; NEVER if the outcome stands.
        until: when it has to begin at the latest, in ms.
    """

    at: float
    by_limit: bool = False
    since: float = NEVER
    until: float = NEVER

    @property
    def stands(self) -> bool:
        """Whether no further attempt follows."""
        return self.since == NEVER


class Course(Struct, frozen=True, eq=False):
    """The attempts of one record.

    Args:
        attempts: its calls, in order, as far as there was a reason for each.
        outcomes: what the last one may have come to; none if nothing yet.
    """

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
        earlier = outcomes(facts, attempts[-1], len(attempts))
        is_asked_for = any(not each.stands and each.at <= call.at for each in earlier)
        in_time = call.at <= call.deadline
        (attempts if is_asked_for and in_time else others).append(call)
    return Course(tuple(attempts), outcomes(facts, attempts[-1], len(attempts))), others


def outcomes(facts: Facts, call: Call, number: int) -> tuple[Outcome, ...]:
    """Return what an attempt may have come to by itself; none if it came to nothing.

    Args:
        facts: the leg.
        call: the attempt.
        number: how many calls of its record that makes.
    """
    found: list[Outcome] = []
    ended, retry = call.ended, facts.scenario.retry
    is_answered = ended is not None and ended.how != "cancelled" and call.ended_at <= call.limit
    if is_answered:
        pauses = dict.fromkeys(_own_pauses(facts, call, number))
        found += [_outcome(facts, call, call.ended_at, pause) for pause in pauses]
    # Where the loop is blocked when its consumer goes, it learns of that when it is free again.
    over_at = facts.instants(facts.leg.ending.at)[-1]
    known_at = min(call.ended_at if is_answered else NEVER, over_at)
    if retry is not None and call.limit <= known_at:
        may_repeat = number < retry.max_attempts and retry.repeats_after("TimeoutError")
        pause = _with_jitter(retry, number) if may_repeat else None
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
    if step.does == "raise" and step.error == "RetryAfter":
        yield step.retry_after, step.retry_after
    else:
        yield _with_jitter(retry, number)
    is_completed = step.throws and facts.scenario.form == "callback"
    if is_completed and retry.repeats(Step(results=step.results)):
        yield _with_jitter(retry, number)


def _with_jitter(retry: PlannedRetry, number: int) -> _Pause:
    whole = retry.back_off(number)
    return whole * (100 - retry.jitter) / 100, whole


def _outcome(facts: Facts, call: Call, at: float, pause: _Pause | None) -> Outcome:
    if pause is None:
        return Outcome(at)
    noticed = facts.instants(at)[-1]
    due = facts.instants(round(noticed + pause[1], 3))[-1]
    since = round(at + pause[0], 3)
    return Outcome(at, since=since, until=max(due, _free_at(facts, call)))


def _free_at(facts: Facts, call: Call) -> float:
    """Return when a call that was cancelled has ended, or is abandoned for sure, in ms."""
    if call.cancelled_at == NEVER:
        return -NEVER
    since, known = call.cancelled_at, call.cancelled_at + TURN
    while (later := since + TURN + facts.blocked_between(since, known)) > known:
        known = later
    return min(call.ended_at, facts.instants(known)[-1])
