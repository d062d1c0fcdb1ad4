"""What random scenarios look like that are watched more closely: any other, and what is looked at.

That is the statistics at some moments, or what becomes of values that each call changes. As for
retries, chance is given one of its own.
"""

from msgspec.structs import replace

from asyncwait.conformance.generation._random import TICK, Chance
from asyncwait.spec.scenario import Scenario, Step

_READINGS = (3, 4, 5, 6)
_TICKS = range(16)
_OFF = (TICK // 2, TICK // 2, TICK // 2, 0)
"""Milliseconds behind a tick: between two of them all that happened must be known."""

_MOST_HELD = (1, 2, 3, 1, 2, 6)
_SOMETIMES = [False, False, True]


def with_figures(chance: Chance, scenario: Scenario) -> Scenario:
    """Return a scenario in which the statistics are read now and then."""
    drawn = {
        chance.choice(_TICKS) * TICK + chance.choice(_OFF) for _ in range(chance.choice(_READINGS))
    }
    return replace(scenario, figures_at=tuple(sorted(drawn)))


def with_room(chance: Chance, scenario: Scenario) -> Scenario:
    """Return a scenario with room for finished results."""
    return replace(scenario, max_held=chance.choice(_MOST_HELD))


def _uncopied(step: Step) -> Step:
    """Have a call that raises at once do so as there is no copy for it."""
    is_so = step.does == "raise" and not (step.after or step.thread or step.blocks or step.twice)
    return replace(step, uncopied=True) if is_so else step


def with_copies(chance: Chance, scenario: Scenario) -> Scenario:
    """Return a scenario with copies; there is none for some values or calls."""
    plans = list(scenario.plans)
    if plans and scenario.retry is None and chance.choice(_SOMETIMES):
        number = chance.randint(0, len(plans) - 1)
        plans[number] = replace(plans[number], uncopied=True)
    if scenario.retry is not None:
        plans = [replace(plan, steps=tuple(map(_uncopied, plan.steps))) for plan in plans]
    return replace(scenario, copies=True, plans=tuple(plans))
