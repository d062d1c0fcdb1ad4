"""Hand-written evidence for each check, a module for each area of rules."""

from asyncwait.conformance.witnesses import (
    _capacity,
    _elements,
    _ends,
    _failures,
    _order,
    _restores,
    _results,
    _snapshots,
    _timeouts,
    _watermarks,
)
from asyncwait.conformance.witnesses._witness import Run, Witness

AREAS = (
    _elements,
    _order,
    _watermarks,
    _capacity,
    _results,
    _timeouts,
    _failures,
    _snapshots,
    _restores,
    _ends,
)

WITNESSES: tuple[Witness, ...] = tuple(witness for area in AREAS for witness in area.WITNESSES)
"""All witnesses, in the order of their areas."""

__all__ = ["WITNESSES", "Run", "Witness"]
