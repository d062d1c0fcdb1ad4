"""Verifies operators against the specification: harness, checks, examples, verdict, reports.

A backend author needs `stream_backend`; the rest is for authors who extend the suite.
"""

from asyncwait.conformance.expected_failures import ExpectedFailure
from asyncwait.conformance.running import (
    Backend,
    Lacks,
    StreamBackend,
    UnknownBackend,
    stream_backend,
)
from asyncwait.spec.exports import claim_exports

__all__ = [
    "Backend",
    "ExpectedFailure",
    "Lacks",
    "StreamBackend",
    "UnknownBackend",
    "stream_backend",
]

claim_exports(__name__)
