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
from asyncwait.conformance.judging._history import NEVER, Call, Item, Output, is_passed_on
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
    "is_passed_on",
    "leg_check",
]
