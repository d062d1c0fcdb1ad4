"""What calls of a service need, whichever operator makes them."""

from asyncwait.backends.services._redis import RedisLimits
from asyncwait.spec.exports import claim_exports
from asyncwait.toolkit import Hedge, HedgeFigures, StandIns, status_of, transient
from asyncwait.toolkit._limits import (
    Adaptive,
    Budget,
    BudgetSpent,
    Cost,
    CostTooLarge,
    CostUnknown,
    InFlight,
    Limit,
    Limits,
)

__all__ = [
    "Adaptive",
    "Budget",
    "BudgetSpent",
    "Cost",
    "CostTooLarge",
    "CostUnknown",
    "Hedge",
    "HedgeFigures",
    "InFlight",
    "Limit",
    "Limits",
    "RedisLimits",
    "StandIns",
    "status_of",
    "transient",
]

claim_exports(__name__)
