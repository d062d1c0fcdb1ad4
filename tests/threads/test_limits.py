"""Limits of calls in threads, whose further attempts wait for their turns there."""

import threading
import time
from typing import Any

import pytest
from blocking import Gated, await_event
from remains import wait_until

from asyncwait.backends.services import Budget, Cost, InFlight, Limit
from asyncwait.backends.threads import ordered_wait
from asyncwait.spec import Retry

pytestmark = pytest.mark.anyio


async def test_limits_hold_for_calls_in_threads() -> None:
    lock = threading.Lock()
    begun: list[float] = []
    running: set[int] = set()
    most = 0

    def fn(value: int) -> Cost[int]:
        nonlocal most
        with lock:
            begun.append(time.monotonic())
            running.add(value)
            most = max(most, len(running))
            is_bad = len(begun) in (3, 4, 11)
        time.sleep(0.01)
        with lock:
            running.discard(value)
        if is_bad:
            raise LookupError(value)
        return Cost(value, 0.5)

    limits = [InFlight(3), Limit(calls=8, per=0.2, latency=0), Budget(30.0, "USD", lambda _: 1)]
    retry = Retry(initial=0.001)
    async with ordered_wait(range(30), fn, retry=retry, limits=limits) as results:
        assert [value async for value in results] == list(range(30))
    assert len(begun) == 33
    assert most <= 3
    assert all(later - at >= 0.19 for at, later in zip(begun, begun[8:], strict=False))


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
