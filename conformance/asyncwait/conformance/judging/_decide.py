"""Decision on each record: by the outcome of its call, by its deadline, by its failure handler.

An answer and the deadline of its record tie if they fall into one instant, or if one block of the
loop covers both. A request to the handler shows that the deadline won. Without a handler, and
without the end of the stream, the decisions are open, and the checks abstain.
"""

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance.judging._calls import (
    TURN,
    Calls,
    Course,
    Outcome,
    is_open,
    overloaded_at,
)
from asyncwait.conformance.judging._observe import NEVER, Call, Facts
from asyncwait.conformance.judging._read import is_open as is_open_load
from asyncwait.spec.scenario import (
    FOR_THE_PROGRAM,
    Ending,
    FailureAsked,
    Handler,
    HandlerAsked,
    identity,
)

Asked: TypeAlias = HandlerAsked | FailureAsked
"""A request to the timeout handler; without one, to the failure handler about a deadline."""

Request: TypeAlias = tuple[int, Asked]
"""A request to the handler, behind its number in the leg."""


class Decision(Struct, frozen=True, eq=False):
    """Decision on one record; the fields are the fields of `Item`."""

    asked_at: float = NEVER
    decided_at: float = NEVER
    decided_seq: int = -1
    timed_out: bool = False
    results: tuple[Any, ...] | None = None
    wrong: str = ""
    cause: str = ""
    failure: str = ""
    failure_cause: str = ""


UNDECIDED = Decision()


def expected_error(does: str, error: str) -> str:
    """Return the canonical name of the error that a planned outcome must become."""
    if does == "misreturn" and error != "broken":
        return "InvalidResult"
    return "CallFailed"


def with_failure_handler(facts: Facts, course: Course, decision: Decision) -> Decision:
    """Return the decision after the failure handler ran, if the operator must ask it.

    The handler does not run for an error that the function raises after it completed its record,
    nor for an error that ends the program.
    """
    handler = facts.scenario.failure_handler(course.first.value)
    is_none = not decision.wrong or decision.results is not None
    if handler is None or is_none or _ends_the_program(facts, course, decision):
        return decision
    failed = replace(decision, failure=decision.wrong, failure_cause=decision.cause)
    request = facts.despite.get(-1 if course.first.record is None else course.first.record)
    if request is not None:  # The request tells when the operator noticed it, unless too late.
        seq, event = request
        at = min(event.at, failed.decided_at)
        failed = replace(failed, decided_at=at, decided_seq=seq)
    match handler.does:
        case "reply" if course.last.step.throws and not decision.timed_out:
            # The call completed its record and then raised: no handler runs for the error.
            return replace(failed, results=handler.results, cause="")
        case "reply":
            return replace(failed, results=handler.results, wrong="", cause="")
        case "raise":
            return replace(failed, cause=handler.error or PLANNED)
        case "misreturn" if handler.error != "none":
            wrong = expected_error(handler.does, handler.error)
            cause = PLANNED if wrong == "CallFailed" else ""
            return replace(failed, wrong=wrong, cause=cause)
        case _:
            return failed


def _ends_the_program(facts: Facts, course: Course, decision: Decision) -> bool:
    """Whether the error passes through the operator, such as a KeyboardInterrupt."""
    if not decision.timed_out:
        last = course.last
        is_own = last.ended_at <= last.limit and decision.cause != "TimeoutError"
        return is_own and last.step.error in FOR_THE_PROGRAM and is_raised(facts, last)
    handler = facts.scenario.handler(course.first.value)
    return handler is not None and handler.error in FOR_THE_PROGRAM


def is_raised(facts: Facts, call: Call, *, is_late: bool = False) -> bool:
    """Whether a call raised in the operator's own task.

    A completion with an error does not. A supplier that raises does, unless its completion was
    late: then the operator does not call the supplier.
    """
    if call.ended is None or call.ended.how != "raised":
        return False
    at_once = call.step.after == 0 and not call.step.thread
    is_asked = call.step.supplied and not is_late
    return facts.scenario.form == "coroutine" or at_once or is_asked


