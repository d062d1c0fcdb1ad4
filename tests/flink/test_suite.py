"""What the suite needs of Flink's own operator, to play thousands of scenarios in one process."""

import gc
import threading
from collections.abc import Callable

import pytest
from flink_defects import SCENARIOS, assert_the_same_each_time

from asyncwait.backends.flink._jvm import java
from asyncwait.backends.flink._side import FlinkSide
from asyncwait.backends.flink.conformance import backend, keyed_backend
from asyncwait.conformance import StreamBackend
from asyncwait.conformance.running import adapted

pytestmark = pytest.mark.usefixtures("flink")


@pytest.mark.parametrize(
    ("opened", "example"),
    [
        (backend, "equal-records-each-with-its-own-back-off"),
        (keyed_backend, "restored-with-four-keys"),
    ],
    ids=["flink", "flink-keyed"],
)
def test_a_run_is_the_same_each_time(opened: Callable[[], StreamBackend], example: str) -> None:
    assert_the_same_each_time(opened(), example)


def test_a_run_that_is_over_is_let_go() -> None:
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
    """How many operators Python knows; no proxy is asked what it is, as that may have gone."""
    return sum(issubclass(type(each), FlinkSide) for each in gc.get_objects())
