"""The gallery of functions with stand-ins: each breaks one rule of HEDGE, by one small change."""

from asyncwait.backends.faulty.hedge import _stand_ins
from asyncwait.backends.faulty.hedge._gallery import FOUND, FaultyHedge
from asyncwait.spec.exports import claim_exports

__all__ = ["FAULTY_HEDGES", "FaultyHedge"]

_REGISTERED = (_stand_ins,)  # each has added its changes

FAULTY_HEDGES = tuple(FOUND)
"""All of them."""

claim_exports(__name__)
