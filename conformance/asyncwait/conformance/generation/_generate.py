"""Seeded scenarios, generated up front."""

from collections.abc import Callable
from contextlib import suppress

import hypothesis
from hypothesis import HealthCheck, Phase, settings

from asyncwait.conformance.generation._strategy import scenarios
from asyncwait.spec.scenario import Scenario, key_of

QUICK, FULL = 1_000, 10_000
"""How many scenarios a quick and a full run generate."""

REPEATS = 4
"""Hypothesis tries so many times `count`: some of what it draws comes out as the same scenario."""


def generate(
    count: int, seed: int, on_found: Callable[[Scenario], None] = lambda _: None
) -> tuple[Scenario, ...]:
    """Return the `count` scenarios that belong to `seed`, all different.

    They depend on both: those of a smaller count are not the first ones of a greater.

    Args:
        count: how many.
        seed: which.
        on_found: called with each as soon as it is there.
    """
    found: dict[bytes, Scenario] = {}

    def keep(scenario: Scenario) -> None:
        key = key_of(scenario)
        if key not in found:
            found[key] = scenario
            on_found(scenario)
        if len(found) == count:
            raise _FoundError

    # Which scenarios come up to then depends on the seed alone: there is no database, no health
    # check, no deadline, no other source of chance.
    configured = settings(
        max_examples=REPEATS * count,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=tuple(HealthCheck),  # pyright: ignore[reportArgumentType] - an enum,
        report_multiple_bugs=False,
        verbosity=hypothesis.Verbosity.quiet,
    )
    with suppress(_FoundError):
        hypothesis.seed(seed)(configured(hypothesis.given(scenarios())(keep)))()
    return tuple(found.values())


class _FoundError(Exception):
    """Tells hypothesis that there is nothing left to look for."""
