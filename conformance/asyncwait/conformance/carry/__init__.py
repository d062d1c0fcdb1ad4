"""The suite of carrying: plans, a player on a clock of its own, and a judge.

It plays the visits of lanes against hosts without a stream engine: batches that are played again,
answers and hosts that are lost, lanes that move. The run of a plan is a history, and the rules of
CARRY judge it.
"""

from asyncwait.conformance.carry._checks import CARRY_CHECKS
from asyncwait.conformance.carry._history import History
from asyncwait.conformance.carry._plan import (
    MODES,
    SINKS,
    TROUBLES,
    Batch,
    Calls,
    Plan,
    random_plans,
    small_plans,
)
from asyncwait.conformance.carry._play import play_plan
from asyncwait.spec.exports import claim_exports

__all__ = [
    "CARRY_CHECKS",
    "MODES",
    "SINKS",
    "TROUBLES",
    "Batch",
    "Calls",
    "History",
    "Plan",
    "play_plan",
    "random_plans",
    "small_plans",
]

claim_exports(__name__)
