"""Limits, budgets, fallbacks and classification of errors for calls of services."""

from asyncwait.backends.services._machine import MachineLimits
from asyncwait.backends.services._redis import RedisLimits
from asyncwait.backends.services._stand_ins import Hedge, HedgeFigures, Race, StandIns, Times
from asyncwait.spec.exports import claim_exports
from asyncwait.spec.limits import (
    Adaptive,
    Breaker,
    BreakerOpen,
    Budget,
    BudgetSpent,
    Cost,
    CostTooLarge,
    CostUnknown,
    InFlight,
    LedgerLost,
    Limit,
    PermitTimedOut,
)
from asyncwait.toolkit import Limits, status_of, transient

__all__ = [
    "Adaptive",
    "Breaker",
    "BreakerOpen",
    "Budget",
    "BudgetSpent",
    "Cost",
    "CostTooLarge",
    "CostUnknown",
    "Hedge",
    "HedgeFigures",
    "InFlight",
    "LedgerLost",
    "Limit",
    "Limits",
    "MachineLimits",
    "PermitTimedOut",
    "Race",
    "RedisLimits",
    "StandIns",
    "Times",
    "status_of",
    "transient",
]

claim_exports(__name__)
