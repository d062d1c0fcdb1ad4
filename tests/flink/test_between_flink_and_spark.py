"""A snapshot of Flink's operator restores in a partition of Spark, and the other way round.

As `test_between_backends` has it, with what Spark is unable to do left out, too: all input is there
at once, and its end. So calls are not repeated here: behind the end of its input Flink does that
otherwise (EI-4, EI-5). There is one crash, and all legs before it, and behind it, are one job.
"""

from collections.abc import Generator
from itertools import islice

import pytest
from between_backends import (
    Round,
    handed_over,
    hands_over,
    leg_player,
    one_by_one,
    play_rounds,
    played_by,
    remembered,
)
from kept_by_flink import kept_by_flink, wrongs
from msgspec.structs import replace

from asyncwait.backends.flink.conformance import backend as flink_backend
from asyncwait.backends.spark import embedded_spark
from asyncwait.backends.spark.conformance import backend as spark_backend
from asyncwait.backends.spark.conformance._jobs import play_legs
from asyncwait.conformance.generation import generate
from asyncwait.spec.scenario import Capability, Scenario

SNAPSHOTS = 200
# A few more: where things happen in one instant, another backend may have less in flight.
SCENARIOS = 210
GENERATED = 8_000


@pytest.fixture(scope="module")
def can(flink: None) -> frozenset[Capability]:
    """What both are able to do."""
    return flink_backend().capabilities & spark_backend().capabilities


@pytest.fixture(scope="module")
def on_flink(flink: None) -> Round:
    """Plays a round of legs on Flink's operator."""
    return one_by_one(remembered(played_by(flink_backend())))


@pytest.fixture(scope="module")
def on_spark() -> Generator[Round]:
    """Plays a round of legs as one job."""
    spark = embedded_spark()
    yield lambda plans: [report.leg for report in play_legs(spark, plans).reports]
    spark.stop()


@pytest.fixture(scope="module")
def crashing(can: frozenset[Capability], on_flink: Round) -> list[Scenario]:
    """Generated scenarios in which something is in flight when Flink takes its last snapshot."""
    generated = kept_by_flink(generate(GENERATED, 0), can - {Capability.RETRY})
    once = (replace(each, crashes=each.crashes[:1]) for each in generated)
    # The reference is the quicker one to say of most that there is not.
    on_reference = leg_player("reference-asyncio")
    likely = (each for each in once if hands_over(on_reference, each))
    found = (each for each in likely if hands_over(lambda plan: on_flink([plan])[0], each))
    return list(islice(found, SCENARIOS))


def test_flink_by_itself_keeps_every_rule(
    crashing: list[Scenario], on_flink: Round, can: frozenset[Capability]
) -> None:
    """Nothing that is found below is a departure of Flink's own."""
    traces = play_rounds(on_flink, on_flink, crashing)
    assert handed_over(traces) >= SNAPSHOTS
    assert wrongs(crashing, traces, can) == [[] for _ in crashing]


@pytest.mark.timeout(300)
def test_a_snapshot_of_flink_restores_in_spark(
    crashing: list[Scenario], on_flink: Round, on_spark: Round, can: frozenset[Capability]
) -> None:
    """What Flink had in flight, a partition takes up."""
    traces = play_rounds(on_flink, on_spark, crashing)
    assert handed_over(traces) >= SNAPSHOTS
    assert wrongs(crashing, traces, can) == [[] for _ in crashing]


@pytest.mark.timeout(300)
def test_a_snapshot_of_spark_restores_in_flink(
    crashing: list[Scenario], on_flink: Round, on_spark: Round, can: frozenset[Capability]
) -> None:
    """What a partition had in flight, Flink takes up."""
    traces = play_rounds(on_spark, on_flink, crashing)
    assert handed_over(traces) >= SNAPSHOTS
    assert wrongs(crashing, traces, can) == [[] for _ in crashing]
