"""Faulty lanes and hosts: each breaks one rule of CARRY, which convicts it by name."""

from importlib import import_module

from asyncwait.backends.faulty.carry._gallery import FOUND, FaultyCarry
from asyncwait.spec.exports import claim_exports
from asyncwait.spec.rules import carry_rules

for _module in ("hosts", "lanes"):
    import_module(f"{__name__}._{_module}")

FAULTY_CARRY: tuple[FaultyCarry, ...] = tuple(
    sorted(FOUND, key=lambda each: [*carry_rules()].index(each.rule))
)
"""All faulty lanes and hosts, in the order of their rules."""

__all__ = ["FAULTY_CARRY", "FaultyCarry"]

claim_exports(__name__)
