"""One check for each rule, a module for each area; importing this package registers them all."""

from asyncwait.conformance.checks import (
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
from asyncwait.conformance.judging import CHECKS

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

__all__ = ["AREAS", "CHECKS"]
