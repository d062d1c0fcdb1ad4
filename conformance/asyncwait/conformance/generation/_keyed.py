"""What random scenarios in key-ordered mode look like: any other, whose records share few keys.

As for retries, chance is given one of its own.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from asyncwait.conformance.generation._random import Chance
from asyncwait.spec import Element, Record, Snapshot
from asyncwait.spec.scenario import Scenario

KEYS: tuple[tuple[Any, ...], ...] = (
    ("x",),
    ("x", "x", "y"),
    ("x", "y", "z", "y"),
    (1, 1.0, True, 2, "1"),
    (None, "x", None, ""),
    (["x", 1], ["x", 1.0], {"id": 1}, 7),
)
"""Of these one is chosen, and from it the key of each record; the first are the simplest."""

_MODES: Sequence[Any] = ["key-ordered"] * 5 + ["ordered", "unordered"]
_NEXT: Sequence[Any] = [None, None, "key-ordered", "ordered", "unordered"]
_SOMETIMES = [False, False, True]


def with_keys(chance: Chance, scenario: Scenario) -> Scenario:
    """Return another scenario with new keys, in key-ordered mode if only after a crash."""
    keys = chance.choice(KEYS)
    crashes = tuple(replace(crash, mode=chance.choice(_NEXT)) for crash in scenario.crashes)
    mode = chance.choice(_MODES) if crashes else "key-ordered"
    restore = scenario.restore
    if restore is not None:
        stored: Any = tuple(_keyed(chance, element, keys) for element in restore.in_flight)
        restore = Snapshot(restore.checkpoint_id, stored)
    inputs = tuple(
        replace(timed, element=_keyed(chance, timed.element, keys)) for timed in scenario.inputs
    )
    unequal = chance.choice(_SOMETIMES)
    keyed = replace(scenario, mode=mode, inputs=inputs, restore=restore, crashes=crashes)
    return replace(keyed, unequal_keys=unequal)


def _keyed(chance: Chance, element: Element, keys: Sequence[Any]) -> Element:
    return replace(element, key=chance.choice(keys)) if isinstance(element, Record) else element
