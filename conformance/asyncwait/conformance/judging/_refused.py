"""Records whose call a limit prevented: they have failed without it."""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from asyncwait.conformance.judging._decide import PLANNED, Decision, expected_error
from asyncwait.conformance.judging._observe import NEVER, Facts
from asyncwait.spec.scenario import Handler

REFUSALS = frozenset({"CostTooLarge", "CostUnknown", "PermitTimedOut", "BudgetSpent"})
"""Class names of the causes of such a failure."""


def refused(facts: Facts, decisions: Mapping[int, Decision]) -> Mapping[int, Decision]:
    """Return the decisions of records whose next call a limit prevented, by their places.

    The failure handler is asked about them, or the error of the leg names one of them.
    """
    if not facts.scenario.limits:
        return {}
    places = [given.pos for given in facts.inputs if given.is_record]
    found = {places[number]: each for number, each in _told(facts) if number < len(places)}
    decided = {pos for pos, each in decisions.items() if each.decided_at < NEVER}
    return {pos: each for pos, each in found.items() if pos not in decided}


def _told(facts: Facts) -> Iterator[tuple[int, Decision]]:
    ending = facts.leg.ending
    if ending.cause in REFUSALS and ending.number is not None:
        yield ending.number, Decision(NEVER, ending.at, wrong="CallFailed", cause=ending.cause)
    for number, (seq, event) in facts.despite.items():
        if event.cause in REFUSALS:
            failed = Decision(NEVER, event.at, seq, failure="CallFailed", failure_cause=event.cause)
            yield number, _handled(failed, facts.scenario.failure_handler(event.value))


def _handled(failed: Decision, handler: Handler | None) -> Decision:
    """Return the failure of a record as its failure handler leaves it."""
    if handler is None or handler.does == "none":
        return replace(failed, wrong=failed.failure, cause=failed.failure_cause)
    if handler.does == "reply":
        return replace(failed, results=handler.results)
    wrong = expected_error(handler.does, handler.error)
    return replace(failed, wrong=wrong, cause=handler.error or PLANNED)
