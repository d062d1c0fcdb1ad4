"""What the suite needs of Flink's own operator, to play thousands of scenarios in one process."""

import gc
from collections.abc import Callable

import pytest
from flink_defects import assert_let_go, assert_the_same_each_time

from asyncwait.backends.flink._jvm import java
from asyncwait.backends.flink.conformance import backend, keyed_backend
from asyncwait.conformance import StreamBackend

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
    def collect() -> None:
        java("java.lang.System").gc()
        gc.collect()

    assert_let_go(backend(), java("java.lang.Thread").activeCount, collect)
