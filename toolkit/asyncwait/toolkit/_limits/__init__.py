"""Limits of a service, and budgets, that an operator keeps to."""

from asyncwait.toolkit._limits._together import Limits, LimitsTogether
from asyncwait.toolkit._limits._vocabulary import (
    Adaptive,
    AnyLimit,
    Budget,
    BudgetSpent,
    Cost,
    CostTooLarge,
    CostUnknown,
    InFlight,
    Limit,
    NotCalled,
)

__all__ = [
    "Adaptive",
    "AnyLimit",
    "Budget",
    "BudgetSpent",
    "Cost",
    "CostTooLarge",
    "CostUnknown",
    "InFlight",
    "Limit",
    "Limits",
    "LimitsTogether",
    "NotCalled",
]
