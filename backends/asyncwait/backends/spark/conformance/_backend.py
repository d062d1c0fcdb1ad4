"""The backend: plays scenarios in as few jobs as it can."""

from collections.abc import Iterator, Mapping, Sequence

from asyncwait.backends.spark._session import embedded_spark
from asyncwait.backends.spark.conformance._loop_side import GRID
from asyncwait.backends.spark.conformance._real_time import OF_THE_DATA_PATH, chosen
from asyncwait.conformance.harness import LegPlan, next_leg
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability, Ending, Leg, Scenario, Trace

LACKS = frozenset(
    {Capability.TIMED_INPUT, Capability.ON_DEMAND_SNAPSHOT, Capability.CANCELLATION_SEEN}
)
"""What Spark's data path does not give: rows come when they come, nobody can ask a task for
anything, and a task that is cancelled is killed."""

TRIES = 3
"""Runs of a scenario on the real clock before it is given up as too late."""


class SparkBackend:
    """Plays scenarios on partitions of real DataFrames, on a virtual clock in the workers."""

    capabilities: frozenset[Capability] = ALL_CAPABILITIES - LACKS
    exceptions: Mapping[str, str] = {}
    in_child = False

    def run(self, scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        """Play `scenarios`: one job for all first legs, one for all second legs, and so on.

        A trace is given as soon as it and all before it are whole.
        """
        from asyncwait.backends.spark.conformance._jobs import play_legs

        spark = embedded_spark()
        legs: list[list[Leg]] = [[] for _ in scenarios]
        open_legs = {number: LegPlan.first(s) for number, s in enumerate(scenarios)}
        given = 0
        while open_legs:
            reports = play_legs(spark, list(open_legs.values())).reports
            following = {}
            for (number, plan), report in zip(open_legs.items(), reports, strict=True):
                legs[number].append(report.leg)
                if (after := next_leg(plan, report.leg)) is not None:
                    following[number] = after
            open_legs = following
            whole = min(open_legs, default=len(scenarios))
            yield from (Trace(tuple(done)) for done in legs[given:whole])
            given = whole

    def further_runs(
        self, scenarios: Mapping[str, Scenario]
    ) -> Iterator[tuple[str, Scenario, Trace]]:
        """Play some of `scenarios` in other ways; give a name, the scenario and its trace."""
        yield from self.real_time(chosen(scenarios) | OF_THE_DATA_PATH)

    def real_time(
        self, scenarios: Mapping[str, Scenario]
    ) -> Iterator[tuple[str, Scenario, Trace]]:
        """Play `scenarios` on the real clock; a run that is late is repeated."""
        from asyncwait.backends.spark.conformance._jobs import play_legs

        waiting = dict(scenarios)
        reports = ()
        for _ in range(TRIES):
            if not waiting:
                return
            plans = [LegPlan.first(scenario) for scenario in waiting.values()]
            reports = play_legs(embedded_spark(), plans, real=True).reports
            late = {}
            for (name, scenario), report in zip(waiting.items(), reports, strict=True):
                if report.leg.late_by > GRID / 2:
                    late[name] = scenario
                else:
                    yield f"{name}, in real time", scenario, Trace((report.leg,))
            waiting = late
        for name, scenario in waiting.items():
            detail = f"late by more than {GRID // 2} ms in each of {TRIES} runs"
            leg = Leg(Ending("error", detail=detail))
            yield f"{name}, in real time", scenario, Trace((leg,))


def backend() -> SparkBackend:
    """Return Spark on the embedded session."""
    return SparkBackend()
