"""Records whose call a limit prevented: they failed without the call."""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from asyncwait.conformance.judging._calls import Calls
from asyncwait.conformance.judging._decide import PLANNED, Decision, expected_error
from asyncwait.conformance.judging._observe import NEVER, Facts
from asyncwait.spec.scenario import Ending, Handler, HandlerAsked, identity

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
    ending = facts.leg.ending
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
    ending = facts.leg.ending
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