PLANNED = "Planned"
"""Class name of the harness's own errors."""


class Decisions(Struct, frozen=True, eq=False):
    """Decisions on the records of a leg, by their places.

    Args:
        of: the decisions.
        untimely: requests to the handler at a time when no such record was due.
        are_open: the trace allows other decisions, too.
    """

    of: dict[int, Decision]
    untimely: tuple[Asked, ...]
    are_open: bool


def decide(facts: Facts, calls: Calls) -> Decisions:
    """Return the decisions on all records that have a call."""
    asked, untimely, is_either = _asked(facts, calls)
    is_handled = facts.scenario.handled or facts.scenario.failures_handled
    are_told = is_handled or facts.observed.ending.how == "finished"
    are_unknown = not are_told and any(_is_tied(facts, each) for each in calls.of.values())
    overloaded = overloaded_at(facts)
    # An operator may go on for one TURN after it cancelled the calls.
    known = overloaded + TURN
    decisions = {}
    for pos, course in calls.of.items():
        own = course.outcome if course.outcome is not None and course.outcome.stands else None
        decision = _decide(facts, course, own, asked.get(pos))
        at = min(course.deadline, NEVER if own is None else own.at)
        # A failure in the very instant of the overload may have come later: it does not count.
        if pos in asked or (at < overloaded if decision.wrong else at <= known):
            decisions[pos] = decision
    are_open = is_either or are_unknown or is_open_load(facts) or _has_open_attempts(facts, calls)
    return Decisions(decisions, untimely, are_open or _depend_on_blocks(facts, calls, asked))


def _asked(facts: Facts, calls: Calls) -> tuple[dict[int, Request], tuple[Asked, ...], bool]:
    """Return the requests by the places of their records, untimely requests, and any tie.

    Of records with equal values that are due together, surely late records come first. A tie exists
    if the handler was asked for some of these records but not for all.
    """
    by_name: dict[str, list[int]] = defaultdict(list)
    for pos, course in sorted(calls.of.items(), key=lambda each: (each[1].deadline, each[0])):
        if not _is_in_time(facts, course):
            first = course.first
            name = first.identity if first.record is None else f"record {first.record}"
            by_name[name].append(pos)
    asked: dict[int, Request] = {}
    untimely: list[Asked] = []
    first_seq: dict[tuple[str, float], int] = {}
    is_either = False
    for seq, event in _asked_at_deadlines(facts):
        name = _name_of(facts, event)
        due = [pos for pos in by_name[name] if _is_due(facts, calls.of[pos], event.at)]
        if not due:
            untimely.append(event)
            continue
        late = [pos for pos in due if not _is_tied(facts, calls.of[pos])]
        is_either |= len(due) > 1 and (not late or bool(facts.blocks))
        pos = (late or due)[0]
        by_name[name].remove(pos)
        # The operator may have asked for this record first, and put it out before the next request.
        asked[pos] = first_seq.setdefault((name, event.at), seq), event
    return asked, tuple(untimely), is_either


def _asked_at_deadlines(facts: Facts) -> Sequence[Request]:
    if facts.scenario.handled:
        return facts.seen(HandlerAsked)
    return [each for each in facts.seen(FailureAsked) if each[1].error == "CallTimedOut"]


def _name_of(facts: Facts, event: Asked) -> str:
    """Return a name for the record of a request: its number, else its value."""
    value = identity(event.value)
    record = facts.numbers.of(event, value)
    return value if record is None else f"record {record}"


def _is_due(facts: Facts, course: Course, at: float) -> bool:
    return course.deadline <= at <= facts.noticed(course.deadline)


def _is_tied(facts: Facts, course: Course) -> bool:
    """Whether an answer and the deadline of a record may be noticed in either order."""
    own = course.outcome
    return own is not None and own.stands and facts.may_tie(own.at, course.deadline)


