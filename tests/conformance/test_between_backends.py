"""A snapshot of one backend restores in any other."""

from itertools import chain, permutations

import pytest
from between_backends import (
    IN_PROCESS,
    handed_over,
    leg_player,
    play_between,
    scenarios_with_snapshots,
    violations,
)
from sample import some

from asyncwait.conformance.generation import generate
from asyncwait.spec.scenario import Scenario

SCENARIOS = len(some(range(60), 4, "with snapshots"))
# A few less: where things happen in one instant, another backend may have less in flight.
SNAPSHOTS = SCENARIOS * 5 // 6


@pytest.fixture(scope="module")
def crashing(quick_scenarios: tuple[Scenario, ...]) -> list[Scenario]:
    rest = (scenario for seed in range(1, 9) for scenario in generate(250, seed))
    return scenarios_with_snapshots(chain(quick_scenarios, rest), SCENARIOS)


def test_enough_generated_scenarios_carry_a_snapshot(crashing: list[Scenario]) -> None:
    assert len(crashing) == SCENARIOS


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("first", "other"), [*permutations(IN_PROCESS, 2)])
def test_a_snapshot_of_one_backend_restores_in_the_other(
    crashing: list[Scenario], first: str, other: str
) -> None:
    players = [leg_player(name) for name in (first, other)]
    traces = [play_between(*players, scenario) for scenario in crashing]

    found = [violations(*pair) for pair in zip(crashing, traces, strict=True)]
    assert found == [[] for _ in crashing]
    assert handed_over(traces) >= SNAPSHOTS
