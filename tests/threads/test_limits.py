"""Limits of calls in threads, whose further attempts wait for their turns there."""

import threading
from typing import Any

import pytest
from blocking import Gated, await_event
from remains import wait_until

from asyncwait.backends.services import Budget, InFlight, Limit
from asyncwait.backends.threads import ordered_wait
from asyncwait.spec import Retry

pytestmark = pytest.mark.anyio


def test_limits_hold_where_there_is_no_loop() -> None:
    fn = Gated(*range(20))
    assert list(ordered_wait(range(20), fn, limits=[InFlight(2), Budget(20)])) == list(range(20))
    assert fn.most <= 2


def test_an_attempt_that_waits_for_its_turn_ends_when_the_stream_is_left() -> None:
    tried = threading.Event()
    calls: list[int] = []

    def fn(value: int) -> Any:
        calls.append(value)
        tried.set()
        raise LookupError(value)

    def cost(value: int) -> int:
        asked.append(value)
        return value

    asked: list[int] = []
    limits = [Limit(cost=cost, up_to=1, per=3600)]
    with ordered_wait([1], fn, retry=Retry(initial=0.001), limits=limits) as results:
        await_event(tried)
        wait_until(lambda: len(asked) > 1)
        assert results.statistics().calls == 1
    assert calls == [1]
