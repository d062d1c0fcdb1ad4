"""Legs on the real clock: which are played, how lateness is noticed, and the data path itself."""

from functools import partial

import pytest
from judged import broken_rules

from asyncwait.backends.pool import open_operator
from asyncwait.backends.spark import EmbeddedSpark
from asyncwait.backends.spark.conformance._backend import LACKS, SparkBackend
from asyncwait.backends.spark.conformance._real_time import MOST, OF_THE_DATA_PATH
from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.evidence import Run
from asyncwait.conformance.harness import play, short
from asyncwait.conformance.running import adapted, checked
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    HandlerAsked,
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
