"""What the suite finds in Flink's own operator: its known departures, by their rules."""

import gc
import threading

import pytest
from flink_runs import SCENARIOS, broken_by

from asyncwait.backends.flink._jvm import java
from asyncwait.backends.flink._side import FlinkSide
from asyncwait.backends.flink.conformance import backend
from asyncwait.conformance.running import adapted
from asyncwait.spec.scenario import id_of

pytestmark = pytest.mark.usefixtures("flink")


@pytest.mark.parametrize(
    ("example", "rule"),
    [
        ("statuses-behind-a-slow-record", "WM-5"),  # LM-2
        ("a-call-gives-none", "RES-3"),  # CO-7
        ("callback-raises-at-once", "FAIL-1"),  # FA-1
        ("handler-gives-none", "FAIL-2"),  # TO-9
        ("handler-raises", "TIME-4"),  # TO-10
        ("predicate-of-errors-that-raises", "RETRY-13"),  # RT-17
        ("end-of-input-in-a-back-off", "RETRY-15"),  # EI-4
        ("equal-records-each-with-its-own-back-off", "RETRY-3"),  # RT-5, EI-5
        ("attempts-in-contexts-of-their-own", "RETRY-4"),  # RT-5
        ("deadline-in-a-back-off", "RETRY-11"),  # RT-15, EI-5
        ("read-while-attempts-take-too-long", "ORD-2"),  # RT-16
    ],
)
def test_a_departure_is_convicted(example: str, rule: str) -> None:
    """By the rule that says what holds here instead."""
    assert rule in broken_by(backend(), example)


@pytest.mark.parametrize(
    "example",
    [
        "a-long-stream-is-let-go",
        "handler-after-two-days",
        "handler-gives-several-results",
    ],
)
def test_what_flink_does_as_it_is_specified_is_not_convicted(example: str) -> None:
    """No rule is broken."""
    assert broken_by(backend(), example) == set()


def test_a_run_is_the_same_each_time() -> None:
    """The clock is the loop's, and only one of the two threads runs at a time."""
    flink = backend()
    scenario = adapted(SCENARIOS["equal-records-each-with-its-own-back-off"], flink.capabilities)
    traces = [trace for _ in range(5) for trace in flink.run([scenario])]
    assert all(trace == traces[0] for trace in traces), id_of(scenario)


def test_a_run_that_is_over_is_let_go() -> None:
    """Neither Java nor Python keeps it: a suite plays thousands in one process."""
    flink = backend()
    scenario = adapted(SCENARIOS["several-results-each"], flink.capabilities)
    list(flink.run([scenario]))
    before, threads = sides(), java("java.lang.Thread").activeCount()
    list(flink.run([scenario] * 40))
    for _ in range(20):  # Java says in its own time what it has let go
        java("java.lang.System").gc()
        gc.collect()
        if sides() <= before:
            break
        threading.Event().wait(0.05)
    assert sides() <= before
    assert java("java.lang.Thread").activeCount() <= threads


def sides() -> int:
    """How many operators Python knows."""
    return sum(isinstance(each, FlinkSide) for each in gc.get_objects())
