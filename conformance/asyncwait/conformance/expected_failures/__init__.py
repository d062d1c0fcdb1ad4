"""Expected failures that backends declare themselves; `file` has the ones that projects list."""

from asyncwait.conformance.expected_failures._expected_failure import (
    TRAIT_NAMES,
    ExpectedFailure,
    ExpectedFailures,
    GivenFailures,
    Sorted,
    expected_failures_of,
    moment_of,
    sort_out,
)
from asyncwait.spec.exports import claim_exports

__all__ = [
    "TRAIT_NAMES",
    "ExpectedFailure",
    "ExpectedFailures",
    "GivenFailures",
    "Sorted",
    "expected_failures_of",
    "moment_of",
    "sort_out",
]

claim_exports(__name__)
