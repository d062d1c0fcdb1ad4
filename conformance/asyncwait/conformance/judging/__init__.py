"""From a trace to a judgement: the indexed history, the moments of rest, the shape of a check."""

from asyncwait.conformance.judging._check import (
    CHECKS,
    Check,
    Finding,
    Judgement,
    LegCheck,
    Violation,
    check,
    leg_check,
)
from asyncwait.conformance.judging._explain import explain
from asyncwait.conformance.judging._items import NEVER, Call, Item, Output
from asyncwait.conformance.judging._rest import History, LegHistory, Rest

__all__ = [
    "CHECKS",
    "NEVER",
    "Call",
    "Check",
    "Finding",
    "History",
    "Item",
    "Judgement",
    "LegCheck",
    "LegHistory",
    "Output",
    "Rest",
    "Violation",
    "check",
    "explain",
    "leg_check",
]
