"""Seeded scenarios."""

from collections.abc import Iterator
from itertools import islice
from random import Random

from asyncwait.conformance.generation._random import scenario
from asyncwait.spec.scenario import Scenario, key_of

QUICK, FULL = 1_000, 10_000
"""How many scenarios a quick and a full run generate."""


def generate(count: int, seed: int) -> tuple[Scenario, ...]:
    """Return the first `count` scenarios of `seed`, all different.

    Args:
        count: how many; those of a smaller count are the first ones of a greater.
        seed: which.
    """
    return tuple(islice(_different(seed), count))


def _different(seed: int) -> Iterator[Scenario]:
    """Yield the scenarios of `seed` without end."""
    chance = Random(seed)
    found: set[bytes] = set()
    while True:
        drawn = scenario(chance)
        if (key := key_of(drawn)) not in found:
            found.add(key)
            yield drawn
