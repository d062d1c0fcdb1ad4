"""The suite of calls that stand in for others: plans, a player, and the checks of HEDGE."""

from collections.abc import Mapping

from asyncwait.conformance._checks import first_of
from asyncwait.conformance.hedge._checks import HEDGE_CHECKS
from asyncwait.conformance.hedge._plan import Attempt, HedgePlan, Step, random_plans, small_plans
from asyncwait.conformance.hedge._play import Event, HedgeHistory, play_hedges
from asyncwait.conformance.judging import Judgement, Violation
from asyncwait.spec.exports import claim_exports

__all__ = [
    "HEDGE_CHECKS",
    "Attempt",
    "Event",
    "HedgeHistory",
    "HedgePlan",
    "Step",
    "broken_by",
    "judge_hedges",
    "play_hedges",
    "random_plans",
    "small_plans",
]


def judge_hedges(history: HedgeHistory) -> dict[str, Judgement]:
    """Judge a run by every rule; a violation is at the number of an event."""
    return {rule: look(history) for rule, look in HEDGE_CHECKS.items()}


def broken_by(history: HedgeHistory) -> Mapping[str, Violation]:
    """Return the first violation of each rule that is broken, the earliest first."""
    return first_of(judge_hedges(history))


claim_exports(__name__)
