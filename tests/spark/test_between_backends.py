"""A snapshot restores across the border of Spark, in both directions."""

from collections.abc import Sequence
from itertools import cycle

import pytest
from between_backends import (
    IN_PROCESS,
    handed_over,
    leg_player,
    play_rounds,
    scenarios_with_snapshots,
    violations,
)

from asyncwait.backends.spark import EmbeddedSpark
from asyncwait.backends.spark.conformance._backends import SparkBackend
from asyncwait.backends.spark.conformance._jobs import play_legs
from asyncwait.conformance.generation import generate
from asyncwait.conformance.running import adapted
from asyncwait.spec.scenario import Leg, LegStart, Scenario

SNAPSHOTS = 50
# A few more: where things happen in one instant, another backend may have less in flight.
SCENARIOS = 60


CAN = SparkBackend.capabilities


@pytest.fixture(scope="module")
def crashing() -> list[Scenario]:
    """Generated scenarios in which something is in flight at a crash; no more than it takes."""
    generated = (each for seed in (0, 1) for each in generate(1_000, seed))
    return scenarios_with_snapshots((adapted(each, CAN) for each in generated), SCENARIOS)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("spark_comes_first", [True, False])
def test_a_snapshot_restores_across_the_border(
    spark: EmbeddedSpark, crashing: list[Scenario], *, spark_comes_first: bool
) -> None:
    players = cycle(map(leg_player, IN_PROCESS))

    def on_spark(plans: Sequence[LegStart]) -> list[Leg]:
        return [report.leg for report in play_legs(spark, plans)]

    def in_process(plans: Sequence[LegStart]) -> list[Leg]:
        return [play(plan) for play, plan in zip(players, plans, strict=False)]

    rounds = (on_spark, in_process) if spark_comes_first else (in_process, on_spark)
    traces = play_rounds(*rounds, crashing)

    for scenario, trace in zip(crashing, traces, strict=True):
        assert violations(scenario, trace, CAN) == []
    assert handed_over(traces) >= SNAPSHOTS
