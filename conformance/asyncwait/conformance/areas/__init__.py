"""Evidence of all rules: one folder for each area, with its checks, examples and witnesses.

The specification's chapters define the areas and their order; nothing lists them here.
"""

from asyncwait.conformance.areas._find import CHECKS, EXAMPLES, all_near_misses, all_witnesses
from asyncwait.spec.exports import claim_exports

__all__ = ["CHECKS", "EXAMPLES", "all_near_misses", "all_witnesses"]

claim_exports(__name__)
