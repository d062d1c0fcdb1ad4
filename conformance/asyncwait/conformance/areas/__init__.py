"""One folder for each area of rules: its checks, its examples, its witnesses.

The areas are those of the chapters of the specification, in their order; nothing lists them here.
"""

from asyncwait.conformance.areas._find import CHECKS, EXAMPLES, all_witnesses, near_misses
from asyncwait.spec.exports import claim_exports

__all__ = ["CHECKS", "EXAMPLES", "all_witnesses", "near_misses"]

claim_exports(__name__)
