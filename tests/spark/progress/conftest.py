"""Progress of a job without Spark: reports by threads of this process over a real socket."""

import gc
import threading
from collections.abc import Callable, Iterator

import pytest
from remains import wait_until

from asyncwait.backends.spark.progress import _tally


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    wait_until(lambda: set(threading.enumerate()) <= before)
    gc.collect()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    now = [0.0]
    monkeypatch.setattr(_tally, "monotonic", lambda: now[0])

    def set_to(seconds: float) -> None:
        now[0] = seconds

    return set_to
