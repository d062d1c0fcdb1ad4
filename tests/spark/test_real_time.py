"""Legs on the real clock: which are played, how lateness is noticed, and the data path itself."""

from collections.abc import Sequence
from functools import partial

import pytest
from judged import broken_rules

from asyncwait.backends.pool import open_operator
from asyncwait.backends.spark import EmbeddedSpark
from asyncwait.backends.spark.conformance import _backend
from asyncwait.backends.spark.conformance._backend import LACKS, SparkBackend
from asyncwait.backends.spark.conformance._jobs import JobResult
from asyncwait.backends.spark.conformance._real_time import MOST, OF_THE_DATA_PATH
from asyncwait.backends.spark.conformance._task import LegReport
from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.evidence import Run
from asyncwait.conformance.harness import play, short
from asyncwait.conformance.running import adapted, checked
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    Ending,
    HandlerAsked,
    Leg,
    LegStart,
    Scenario,
    SinkStep,
    SinkTook,
    Taken,
    Trace,
)


def test_at_least_sixty_short_scenarios_are_chosen() -> None:
    """Among the examples alone."""
    fitting = {e.name: adapted(e.scenario, ALL_CAPABILITIES - LACKS) for e in EXAMPLES}
    chosen = short(fitting, partial(play, open_operator), MOST)
    assert len(chosen) >= 60
    assert chosen.items() <= fitting.items()


class Machine:
    """Plays nothing; each run of a scenario is late by what its name says for that run."""

    def __init__(self) -> None:
        self.jobs: list[list[str]] = []
        self._runs: dict[str, int] = {}

    def __call__(self, _: object, plans: Sequence[LegStart], *, real: bool) -> JobResult:
        """Stand in for `play_legs`."""
        assert real
        self.jobs.append([plan.scenario.name for plan in plans])
        return JobResult(tuple(self._report(plan.scenario.name) for plan in plans))

    def _report(self, name: str) -> LegReport:
        run = self._runs[name] = self._runs.get(name, 0) + 1
        late = float(name.split()[run - 1])
        return LegReport(Leg(Ending("finished", at=run), late_by=late), 1)


def endings_of(monkeypatch: pytest.MonkeyPatch, *names: str) -> tuple[Machine, dict[str, Ending]]:
    """Play scenarios of these names; return the machine, and how each of them ended."""
    machine = Machine()
    monkeypatch.setattr(_backend, "play_legs", machine)
    monkeypatch.setattr(_backend, "embedded_spark", lambda: None)
    scenarios = {name: Scenario(name=name) for name in names}
    runs = SparkBackend().in_real_time(scenarios)
    return machine, {name: trace.legs[0].ending for name, _, trace in runs}


def test_punctual_runs_take_one_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a step is late enough to be in time."""
    machine, endings = endings_of(monkeypatch, "3", "20")
    assert machine.jobs == [["3", "20"]]
    assert endings == {
        "3, in real time": Ending("finished", at=1),
        "20, in real time": Ending("finished", at=1),
    }


def test_late_runs_are_repeated_twice_in_one_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run that is in time counts; where all three are late, there is no trace."""
    machine, endings = endings_of(monkeypatch, "0", "21 4 5", "22 90 6", "25 25 21")
    late = ["21 4 5", "22 90 6", "25 25 21"]
    assert machine.jobs == [["0", *late], [name for name in late for _ in range(2)]]
    assert [ending.at for ending in endings.values()] == [1, 2, 3, 0]
    last = endings["25 25 21, in real time"]
    assert (last.how, last.detail) == ("error", "more than 20 ms late in 3 runs")


@pytest.fixture(scope="module")
def traces(spark: EmbeddedSpark) -> dict[str, tuple[Scenario, Trace]]:
    """Each scenario of the data path, played."""
    runs = SparkBackend().in_real_time(OF_THE_DATA_PATH)
    return {name: (scenario, trace) for name, scenario, trace in runs}


@pytest.mark.timeout(300)
def test_no_rule_is_broken(traces: dict[str, tuple[Scenario, Trace]]) -> None:
    """All are played, and judged by all rules."""
    assert len(traces) == len(OF_THE_DATA_PATH)
    for scenario, trace in traces.values():
        assert checked(scenario, trace) == trace
        assert broken_rules(Run(scenario, trace)) == {}


@pytest.mark.timeout(300)
def test_the_source_really_pauses(traces: dict[str, tuple[Scenario, Trace]]) -> None:
    """Rows arrive at their times, and results leave before the next one is there."""
    _, trace = traces["results come out while the source pauses, in real time"]
    events = trace.legs[0].events
    assert [event.at for event in events if isinstance(event, Taken)] == [0, 120, 240]
    assert [event.at for event in events if isinstance(event, SinkTook)] == [40, 200, 280]


@pytest.mark.timeout(300)
def test_deadlines_are_kept_meanwhile(traces: dict[str, tuple[Scenario, Trace]]) -> None:
    """The handler is asked when the call is due, long before the next row."""
    _, trace = traces["deadlines are kept while the source pauses, in real time"]
    events = trace.legs[0].events
    assert [event.at for event in events if isinstance(event, HandlerAsked)] == [80]
    assert [event.at for event in events if isinstance(event, Taken)] == [0, 200]


@pytest.mark.timeout(300)
def test_unread_output_times_no_call_out(traces: dict[str, tuple[Scenario, Trace]]) -> None:
    """The consumer is away for three timeouts, and gets everything in the end."""
    for name in ("is not read", "is not read any more"):
        scenario, trace = traces[f"output that {name} for three timeouts, in real time"]
        assert scenario.timeout == 80
        assert SinkStep("pause", 240) in scenario.sink
        ending = trace.legs[0].ending
        assert ending.how == "finished"
        assert ending.at >= 240
        took = sum(isinstance(event, SinkTook) for event in trace.legs[0].events)
        assert took == len(scenario.inputs)
