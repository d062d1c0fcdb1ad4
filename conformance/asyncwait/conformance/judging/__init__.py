"""From a trace to a judgement: the indexed history, the moments of rest, the shape of a check."""

from asyncwait.conformance.judging._check import (
    Check,
    Finding,
    Judgement,
    LegCheck,
    Violation,
    check,
    leg_check,
)
from asyncwait.conformance.judging._common import (
    accounted_for,
    barrier_id,
    barrier_of,
    failure_named,
)
from asyncwait.conformance.judging._items import NEVER, Call, Item, Output
from asyncwait.conformance.judging._judge import Checks, Judged, judge
from asyncwait.conformance.judging._possible import impossible
from asyncwait.conformance.judging._rest import History, LegHistory, Rest
from asyncwait.spec.exports import claim_exports

__all__ = [
    "NEVER",
    "Call",
    "Check",
    "Checks",
    "Finding",
    "History",
    "Item",
    "Judged",
    "Judgement",
    "LegCheck",
    "LegHistory",
    "Output",
    "Rest",
    "Violation",
    "accounted_for",
    "barrier_id",
    "barrier_of",
    "check",
    "failure_named",
    "impossible",
    "judge",
    "leg_check",
]

claim_exports(__name__)
