"""Seeded scenarios, generated up front; and the shrinking of those that fail."""

from collections.abc import Callable
from contextlib import suppress

import hypothesis
import msgspec
from hypothesis import HealthCheck, Phase, settings

from asyncwait.conformance.generation._strategy import scenarios
from asyncwait.spec.scenario import Scenario

QUICK, FULL = 1_000, 10_000
"""How many scenarios a quick and a full run generate."""

REPEATS = 4
"""Hypothesis tries so many times `count`: some of what it draws comes out as the same scenario."""


def generate(count: int, seed: int) -> tuple[Scenario, ...]:
    """Return the `count` scenarios that belong to `seed`, all different.

    They depend on both: those of a smaller count are not the first ones of a greater.
    """
    found: dict[bytes, Scenario] = {}

    def keep(scenario: Scenario) -> None:
        found.setdefault(key_of(scenario), scenario)
        if len(found) == count:
            raise _FoundError

    with suppress(_FoundError):
        _sequence(keep, count, seed, Phase.generate)
    return tuple(found.values())


def shrink(fails: Callable[[Scenario], bool], count: int, seed: int) -> Scenario | None:
    """Return the smallest failing scenario that hypothesis finds, or None.

    Args:
        fails: whether a scenario fails; it should know those of `generate(count, seed)` by heart,
            because that sequence is repeated first. The others are candidates.
        count: as it was for `generate`.
        seed: as it was for `generate`.
    """
    smallest: list[Scenario] = []

    def examine(scenario: Scenario) -> None:
        if fails(scenario):
            smallest[:] = [scenario]
            raise _FoundError

    with suppress(_FoundError):
        _sequence(examine, count, seed, Phase.generate, Phase.shrink)
    return smallest[0] if smallest else None


def key_of(scenario: Scenario) -> bytes:
    """Return what identifies a scenario: its JSON."""
    return msgspec.json.encode(scenario)


class _FoundError(Exception):
    """Tells hypothesis that there is nothing left to look for, but something smaller."""


def _sequence(body: Callable[[Scenario], None], count: int, seed: int, *phases: Phase) -> None:
    """Run `body` on the scenarios of `seed`.

    The sequence up to the first failure depends on the seed alone: no database, no health checks,
    no deadline, no other source of chance.
    """
    configured = settings(
        max_examples=REPEATS * count,
        phases=phases,
        database=None,
        deadline=None,
        suppress_health_check=tuple(HealthCheck),  # pyright: ignore[reportArgumentType] - an enum,
        report_multiple_bugs=False,
        verbosity=hypothesis.Verbosity.quiet,
    )
    hypothesis.seed(seed)(configured(hypothesis.given(scenarios())(body)))()
