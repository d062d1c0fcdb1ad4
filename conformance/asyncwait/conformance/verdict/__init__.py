"""From judgements to a verdict."""

from asyncwait.conformance.verdict._tally import Case, Count, Failure, Tally, failures_of
from asyncwait.conformance.verdict._verdict import (
    EXIT_CODES,
    USAGE_ERROR,
    RuleResult,
    Status,
    Verdict,
    Word,
    conclude,
)
from asyncwait.spec.exports import claim_exports

__all__ = [
    "EXIT_CODES",
    "USAGE_ERROR",
    "Case",
    "Count",
    "Failure",
    "RuleResult",
    "Status",
    "Tally",
    "Verdict",
    "Word",
    "conclude",
    "failures_of",
]

claim_exports(__name__)
