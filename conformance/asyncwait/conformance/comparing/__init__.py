"""Holds two backends against each other: the same scenarios, and how their runs differ."""

from asyncwait.conformance.comparing._compare import (
    Comparison,
    Difference,
    Kind,
    Moment,
    Pair,
    Said,
    Side,
    compare_runs,
    differences,
)
from asyncwait.conformance.comparing._play import SHRINK_SECONDS, Comparing
from asyncwait.spec.exports import claim_exports

__all__ = [
    "SHRINK_SECONDS",
    "Comparing",
    "Comparison",
    "Difference",
    "Kind",
    "Moment",
    "Pair",
    "Said",
    "Side",
    "compare_runs",
    "differences",
]

claim_exports(__name__)
