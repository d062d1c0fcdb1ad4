"""Vectors are made of the examples of all rules, and backends are held to them."""

from asyncwait.conformance.vectors._vectors import Found, has_one_outcome, made_vectors, run_vectors
from asyncwait.spec.exports import claim_exports

__all__ = ["Found", "has_one_outcome", "made_vectors", "run_vectors"]

claim_exports(__name__)