def _is_in_time(facts: Facts, course: Course) -> bool:
    """Whether a record was surely decided before its deadline."""
    own = course.outcome
    is_early = own is not None and own.stands and own.at < course.deadline
    return is_early and not _is_tied(facts, course)


def _has_open_attempts(facts: Facts, calls: Calls) -> bool:
    if facts.scenario.retry is None:
        return False
    attempts = (enumerate(course.attempts, 1) for course in calls.of.values())
    return any(is_open(facts, call, number) for each in attempts for number, call in each)


def _depend_on_blocks(facts: Facts, calls: Calls, asked: Container[int]) -> bool:
    """Whether decisions depend on times that a blocked loop notices late."""
    if not facts.blocks:
        return False
    scenario, ending = facts.scenario, facts.observed.ending
    if scenario.cache is not None or scenario.limits or ending.error == "TooManyAbandonedCalls":
        return True
    timed = ((pos, c.outcome) for pos, c in calls.of.items() if c.deadline < NEVER)
    return any(
        pos not in asked and own and not own.stands and facts.noticed(own.at) > own.at
        for pos, own in timed
    )


def _decide(facts: Facts, course: Course, own: Outcome | None, request: Request | None) -> Decision:
    in_time = own is not None and (own.at <= course.deadline or _is_tied(facts, course))
    is_late = not in_time and course.deadline <= facts.observed.ending.at
    if request is not None or is_late:
        return decided_by_deadline(facts, course, request)
    return decided_by_call(facts, course, own) if in_time else UNDECIDED


def decided_by_call(facts: Facts, course: Course, own: Outcome | None) -> Decision:
    """Return the decision by the outcome of a record's last attempt; undecided if it is None."""
    if own is None:
        return UNDECIDED
    return with_failure_handler(facts, course, _own_decision(facts, course, own))


def _own_decision(facts: Facts, course: Course, own: Outcome) -> Decision:
    call, ended = course.last, course.last.ended
    if own.by_limit:
        cause = "LookupError" if _asks_what_breaks(facts, course, by_limit=True) else "TimeoutError"
        return Decision(NEVER, own.at, wrong="CallFailed", cause=cause)
    assert ended is not None
    decided = Decision(NEVER, call.ended_at, call.ended_seq)
    if _asks_what_breaks(facts, course, by_limit=False):
        return replace(decided, wrong="CallFailed", cause="LookupError")
    if ended.how == "returned":
        return replace(decided, results=ended.results)
    wrong = expected_error(call.step.does, call.step.error)
    # The call completes its record and then raises: the operator may notice either first.
    completes = call.step.throws and facts.scenario.form == "callback"
    results = ended.results if completes else None
    return replace(decided, results=results, wrong=wrong)


def _asks_what_breaks(facts: Facts, course: Course, *, by_limit: bool) -> bool:
    retry, step = facts.scenario.retry, course.last.step
    if retry is None or len(course.attempts) >= retry.max_attempts:
        return False
    if by_limit:
        return retry.on_error == "breaks"
    completes = step.throws and facts.scenario.form == "callback"
    if step.does == "reply" or completes:
        return retry.on_result == "breaks"
    is_error = step.does == "raise" or step.error == "broken"
    passes = step.error in FOR_THE_PROGRAM and is_raised(facts, course.last)
    return retry.on_error == "breaks" and is_error and step.error != "RetryAfter" and not passes


def decided_by_deadline(facts: Facts, course: Course, request: Request | None) -> Decision:
    """Return the decision by a record's deadline; `request` is the request to its handler."""
    return with_failure_handler(facts, course, _late_decision(facts, course, request))


