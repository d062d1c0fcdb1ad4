"""Vectors: scenarios that prove the rules, with the outcome where there is only one.

They stand as JSON in the folder `data`, for programs that know nothing of this package, too; see
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
