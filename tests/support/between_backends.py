"""Scenarios whose legs are played on different backends: a snapshot of one restores in another."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import TypeAlias

import msgspec

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.harness import play_leg
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import StreamBackend, load_backend
from asyncwait.reference import open_operator
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    Capability,
    Leg,
    LegStart,
    Scenario,
    Trace,
    next_leg,
)

PlayLeg: TypeAlias = Callable[[LegStart], Leg]
"""Plays one leg on some backend."""

IN_PROCESS = ("reference-asyncio", "reference-trio", "pool-asyncio", "pool-trio")


def leg_player(name: str) -> PlayLeg:
    backend = load_backend(name)
    assert isinstance(backend, StreamBackend)
    return played_by(backend)


def played_by(backend: StreamBackend) -> PlayLeg:
    return lambda plan: play_leg(backend.open_operator, plan, backend.loop)


def play_between(first: PlayLeg, others: PlayLeg, scenario: Scenario) -> Trace:
    plan: LegStart | None = LegStart.first(scenario)
    legs: list[Leg] = []
    while plan is not None:
        legs.append((others if legs else first)(plan))
        plan = next_leg(plan, legs[-1])
    return Trace(tuple(legs))


def remembered(play: PlayLeg) -> PlayLeg:
    legs: dict[bytes, Leg] = {}

    def play_once(plan: LegStart) -> Leg:
        key = msgspec.msgpack.encode(plan)
        if key not in legs:
            legs[key] = play(plan)
        return legs[key]

    return play_once


def scenarios_with_snapshots(scenarios: Iterable[Scenario], count: int) -> list[Scenario]:
    crashing = (scenario for scenario in scenarios if scenario.crashes)
    return list(islice((s for s in crashing if hands_over(_on_reference, s)), count))


def _on_reference(plan: LegStart) -> Leg:
    return play_leg(open_operator, plan)


def hands_over(play: PlayLeg, scenario: Scenario) -> bool:
    plan = LegStart.first(scenario)
    second = next_leg(plan, play(plan))
    return second is not None and carries(second.restored)


def carries(restored: object) -> bool:
    return bool(getattr(restored, "in_flight", ()))


def handed_over(traces: Iterable[Trace]) -> int:
    return sum(len(trace.legs) > 1 and carries(trace.legs[1].restored) for trace in traces)


def violations(
    scenario: Scenario, trace: Trace, can: frozenset[Capability] = ALL_CAPABILITIES
) -> list[str]:
    known = rules()
    checks = {rule: check for rule, check in CHECKS.items() if known[rule].applies_to(can)}
    judged = judge(scenario, trace, checks)
    assert not judged.error
    return [
        f"{rule}, leg {violation.leg}, {violation.at:g} ms: {violation.text}"
        for rule, violation in judged.violations()
    ]
