"""Judgement of a trace: histories of legs, moments of rest, checks; see README.md."""

from asyncwait.conformance.judging._calls import TURN, Outcome, running_at
from asyncwait.conformance.judging._check import (
    Check,
    Finding,
    FirstBehind,
    Judgement,
    Violation,
    blamed_for_timeout,
    causes_of,
    check,
    early_timeout,
    either,
    failure_named,
    failures_asked,
    first_failures,
    first_stray,
    held_back,
    item_of,
    leg_check,
    lost_failure,
    untimely_request,
)
from asyncwait.conformance.judging._decide import is_raised
from asyncwait.conformance.judging._figures import (
    Bounds,
    Reading,
    figures_at_the_end,
    figures_read,
    readings,
    span,
)
from asyncwait.conformance.judging._history import History, LegHistory
from asyncwait.conformance.judging._judge import Checks, Judged, history_of, judge
from asyncwait.conformance.judging._link import SnapshotOut, held_at
from asyncwait.conformance.judging._observe import (
    NEVER,
    ROUNDING,
    Call,
    Identity,
    Item,
    Load,
    Output,
    has_plain_key,
    identity_of,
    is_same,
    is_same_element,
    key_of,
)
from asyncwait.conformance.judging._possible import impossible
from asyncwait.conformance.judging._rest import Rest
from asyncwait.spec.exports import claim_exports

__all__ = [
    "NEVER",
    "ROUNDING",
    "TURN",
    "Bounds",
    "Call",
    "Check",
    "Checks",
    "Finding",
    "FirstBehind",
    "History",
    "Identity",
    "Item",
    "Judged",
    "Judgement",
    "LegHistory",
    "Load",
    "Outcome",
    "Output",
    "Reading",
    "Rest",
    "SnapshotOut",
    "Violation",
    "blamed_for_timeout",
    "causes_of",
    "check",
    "early_timeout",
    "either",
    "failure_named",
    "failures_asked",
    "figures_at_the_end",
    "figures_read",
    "first_failures",
    "first_stray",
    "has_plain_key",
    "held_at",
    "held_back",
    "history_of",
    "identity_of",
    "impossible",
    "is_raised",
    "is_same",
    "is_same_element",
    "item_of",
    "judge",
    "key_of",
    "leg_check",
    "lost_failure",
    "readings",
    "running_at",
    "span",
    "untimely_request",
]

claim_exports(__name__)
