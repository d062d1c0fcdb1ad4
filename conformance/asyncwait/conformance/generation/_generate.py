"""Seeded scenarios."""

from collections.abc import Iterator
from itertools import count, islice
from random import Random

from asyncwait.conformance.generation._random import scenario
from asyncwait.conformance.generation._retries import has_failing_calls, with_retries
from asyncwait.spec.scenario import Scenario, key_of

EVERY = 3
"""One scenario in so many has retries, but for those in which calls fail without."""

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
    chance, of_retries = Random(seed), Random(f"retries {seed}")
    found: set[bytes] = set()
    for number in count():
        drawn = scenario(chance)
        if number % EVERY == 1 and not has_failing_calls(drawn):
            drawn = with_retries(of_retries, drawn)
        if (key := key_of(drawn)) not in found:
            found.add(key)
            yield drawn
