"""How each record of a leg was decided, if a given explanation is the truth."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from asyncwait.conformance.judging._calls import TURN, Calls, Course, Outcome, overloaded_at
from asyncwait.conformance.judging._decision import UNDECIDED, Decision, expected_error
from asyncwait.conformance.judging._despite import PLANNED, with_failure_handler
from asyncwait.conformance.judging._observe import NEVER, Facts
from asyncwait.conformance.judging._ties import Explanation, Request, Ties, asked_for, name_of
from asyncwait.spec.scenario import Handler


def decide(facts: Facts, calls: Calls, ties: Ties, explanation: Explanation) -> dict[int, Decision]:
    """Return the decisions of all records that have a call, by their places."""
    asked, blamed = _by_deadline(facts, calls, ties, explanation)
    limited = _by_limit(ties, explanation)
    overloaded = overloaded_at(facts)
    # For a while an operator may go on until it knows that there are too many abandoned calls.
    known = overloaded + TURN + facts.blocked_between(overloaded, facts.leg.ending.at)
    decisions = {}
    for pos, course in calls.of.items():
        own = course.standing(by_limit=pos in limited)
        decision = _decide(facts, course, own, asked.get(pos), blamed=pos in blamed)
        until = overloaded if decision.wrong else known
        if pos in asked or min(course.deadline, NEVER if own is None else own.at) <= until:
            decisions[pos] = decision
    return decisions


def _by_limit(ties: Ties, explanation: Explanation) -> set[int]:
    """Return the records whose last attempt its own limit has ended, where it could choose."""
    both = zip(ties.ties, explanation, strict=True)
    return {pos for tie, chosen in both if tie.by_limit for pos in chosen}


def _by_deadline(
    facts: Facts, calls: Calls, ties: Ties, explanation: Explanation
) -> tuple[dict[int, Request], set[int]]:
    """Return the request for each record that the handler was asked for, and who is blamed."""
    asked: dict[int, Request] = {}
    blamed: set[int] = set()
    times = _times_asked(facts, ties)
    for tie, chosen in zip(ties.ties, explanation, strict=True):
        if tie.by_limit:
            continue
        if not tie.requests:
            blamed.update(chosen)
        in_turn = sorted(chosen, key=lambda pos: calls.of[pos].deadline)
        for pos, (_, event) in zip(in_turn, tie.requests, strict=False):
            # Of records with equal values that are due together, any may be the one that was asked
            # for first, and be out before the handler is asked again.
            since, same = calls.of[pos].deadline, times[name_of(calls.of[pos].first)]
            asked[pos] = same[bisect_left(same, (since, -1))][1], event
    return asked, blamed


def _times_asked(facts: Facts, ties: Ties) -> Mapping[str, Sequence[tuple[float, int]]]:
    """Return when the handler is asked for a value, with the numbers of the events."""
    times: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for tie in ties.ties:
        for seq, event in tie.requests:
            times[asked_for(facts, event)].append((event.at, seq))
    return {name: sorted(each) for name, each in times.items()}


def _decide(
    facts: Facts, course: Course, own: Outcome | None, request: Request | None, *, blamed: bool
) -> Decision:
    """Find the outcome of a record: that of its last attempt, or its deadline's."""
    deadline = course.deadline
    in_time = own is not None and own.at <= deadline
    if request is not None or (in_time and blamed):
        return decided_by_deadline(facts, course, request)
    if not in_time and deadline <= facts.leg.ending.at:
        return decided_by_deadline(facts, course, request)
    return decided_by_call(facts, course, own) if in_time else UNDECIDED


def decided_by_call(facts: Facts, course: Course, own: Outcome | None) -> Decision:
    """Return the decision that an outcome of a record's last attempt is; none if it is none."""
    if own is None:
        return UNDECIDED
    return with_failure_handler(facts, course, _own_decision(facts, course, own))


def _own_decision(facts: Facts, course: Course, own: Outcome) -> Decision:
    call, ended = course.last, course.last.ended
    if own.by_limit:
        noticed = max(own.at, min(facts.instants(own.at)[-1], facts.leg.ending.at))
        cause = "LookupError" if _asks_what_breaks(facts, course, by_limit=True) else "TimeoutError"
        return Decision(NEVER, noticed, wrong="CallFailed", cause=cause)
    assert ended is not None
    decided = Decision(NEVER, call.ended_at, call.ended_seq)
    if _asks_what_breaks(facts, course, by_limit=False):
        return replace(decided, wrong="CallFailed", cause="LookupError")
    if ended.how == "returned":
        return replace(decided, results=ended.results)
    wrong = expected_error(call.step.does, call.step.error)
    # Of a call that completes its record and then raises, either may be noticed first.
    completes = call.step.throws and facts.scenario.form == "callback"
    results = ended.results if completes else None
    return replace(decided, results=results, wrong=wrong)


def _asks_what_breaks(facts: Facts, course: Course, *, by_limit: bool) -> bool:
    """Whether a predicate that raises is asked about the last attempt of a record."""
    retry, step = facts.scenario.retry, course.last.step
    if retry is None or len(course.attempts) >= retry.max_attempts:
        return False
    if step.does == "reply" and not by_limit:
        return retry.on_result == "breaks"
    is_error = by_limit or step.does == "raise" or step.error == "broken"
    is_asked = is_error and (by_limit or step.error not in _UNASKED)
    return retry.on_error == "breaks" and is_asked


_UNASKED = {"RetryAfter", "KeyboardInterrupt", "SystemExit"}
"""Errors about which no predicate is asked."""


def decided_by_deadline(facts: Facts, course: Course, request: Request | None) -> Decision:
    """Return the decision that a record's deadline is; `request` is the one to its handler."""
    return with_failure_handler(facts, course, _late_decision(facts, course, request))


def _late_decision(facts: Facts, course: Course, request: Request | None) -> Decision:
    call = course.first
    seq, asked_at = (-1, NEVER) if request is None else (request[0], request[1].at)
    noticed = max(facts.deadline(call), min(facts.due(call), facts.leg.ending.at))
    decided_at = noticed if request is None else asked_at
    handler = facts.scenario.handler(call.value)
    results = handler.results if handler is not None and handler.does == "reply" else None
    wrong = "" if results is not None else _error_at_deadline(handler)
    is_raised = handler is not None and handler.does == "raise"
    cause = (handler.error or PLANNED) if handler is not None and is_raised else ""
    if not facts.scenario.handled:
        asked_at = NEVER  # It was the failure handler that was asked.
    return Decision(asked_at, decided_at, seq, True, results, wrong, cause)


def _error_at_deadline(handler: Handler | None) -> str:
    if handler is not None and handler.does == "misreturn" and handler.error != "none":
        return expected_error(handler.does, handler.error)
    return "CallTimedOut"
