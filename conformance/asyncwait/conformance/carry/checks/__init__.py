"""The checks of CARRY: one for each rule, pure functions of a history."""

from asyncwait.conformance.carry.checks import _host, _lane, _outputs
from asyncwait.conformance.carry.checks._check import CARRY_CHECKS, CarryCheck
from asyncwait.spec.exports import claim_exports

__all__ = ["CARRY_CHECKS", "CarryCheck"]

_REGISTERED = (_outputs, _lane, _host)  # each has added its checks

claim_exports(__name__)
