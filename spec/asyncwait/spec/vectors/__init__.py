"""Vectors: scenarios that prove the rules, with their outcome if only one outcome is legal.

The folder `data` holds them as JSON, also for programs that do not use this package; see
vectors.md.
"""

from asyncwait.spec.exports import claim_exports
from asyncwait.spec.vectors._vector import (
    FORMAT,
    Outcome,
    Vector,
    VectorFile,
    outcome_of,
    shipped_vectors,
    vectors_from_json,
    vectors_to_json,
)

__all__ = [
    "FORMAT",
    "Outcome",
    "Vector",
    "VectorFile",
    "outcome_of",
    "shipped_vectors",
    "vectors_from_json",
    "vectors_to_json",
]

claim_exports(__name__)
