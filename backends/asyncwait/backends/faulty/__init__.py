"""The gallery: operators that break one rule each, and sound ones that are odd.

They prove that the suite can fail, and that it does not fail what is only unusual. Each is one
small change to the mechanism of the reference, never an edit of what comes out of it.
"""

from collections.abc import Callable, Mapping

from asyncwait.backends.faulty import (
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
from asyncwait.backends.faulty._gallery import Faulty, Variation
from asyncwait.backends.faulty._odd import ODD
from asyncwait.conformance import Backend

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

FAULTY: tuple[Faulty, ...] = tuple(faulty for area in AREAS for faulty in area.FAULTY)
"""All that break a rule, in the order of their areas."""


def gallery() -> Mapping[str, Callable[[], Backend]]:
    """Return a factory of each backend by its name: "faulty-..." or "odd-..."."""
    faulty = {f"faulty-{variation.name}": variation.backend for variation in FAULTY}
    odd = {f"odd-{variation.name}": variation.backend for variation in ODD}
    return {**faulty, **odd}


__all__ = ["AREAS", "FAULTY", "ODD", "Faulty", "Variation", "gallery"]
