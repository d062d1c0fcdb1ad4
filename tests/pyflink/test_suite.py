"""What the suite needs of PyFlink's own operation, and what that lacks."""

import gc
import threading

from flink_defects import SCENARIOS, assert_the_same_each_time

from asyncwait.backends.pyflink._side import PyFlinkSide
from asyncwait.backends.pyflink.conformance import backend
from asyncwait.conformance.running import adapted
from asyncwait.spec.scenario import Capability


def test_a_run_is_the_same_each_time() -> None:
    assert_the_same_each_time(backend(), "equal-records-each-with-its-own-back-off")


def test_a_run_that_is_over_is_let_go() -> None:
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
    return sum(isinstance(each, PyFlinkSide) for each in gc.get_objects())


def test_what_it_lacks_is_this() -> None:
    assert set(Capability) - backend().capabilities == {
        "key-ordered",
        "failure-handler",
        "max-held",
        "copies",
        "batches",
        "cache",
        "limits",
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
