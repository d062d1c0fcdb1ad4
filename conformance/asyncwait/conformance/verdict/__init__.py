"""Conversion of judgements to a verdict."""

from asyncwait.conformance.verdict._tally import (
    SYMPTOMS,
    Case,
    Cause,
    Failed,
    Failing,
    Failure,
    Failures,
    Tally,
    failures_of,
    find_causes,
)
from asyncwait.conformance.verdict._verdict import (
    EXIT_CODES,
    USAGE_ERROR,
    RuleResult,
    Status,
    Verdict,
    Word,
    causes_of,
    conclude,
    passed_of,
    worst,
)
from asyncwait.spec.exports import claim_exports

__all__ = [
    "EXIT_CODES",
    "SYMPTOMS",
    "USAGE_ERROR",
    "Case",
    "Cause",
    "Failed",
    "Failing",
    "Failure",
    "Failures",
    "RuleResult",
    "Status",
    "Tally",
    "Verdict",
    "Word",
    "causes_of",
    "conclude",
    "failures_of",
    "find_causes",
    "passed_of",
    "worst",
]

claim_exports(__name__)
