"""One folder for each area of rules: its checks, its examples, its witnesses.

The areas are those of the chapters of the specification, in their order; nothing lists them here.
"""

from asyncwait.conformance.areas._find import CHECKS, EXAMPLES, all_near_misses, all_witnesses
from asyncwait.spec.exports import claim_exports

__all__ = ["CHECKS", "EXAMPLES", "all_near_misses", "all_witnesses"]

claim_exports(__name__)
