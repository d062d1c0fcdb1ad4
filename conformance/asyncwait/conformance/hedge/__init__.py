"""The suite of hedges and fallbacks: plans, a player, and the checks of HEDGE."""

from asyncwait.conformance.hedge._checks import HEDGE_CHECKS
from asyncwait.conformance.hedge._plan import Attempt, HedgePlan, Step, random_plans, small_plans
from asyncwait.conformance.hedge._play import Event, HedgeHistory, play_hedges
from asyncwait.spec.exports import claim_exports

__all__ = [
    "HEDGE_CHECKS",
    "Attempt",
    "Event",
    "HedgeHistory",
    "HedgePlan",
    "Step",
    "play_hedges",
    "random_plans",
    "small_plans",
]

claim_exports(__name__)