def _late_decision(facts: Facts, course: Course, request: Request | None) -> Decision:
    call = course.first
    seq, asked_at = (-1, NEVER) if request is None else (request[0], request[1].at)
    decided_at = call.deadline if request is None else asked_at
    handler = facts.scenario.handler(call.value)
    results = handler.results if handler is not None and handler.does == "reply" else None
    wrong = "" if results is not None else _error_at_deadline(handler)
    is_raised = handler is not None and handler.does == "raise"
    cause = (handler.error or PLANNED) if handler is not None and is_raised else ""
    if not facts.scenario.handled:
        asked_at = NEVER  # The operator asked the failure handler.
    return Decision(asked_at, decided_at, seq, True, results, wrong, cause)


def _error_at_deadline(handler: Handler | None) -> str:
    if handler is not None and handler.does == "misreturn" and handler.error != "none":
        return expected_error(handler.does, handler.error)
    return "CallTimedOut"


REFUSALS = frozenset({"CostTooLarge", "CostUnknown", "PermitTimedOut", "BudgetSpent"})
"""Class names of the causes of these failures."""


def refused(
    facts: Facts, calls: Calls, decisions: Mapping[int, Decision]
) -> Mapping[int, Decision]:
    """Return the decisions of records whose next call a limit prevented, by their places.

    The failure handler is asked about them, or the error of the leg names one of them.
    """
    if not facts.scenario.limits:
        return {}
    places = [given.pos for given in facts.inputs if given.is_record]
    found = {places[number]: each for number, each in _told(facts) if number < len(places)}
    found = dict(_unpaid(facts, calls)) | found
    at = {pos: each.decided_at for pos, each in decisions.items()}
    return {pos: each for pos, each in found.items() if each.decided_at <= at.get(pos, NEVER)}


def _told(facts: Facts) -> Iterator[tuple[int, Decision]]:
    ending = facts.observed.ending
    named = ending.number
    for number, (seq, event) in facts.despite.items():
        if event.cause in REFUSALS:
            failed = Decision(NEVER, event.at, seq, failure="CallFailed", failure_cause=event.cause)
            handled = _handled(failed, facts.scenario.failure_handler(event.value))
            is_last = event.cause == "BudgetSpent" and handled.wrong != ""
            yield number, _at_the_end(handled, ending, number) if is_last else handled
    if ending.cause in REFUSALS and named is not None and named not in facts.despite:
        yield named, Decision(NEVER, ending.at, wrong="CallFailed", cause=ending.cause)


def _unpaid(facts: Facts, calls: Calls) -> Iterator[tuple[int, Decision]]:
    """Yield records whose next call an exhausted budget may have prevented, without any event."""
    has_budget = any(each.kind == "budget" for each in facts.scenario.limits)
    ending = facts.observed.ending
    if not has_budget or ending.how == "finished" or ending.error == "BudgetSpent":
        return
    asked = {facts.numbers.of(e, identity(e.value)) for _, e in facts.seen(HandlerAsked)}
    told = {*asked, *facts.despite, ending.number}
    for pos, course in calls.of.items():
        since = NEVER if course.outcome is None else course.outcome.since
        is_due = since <= min(course.deadline, ending.at)
        if is_due and course.first.record not in told:
            yield pos, Decision(NEVER, since, results=(), cause="BudgetSpent")


def _at_the_end(failed: Decision, ending: Ending, number: int) -> Decision:
    """Return a failure by a spent budget; it ends the stream unless another failure did."""
    if ending.number == number and ending.how == "failed":
        return replace(failed, decided_at=ending.at)
    return replace(failed, results=(), wrong="", cause=failed.failure_cause)


def _handled(failed: Decision, handler: Handler | None) -> Decision:
    if handler is None or handler.does == "none":
        return replace(failed, wrong=failed.failure, cause=failed.failure_cause)
    if handler.does == "reply":
        return replace(failed, results=handler.results)
    if handler.does == "raise":
        return replace(failed, wrong="CallFailed", cause=handler.error or PLANNED)
    if handler.error == "none":
        return replace(failed, wrong=failed.failure, cause=failed.failure_cause)
    wrong = expected_error(handler.does, handler.error)
    return replace(failed, wrong=wrong, cause=PLANNED if wrong == "CallFailed" else "")
