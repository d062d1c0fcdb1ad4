"""What the suite finds in PyFlink's own operation: its known departures, by their rules."""

import gc
import threading

import pytest
from flink_runs import SCENARIOS, broken_by

from asyncwait.backends.pyflink._side import PyFlinkSide
from asyncwait.backends.pyflink.conformance import backend
from asyncwait.conformance.running import adapted
from asyncwait.spec.scenario import Capability


@pytest.mark.parametrize(
    ("example", "rule"),
    [
        ("lists-that-are-used-again-behind-a-slow-head", "RES-9"),  # EL-6
        ("attempts-in-contexts-of-their-own", "CTX-1"),  # PY-2
        ("a-call-gives-a-text", "RES-3"),  # PY-5
        ("failing-while-the-source-is-silent", "FAIL-2"),  # PY-6
        ("earlier-failure-of-a-later-record", "FAIL-4"),  # PY-6
        ("handler-gives-none", "TIME-4"),  # PY-8
        ("every-other-record-is-refused-to-the-end", "RETRY-4"),  # PY-9
        ("predicate-of-results-that-raises", "RETRY-13"),  # PY-14
        ("call-raises-a-cancellation-of-its-own", "FAIL-2"),  # PY-15
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
        "handler-that-blocks-the-loop",
        "end-of-input-in-a-back-off",
    ],
)
def test_what_pyflink_does_as_it_is_specified_is_not_convicted(example: str) -> None:
    """No rule is broken."""
    assert broken_by(backend(), example) == set()


def test_a_run_is_the_same_each_time() -> None:
    """The clock is the loop's, and only one of the threads runs at a time."""
    pyflink = backend()
    name = "equal-records-each-with-its-own-back-off"
    scenario = adapted(SCENARIOS[name], pyflink.capabilities)
    traces = [trace for _ in range(5) for trace in pyflink.run([scenario])]
    assert all(trace == traces[0] for trace in traces)


def test_a_run_that_is_over_is_let_go() -> None:
    """Neither threads nor operators stay: a suite plays thousands in one process."""
    pyflink = backend()
    scenario = adapted(SCENARIOS["several-results-each"], pyflink.capabilities)
    list(pyflink.run([scenario]))
    gc.collect()
    before, threads = sides(), threading.active_count()
    list(pyflink.run([scenario] * 40))
    gc.collect()
    assert sides() <= before
    assert threading.active_count() <= threads


def sides() -> int:
    """How many operators Python knows."""
    return sum(isinstance(each, PyFlinkSide) for each in gc.get_objects())


def test_what_it_lacks_is_this() -> None:
    """PyFlink's elements are records, its functions coroutines, and nothing is ever stored."""
    assert set(Capability) - backend().capabilities == {
        "key-ordered",
        "failure-handler",
        "max-held",
        "copies",
        "statistics",
        "callbacks",
        "event-time",
        "snapshots",
        "in-flight-snapshot",
        "on-demand-snapshot",
        "restore",
        "cancel-calls",
        "attempt-timeout",
        "retry-after",
        "jitter",
    }
