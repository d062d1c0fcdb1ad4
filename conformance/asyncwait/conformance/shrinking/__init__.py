"""From a scenario that fails to the smallest one that does: what a person can take in."""

from asyncwait.conformance.shrinking._reduce import reductions
from asyncwait.conformance.shrinking._search import Search, TryOut
from asyncwait.spec.exports import claim_exports

__all__ = ["Search", "TryOut", "reductions"]

claim_exports(__name__)
