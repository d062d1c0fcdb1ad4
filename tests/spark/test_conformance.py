"""Spark as a backend of the suite: how scenarios become jobs, and what comes back of them.

`asyncwait verify spark spark-dataframe spark-streaming` says what these jobs show of the operator.
"""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from judged import broken_rules
from msgspec.structs import replace

from asyncwait.backends.faulty.carry import CallsAKeyAtOnce, CallsAllAtOnce
from asyncwait.backends.spark import Carry, EmbeddedSpark
from asyncwait.backends.spark.conformance import _backends, _jobs, _stream_leg
from asyncwait.backends.spark.conformance import frame_backend as load_frame_backend
from asyncwait.backends.spark.conformance._backends import KEPT, SparkBackend, planned
from asyncwait.backends.spark.conformance._jobs import frame_of, play_legs
from asyncwait.backends.spark.conformance._stream_leg import HostedLeg, barriers_of, parts_of
from asyncwait.backends.spark.conformance._streams import confirmed, rows_of, stage
from asyncwait.backends.streams import Lane
from asyncwait.conformance.evidence import Run, scenario_of
from asyncwait.conformance.running import load_backend
from asyncwait.spec import Barrier, Element, MissingExtra, Record, Watermark
from asyncwait.spec.carry import LaneState, VisitFailed
from asyncwait.spec.scenario import (
    Capability,
    Crash,
    Ending,
    Leg,
    LegStart,
    Plan,
    Scenario,
    Step,
    Timed,
    Trace,
)

pytestmark = pytest.mark.timeout(300)  # the first test pays for the start of a JVM


class Jobs:
    def __init__(self, spark: EmbeddedSpark, group: str) -> None:
        self._tracker = spark.session.sparkContext.statusTracker()
        self._group = group

    @property
    def tasks(self) -> list[int]:
        numbers = sorted(self._tracker.getJobIdsForGroup(self._group))
        stages = [max(self._tracker.getJobInfo(number).stageIds) for number in numbers]
        return [self._tracker.getStageInfo(stage).numTasks for stage in stages]


@pytest.fixture
def jobs(spark: EmbeddedSpark, request: pytest.FixtureRequest) -> Iterator[Jobs]:
    context = spark.session.sparkContext
    context.setJobGroup(request.node.name, "")
    yield Jobs(spark, request.node.name)
    context.setLocalProperty("spark.jobGroup.id", None)


def at_once(*elements: Element) -> tuple[Timed, ...]:
    return tuple(Timed(0, element) for element in elements)


def crashing(times: int) -> Scenario:
    barriers = [element for n in range(4) for element in (Record("a", n), Barrier(n), Watermark(n))]
    return Scenario(
        inputs=at_once(*barriers),
        plans=(Plan("a", (Step(after=40, results=("a1",)),)),),
        capacity=1,
        crashes=tuple(Crash(60) for _ in range(times)),
    )


EMPTY = Scenario()
SHORT = Scenario(inputs=at_once(Record("b"), Record("c", 1, "k")))
TIMED = Scenario(inputs=(Timed(0, Record("a")), Timed(3_600_000, Record("b"))))
FAILING = Scenario(
    inputs=at_once(*(Record("a", n) for n in range(30))),
    plans=(Plan("a", (Step(results=("a1",)), Step(results=()), Step("raise", 40))),),
)
OF_A_DATA_PATH = {
    *(Capability.TIMED_INPUT, Capability.ON_DEMAND_SNAPSHOT, Capability.CANCELLATION_SEEN),
    *(Capability.COPIES, Capability.CONTEXTS, Capability.ONE_LOOP, Capability.CACHE),
    Capability.LIMITS,
}
OF_ROWS = {
    *(Capability.CALLBACKS, Capability.EVENT_TIME, Capability.SNAPSHOTS),
    *(Capability.IN_FLIGHT_SNAPSHOT, Capability.RESTORE),
}


OF_A_STATE = {Capability.SNAPSHOTS, Capability.IN_FLIGHT_SNAPSHOT, Capability.RESTORE}
OF_LANES = {Capability.MAX_HELD, Capability.STATISTICS, Capability.PLANNED_ENDS}


@pytest.mark.parametrize(
    ("name", "lacks", "fails"),
    [
        ("spark", OF_A_DATA_PATH, []),
        ("spark-dataframe", OF_A_DATA_PATH | OF_ROWS, []),
        ("spark-streaming", (OF_A_DATA_PATH | OF_ROWS | OF_LANES) - OF_A_STATE, ["BAT-3"]),
    ],
)
def test_what_a_backend_lacks(name: str, lacks: set[Capability], fails: list[str]) -> None:
    loaded = load_backend(name)
    assert frozenset(Capability) - loaded.capabilities == lacks
    assert [*loaded.expected_failures] == fails
    assert loaded.batch


def test_one_job_for_each_round_of_legs(jobs: Jobs) -> None:
    traces = SparkBackend().run([EMPTY, TIMED, crashing(1), SHORT, crashing(3), FAILING])
    first = [next(traces), next(traces)]
    assert jobs.tasks == [6]
    legs = [trace.legs for trace in (*first, *traces)]
    assert [len(each) for each in legs] == [1, 1, 2, 1, 4, 1]
    assert jobs.tasks == [6, 2, 1, 1]
    # On the virtual clock everything is there at once.
    assert legs[1][0].ending.at == 0


