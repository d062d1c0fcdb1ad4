"""Finds the evidence of all areas: each folder has the name of a chapter."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from types import ModuleType

from asyncwait.conformance.evidence import Example, NearMiss, Witness
from asyncwait.conformance.judging import Check
from asyncwait.spec.rules import areas


def _modules(kind: str) -> Iterator[ModuleType]:
    for area in areas().values():
        yield import_module(f"asyncwait.conformance.areas.{area.folder}.{kind}")


def collect_checks(modules: Iterable[ModuleType]) -> dict[str, Check]:
    """Return the checks that are defined in `modules`, by the id of their rule.

    Raises:
        ValueError: a rule has two checks.
    """
    found: dict[str, Check] = {}
    for module in modules:
        for check in vars(module).values():
            if isinstance(check, Check):
                if check.rule in found:
                    raise ValueError(f"{check.rule} has a check already")
                found[check.rule] = check
    return found


CHECKS: Mapping[str, Check] = collect_checks(_modules("checks"))
"""All checks by the id of their rule, in the order of the chapters."""

EXAMPLES: tuple[Example, ...] = tuple(e for area in _modules("examples") for e in area.EXAMPLES)
"""All examples, in the order of the chapters."""


@cache
def all_witnesses() -> tuple[Witness, ...]:
    """Return all witnesses, in the order of the chapters; no verdict needs them."""
    return tuple(witness for area in _modules("witnesses") for witness in area.WITNESSES)


@cache
def all_near_misses() -> tuple[NearMiss, ...]:
    """Return all further runs at the borders of checks, in the order of the chapters."""
    return tuple(
        miss for area in _modules("witnesses") for miss in getattr(area, "NEAR_MISSES", ())
    )
