"""A snapshot restores across the border of Spark, in both directions."""

from collections.abc import Sequence

import pytest
from between_backends import (
    IN_PROCESS,
    Round,
    carries,
    leg_player,
    play_rounds,
    scenarios_with_snapshots,
    violations,
)

from asyncwait.backends.spark import EmbeddedSpark
from asyncwait.backends.spark.conformance import backend
from asyncwait.backends.spark.conformance._jobs import play_legs
from asyncwait.conformance.generation import generate
from asyncwait.conformance.running import adapted
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import Scenario, Trace

SNAPSHOTS = 50
# A few more: where things happen in one instant, another backend may have less in flight.
SCENARIOS = 60


@pytest.fixture(scope="module")
def crashing() -> list[Scenario]:
    """Generated scenarios that Spark can play, and that carry something in flight over a crash."""
    can = backend().capabilities
    generated = [adapted(scenario, can) for seed in (0, 1) for scenario in generate(1_000, seed)]
    return scenarios_with_snapshots(generated, SCENARIOS)


@pytest.fixture
def on_spark(spark: EmbeddedSpark) -> Round:
    """Plays a round of legs as one job."""
    return lambda plans: [report.leg for report in play_legs(spark, plans).reports]


def judged(scenarios: Sequence[Scenario], traces: Sequence[Trace]) -> list[str]:
    """What the rules that apply to Spark find wrong."""
    can = backend().capabilities
    foreign = tuple(f"{rule.id}," for rule in rules().values() if not rule.applies_to(can))
    found = [violations(*pair) for pair in zip(scenarios, traces, strict=True)]
    return [text for each in found for text in each if not text.startswith(foreign)]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("other", IN_PROCESS)
def test_a_snapshot_of_spark_restores_in_another_backend(
    crashing: list[Scenario], on_spark: Round, other: str
) -> None:
    """What a partition had in flight, an operator in this process takes up."""
    play = leg_player(other)

    traces = play_rounds(on_spark, lambda plans: [play(plan) for plan in plans], crashing)

    assert judged(crashing, traces) == []
    assert sum(len(t.legs) > 1 and carries(t.legs[1].restored) for t in traces) >= SNAPSHOTS


@pytest.mark.timeout(300)
@pytest.mark.parametrize("other", IN_PROCESS)
def test_a_snapshot_of_another_backend_restores_in_spark(
    crashing: list[Scenario], on_spark: Round, other: str
) -> None:
    """What an operator in this process had in flight, a partition takes up."""
    play = leg_player(other)

    traces = play_rounds(lambda plans: [play(plan) for plan in plans], on_spark, crashing)

    assert judged(crashing, traces) == []
    assert sum(len(t.legs) > 1 and carries(t.legs[1].restored) for t in traces) >= SNAPSHOTS
