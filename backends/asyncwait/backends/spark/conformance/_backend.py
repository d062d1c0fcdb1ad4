"""The backend: plays scenarios in as few jobs as it can."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from msgspec.structs import replace

from asyncwait.backends.pool import open_operator
from asyncwait.backends.spark._session import embedded_spark
from asyncwait.backends.spark.conformance._jobs import JobResult, play_legs
from asyncwait.backends.spark.conformance._real_time import MOST, OF_THE_DATA_PATH
from asyncwait.conformance.harness import in_real_time, play, short
from asyncwait.spec import Record
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    Capability,
    Ending,
    Leg,
    LegStart,
    Scenario,
    Trace,
    next_leg,
)

LACKS = frozenset(
    {
        Capability.TIMED_INPUT,
        Capability.ONE_LOOP,
        Capability.ON_DEMAND_SNAPSHOT,
        Capability.CANCELLATION_SEEN,
        Capability.COPIES,
        Capability.CONTEXTS,
        Capability.CACHE,
        Capability.LIMITS,
    }
)
"""What Spark's data path does not give: rows come when they come, nobody can ask a task for a
snapshot, a task that is cancelled is killed, and rows are copies, made by another process, whose
context variables are its own. Results are kept by a lookup."""

NamedRun: TypeAlias = tuple[str, Scenario, Trace]


class SparkBackend:
    """Plays scenarios on partitions of real DataFrames, on a virtual clock in the workers."""

    capabilities: frozenset[Capability] = ALL_CAPABILITIES - LACKS
    expected_failures: Mapping[str, str] = {}
    batch = True

    def run(self, scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        """Play `scenarios`: one job for all first legs, one for all second legs, and so on.

        A trace is given as soon as it and all before it are whole.
        """
        legs: list[list[Leg]] = [[] for _ in scenarios]
        open_legs = {number: LegStart.first(s) for number, s in enumerate(scenarios)}
        given = 0
        while open_legs:
            reports = self._play(list(open_legs.values())).reports
            following = {}
            for (number, plan), report in zip(open_legs.items(), reports, strict=True):
                legs[number].append(report.leg)
                if (after := next_leg(plan, report.leg)) is not None:
                    following[number] = after
            open_legs = following
            whole = min(open_legs, default=len(scenarios))
            yield from (Trace(tuple(done)) for done in legs[given:whole])
            given = whole

    def further_runs(self, scenarios: Mapping[str, Scenario]) -> Iterator[NamedRun]:
        """Play some of `scenarios` in other ways: on the real clock, and where the job fails."""
        chosen = short(scenarios, partial(play, open_operator), MOST)
        yield from self.in_real_time(chosen | self._of_the_data_path())
        yield from self.as_jobs(failing(scenarios))

    def in_real_time(self, scenarios: Mapping[str, Scenario]) -> Iterator[NamedRun]:
        """Play `scenarios` on the real clock: in one job, and in another what was late there."""
        # Timed scenarios come last: their job has a stage more.
        runs = sorted(scenarios.items(), key=lambda item: item[1].is_timed)
        for number, trace in in_real_time([each for _, each in runs], self._play_in_real_time):
            name, scenario = runs[number]
            yield f"{name}, in real time", scenario, trace

    def as_jobs(self, scenarios: Mapping[str, Scenario]) -> Iterator[NamedRun]:
        """Play failing `scenarios`, each as a job that fails; the traces tell of its error."""
        for name, scenario in scenarios.items():
            result = self._play([LegStart.first(scenario)], raises=True)
            leg = as_told(result.reports[0].leg, result.error, partial(self._name, scenario))
            yield f"{name}, as a job of its own", scenario, Trace((leg,))

    def _play(self, legs: Sequence[LegStart], **options: Any) -> JobResult:
        """Play `legs` in one job; see `play_legs`."""
        return play_legs(embedded_spark(), legs, **options)

    def _of_the_data_path(self) -> dict[str, Scenario]:
        return OF_THE_DATA_PATH

    def _name(self, _scenario: Scenario, record: Record) -> str:
        return str(record)

    def _play_in_real_time(self, scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        legs = [LegStart.first(scenario) for scenario in scenarios]
        reports = self._play(legs, real=True).reports
        return (Trace((report.leg,)) for report in reports)


_MOST_JOBS = 12
"""Jobs, each of which costs its worker process."""

_ERROR = re.compile(r"^asyncwait\.spec\.(\w+): (.*)$", re.MULTILINE)


def failing(scenarios: Mapping[str, Scenario]) -> dict[str, Scenario]:
    """Return some of `scenarios` that fail because of a record, as different as possible."""
    found: dict[object, tuple[str, Scenario]] = {}
    for name, scenario in scenarios.items():
        leg = play(open_operator, scenario).legs[0]
        ending = leg.ending
        if ending.how == "failed" and ending.record is not None and not scenario.crashes:
            kind = (ending.error, ending.cause, scenario.form, scenario.mode)
            found.setdefault(kind, (name, scenario))
        if len(found) == _MOST_JOBS:
            break
    return dict(found.values())


def as_told(leg: Leg, error: str, name: Callable[[Record], str] = str) -> Leg:
    """Return `leg` with what the text of the job's error says of its failure, and nothing else."""
    told = _ERROR.search(error)
    if told is None:
        return replace(leg, ending=Ending("error", detail=f"the driver got {error or 'no error'}"))
    kind, message = told.groups()
    ending = leg.ending
    names_record = ending.record is not None and message.startswith(f"{name(ending.record)}: ")
    # Its traceback ends with the cause, at the beginning of a line or behind the mark.
    shows_cause = re.search(rf"^(?:\| )?(\w+\.)*{ending.cause}\b", error, re.MULTILINE) is not None
    return replace(
        leg,
        ending=replace(
            ending,
            error=kind,
            record=ending.record if names_record else None,
            cause=ending.cause if shows_cause and ending.cause in message else "",
            detail=message,
        ),
    )
