"""One folder for each area of rules: its checks, its examples, its witnesses.

The areas are those of the chapters of the specification, in their order; nothing lists them here.
"""

from asyncwait.conformance.areas._find import CHECKS, EXAMPLES, NEAR_MISSES, WITNESSES

__all__ = ["CHECKS", "EXAMPLES", "NEAR_MISSES", "WITNESSES"]
