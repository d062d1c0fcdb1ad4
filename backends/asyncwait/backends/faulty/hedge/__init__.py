"""The gallery of hedged functions: each breaks one rule of HEDGE by one small change."""

from asyncwait.backends.faulty.hedge import _stand_ins
from asyncwait.backends.faulty.hedge._gallery import FOUND, FaultyHedge
from asyncwait.spec.exports import claim_exports

__all__ = ["FAULTY_HEDGES", "FaultyHedge"]

_REGISTERED = (_stand_ins,)  # registers its changes when imported

FAULTY_HEDGES = tuple(FOUND)
"""All faulty hedges."""

claim_exports(__name__)
