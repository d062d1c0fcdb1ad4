"""Scenarios worth a name, a module for each area of rules."""

from asyncwait.conformance.examples import (
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
from asyncwait.conformance.examples._example import Example

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

EXAMPLES: tuple[Example, ...] = tuple(example for area in AREAS for example in area.EXAMPLES)
"""All examples, in the order of their areas."""

__all__ = ["EXAMPLES", "Example"]
