"""Counting of calls against limits: meters, waiting lines, the gate of an operator, ledgers."""

from asyncwait.toolkit._limits._exchange import Ledger, Reply, Told
from asyncwait.toolkit._limits._gate import HELD_LIMITS, IN_HAND, Gate, Hand, stops_at_budget
from asyncwait.toolkit._limits._ledger import Limits
from asyncwait.toolkit._limits._lines import Permit, arrive

__all__ = [
    "HELD_LIMITS",
    "IN_HAND",
    "Gate",
    "Hand",
    "Ledger",
    "Limits",
    "Permit",
    "Reply",
    "Told",
    "arrive",
    "stops_at_budget",
]
