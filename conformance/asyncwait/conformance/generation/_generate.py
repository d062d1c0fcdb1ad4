"""Seeded scenarios."""

from collections.abc import Iterator
from itertools import count, islice
from random import Random

from msgspec.structs import replace

from asyncwait.conformance.generation._keyed import with_keys
from asyncwait.conformance.generation._random import scenario
from asyncwait.conformance.generation._retries import has_failing_calls, with_retries
from asyncwait.conformance.generation._spared import with_failure_handlers
from asyncwait.conformance.generation._watched import with_copies, with_figures
from asyncwait.spec.scenario import Scenario, key_of

EVERY = 3
"""One scenario in so many has retries, but for those in which calls fail without."""

SPARED = 4
"""One in so many has calls that fail, and a failure handler, with the same exception."""

HOLDING = 6
"""One in so many has room for finished results."""

KEYED = 5
"""One in so many is in key-ordered mode."""

UNEQUAL = 3 * KEYED
"""In one in so many, and in key-ordered mode, keys that are texts are equal to nothing."""

READ = 7
"""In one in so many the statistics are read; like all of these it meets all the others."""

COPYING = 5
"""In one in so many each call is given a copy of its value, and changes that."""

LOOKING = 2
"""In one in so many everybody sets context variables."""

UNSHIELDED = 4
"""In two in so many, of which one has context variables, too, calls clean up without a shield."""

REUSING = 3
"""In one in so many, lists of results are used again."""

_MOST_HELD = (1, 2, 3, 1, 2, 6)

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
    of_failures, of_room = Random(f"failures {seed}"), Random(f"room {seed}")
    of_keys = Random(f"keys {seed}")
    of_figures, of_copies = Random(f"figures {seed}"), Random(f"copies {seed}")
    found: set[bytes] = set()
    for number in count():
        drawn = scenario(chance)
        if not has_failing_calls(drawn):
            if number % EVERY == 1:
                drawn = with_retries(of_retries, drawn)
            if number % SPARED == 1:
                drawn = with_failure_handlers(of_failures, drawn)
        if number % HOLDING == HOLDING - 1:
            drawn = replace(drawn, max_held=of_room.choice(_MOST_HELD))
        if number % KEYED == KEYED - 1:
            drawn = with_keys(of_keys, drawn)
            if drawn.retry is None and not has_failing_calls(drawn) and of_keys.random() < 2 / 3:
                drawn = with_retries(of_keys, drawn)
        if number % UNEQUAL == KEYED - 1:
            drawn = replace(drawn, unequal_keys=True)
        if number % READ == READ - 1:
            drawn = with_figures(of_figures, drawn)
        if number % COPYING == COPYING // 2:
            drawn = with_copies(of_copies, drawn)
        if number % LOOKING == 0:
            drawn = replace(drawn, contexts=True)
        if number % UNSHIELDED in {1, 2}:
            drawn = replace(drawn, unshielded=True)
        if number % REUSING == REUSING - 1:
            drawn = replace(drawn, reuses=True)
        if (key := key_of(drawn)) not in found:
            found.add(key)
            yield drawn