def test_scenarios_without_any_input_run_too(jobs: Jobs) -> None:
    assert list(SparkBackend().run([])) == []
    assert jobs.tasks == []
    traces = list(SparkBackend().run([EMPTY, EMPTY, EMPTY]))
    assert [trace.legs[0].ending.how for trace in traces] == ["finished"] * 3
    assert jobs.tasks == [3]


def test_what_the_driver_gets_is_compared_with_the_trace(
    spark: EmbeddedSpark, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = _jobs.read_legs

    def forged(folder: Any) -> Any:
        ((number, leg),) = read(folder).items()
        return {number: replace(leg, events=())}

    monkeypatch.setattr(_jobs, "read_legs", forged)
    (leg,) = play_legs(spark, [LegStart.first(SHORT)])
    assert leg.ending.how == "error"
    assert "[] came out" in leg.ending.detail


def test_a_broken_harness_is_an_error_and_no_verdict(spark: EmbeddedSpark) -> None:
    plan = LegStart.first(SHORT)
    broken = replace(plan, number="one")
    endings = [leg.ending for leg in play_legs(spark, [plan, broken, plan])]
    assert [ending.how for ending in endings] == ["finished", "error", "finished"]
    assert "ValidationError: " in endings[1].detail


def test_a_worker_that_dies_ends_its_job(spark: EmbeddedSpark) -> None:
    long = Scenario(inputs=at_once(*(Record("b", n) for n in range(2_000))))
    (leg,) = play_legs(spark, [LegStart.first(long)], patience=0.000_1)
    assert leg.ending.how == "error"
    assert leg.ending.detail.endswith(" Python worker exited unexpectedly")
    assert "Py4JJavaError" not in leg.ending.detail


def test_without_pyspark_the_backend_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingExtra) as raised:
        load_backend("spark")
    assert (raised.value.needs, raised.value.extra) == ("pyspark", "spark")


def test_what_the_public_function_plans_is_what_is_judged(
    spark: EmbeddedSpark, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert spark.session is not None
    waits = _backends.WAITS

    class Other:
        def plan(self, *args: Any, **options: Any) -> Any:
            mode = "ordered" if options["capacity"] == 1 else "unordered"
            options["capacity"] += 1
            return waits[mode].plan(*args, **options)  # type: ignore[index]

    monkeypatch.setattr(_backends, "WAITS", {"ordered": Other()})
    plans = tuple(Plan(v, (Step(after=at, results=(v,)),)) for v, at in (("a", 80), ("b", 40)))
    two = Scenario(inputs=at_once(Record("a"), Record("b")), plans=plans)
    narrow = replace(two, capacity=1)
    wide, one = load_frame_backend().run([two, narrow])
    assert "ORD-1" in broken_rules(Run(two, wide))
    assert "CAP-1" in broken_rules(Run(narrow, one))


@pytest.fixture
def play(spark: EmbeddedSpark) -> Any:
    def play_one(scenario: Scenario) -> Leg:
        start = LegStart.first(scenario)
        with stage(spark.session):
            frame = frame_of(spark.session, KEPT, streams=True)
            carry = Carry(lanes=1, order_by="index", version="1")
            work = planned(start, frame, keep=KEPT, carry=carry).job
        leg, lane, state = HostedLeg(work, start), Lane("0", work.terms), LaneState()
        batches = [rows_of(0, start, work)[1]]
        while leg.leg is None:
            try:
                _, state = lane.visit(state, (state.stamp or 0) + 1, batches.pop(), leg)
            except VisitFailed:
                break
            batches.append([])
        assert leg.leg is not None
        return leg.leg

    return play_one


SLOW_HEAD = scenario_of("capacity 2; 0: a b c d; a: 200 gives *1; b c d: 40 gives *1")
BUSY_KEY = scenario_of("key-ordered; 0: a/k b/k; a b: 40 gives *1")


@pytest.mark.parametrize(
    ("scenario", "slip", "rule"),
    [
        (SLOW_HEAD, ("has_room", CallsAllAtOnce.has_room), "CAP-1"),
        (BUSY_KEY, ("offer", CallsAKeyAtOnce.offer), "KEY-1"),
    ],
)
def test_a_host_that_slips_is_convicted(
    play: Any, monkeypatch: pytest.MonkeyPatch, scenario: Scenario, slip: tuple[str, Any], rule: str
) -> None:
    monkeypatch.setattr(_stream_leg.WatchedCalls, *slip)

    assert rule in broken_rules(Run(scenario, Trace((play(scenario),))))


def test_the_output_of_a_lane_is_compared_with_what_was_finished(play: Any) -> None:
    a, b = Record("a1"), Record("b1")
    done = play(scenario_of("0: a b; a b: 40 gives *1"))
    free, failed = replace(done, mode="unordered"), replace(done, ending=Ending("failed"))

    endings = [confirmed(done, out).ending.how for out in ([a, b], [b, a], [a])]
    assert endings == ["finished", "error", "error"]
    assert confirmed(free, [b, a]) == free
    assert [confirmed(failed, out).ending.how for out in ([a], [b])] == ["failed", "error"]


def test_a_barrier_behind_watermarks_stands_when_the_records_before_it_have_come() -> None:
    start = LegStart.first(scenario_of("0: ~1 a ~9 b ^1 c; a b c: 40 gives *1"))
    assert [len(part) for part in parts_of(start)] == [0, 2, 1]
    assert [each.behind for each in barriers_of(start)] == [2]
