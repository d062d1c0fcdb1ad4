"""The operator with threads on the real clock, as the suite plays it there."""

import time
from typing import Any

import pytest

from asyncwait.backends.threads._thread_pool import ThreadPool
from asyncwait.backends.threads.conformance import _backend, _server
from asyncwait.spec import Record
from asyncwait.spec.scenario import Plan, Scenario, Step, Timed

STALL = 0.045
"""Seconds, hardly more than a step of the grid: rounded, what comes so late is in time."""

ONE = Scenario(
    inputs=(Timed(0, Record("a")),), plans=(Plan("a", (Step(after=40, results=("a1",)),)),)
)


@pytest.mark.parametrize("where", ["to the server", "back"])
def test_a_thread_that_stalls_is_late(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    owner: Any = ThreadPool if where == "to the server" else _server._Request
    name = "_run" if where == "to the server" else "wait"
    method = getattr(owner, name)

    def stalling(self: Any, *args: Any) -> Any:
        if where == "back":
            self._answered.wait()
        time.sleep(STALL)
        return method(self, *args)

    monkeypatch.setattr(owner, name, stalling)
    (trace,) = _backend._play_for_real([ONE])
    assert trace.legs[0].late_by >= 1000 * STALL
