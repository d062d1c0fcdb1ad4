"""Scenarios whose legs are played on different backends: a snapshot of one restores in another."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.harness import play_leg
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import StreamBackend, load_backend
from asyncwait.reference import open_operator
from asyncwait.spec.scenario import Leg, LegStart, Scenario, Trace, next_leg

PlayLeg: TypeAlias = Callable[[LegStart], Leg]
"""Plays one leg on some backend."""

IN_PROCESS = (
    "reference-asyncio",
    "reference-trio",
    "pool-asyncio",
    "pool-trio",
    "emitter-asyncio",
    "emitter-trio",
)


def leg_player(name: str) -> PlayLeg:
    """What plays legs on the backend of that name, in this process."""
    backend = load_backend(name)
    assert isinstance(backend, StreamBackend)
    return lambda plan: play_leg(backend.open_operator, plan, backend.loop)


def play_between(first: PlayLeg, others: PlayLeg, scenario: Scenario) -> Trace:
    """Play the first leg on one backend and all others on another; snapshots travel as bytes."""
    plan: LegStart | None = LegStart.first(scenario)
    legs: list[Leg] = []
    while plan is not None:
        leg = (others if legs else first)(plan)
        legs.append(leg)
        plan = next_leg(plan, leg)
    return Trace(tuple(legs))


def scenarios_with_snapshots(scenarios: Iterable[Scenario], count: int) -> list[Scenario]:
    """The first so many of `scenarios` whose second leg is given something that was in flight."""
    found: list[Scenario] = []
    for scenario in scenarios:
        if scenario.crashes and len(found) < count:
            plan = LegStart.first(scenario)
            second = next_leg(plan, play_leg(open_operator, plan))
            if second is not None and carries(second.restored):
                found.append(scenario)
    return found


def carries(restored: object) -> bool:
    """Whether a leg is given something that was in flight."""
    return bool(getattr(restored, "in_flight", ()))


def violations(scenario: Scenario, trace: Trace) -> list[str]:
    """What any rule finds wrong with a run."""
    judged = judge(scenario, trace, CHECKS)
    assert not judged.error
    return [
        f"{rule}, leg {violation.leg}, {violation.at:g} ms: {violation.text}"
        for rule, violation in judged.violations()
    ]


def pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Every ordered pair of two different names."""
    return [(first, other) for first in names for other in names if first != other]
