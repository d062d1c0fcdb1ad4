"""Calls that wait for their turns, and whose values are decided, or whose operator is left.

None of them is made. Threads have no virtual clock, so a test moves that of the loop by hand.
"""

import asyncio
import threading
import time
from typing import Any

import pytest
from blocking import Clock, await_event

from asyncwait.backends import pool, threads
from asyncwait.backends.services import InFlight, Limit, Limits
from asyncwait.spec import Batch, Retry

KINDS = pytest.mark.parametrize("kind", [list, Limits], ids=["alone", "together"])
AGAIN = Retry(max_attempts=9, initial=0.001)


class Failing:
    """A service that is never there."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.was_asked = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def __call__(self, value: Any) -> Any:
        """Note the call, and fail."""
        self.asked.append(value)
        self._loop.call_soon_threadsafe(self.was_asked.set)
        raise ConnectionError("it is not there")


@KINDS
@pytest.mark.parametrize("batch", [None, Batch(max_size=1)], ids=["single", "batched"])
def test_leaving_waits_for_no_turn_and_none_is_used(kind: Any, batch: Any) -> None:
    async def main() -> list[Any]:
        service = Failing()
        limits = kind([Limit(calls=1, per=3600)])
        options: Any = {"retry": AGAIN, "batch": batch, "on_error": "skip"}
        async with threads.ordered_wait(range(3), service, limits=limits, **options):
            await service.was_asked.wait()
            await asyncio.sleep(0.05)  # in which the next call comes to its wait
        return service.asked

    assert len(asyncio.run(asyncio.wait_for(main(), 20))) == 1


async def list_of(results: Any) -> list[Any]:
    """Read to the end."""
    return [value async for value in results]


@KINDS
@pytest.mark.parametrize("batch", [None, Batch(max_size=1)], ids=["single", "batched"])
def test_a_turn_goes_to_no_value_whose_deadline_has_passed(kind: Any, batch: Any) -> None:
    asked: list[str] = []
    failed: list[Exception] = []
    decided, is_open = asyncio.Event(), threading.Event()

    def call(value: Any) -> Any:
        (each,) = value if batch else [value]
        asked.append(each)
        if each == "early":
            raise ConnectionError
        if each == "holds on":
            await_event(is_open)
        return value

    def fails(error: Exception) -> bool:
        failed.append(error)
        return True

    def handle(value: str, _: Exception) -> str:
        decided.set()
        return value

    async def main() -> list[Any]:
        clock = Clock()

        async def source() -> Any:
            yield "early"
            await clock.until(lambda: bool(failed))
            clock.now += 0.1
            yield "holds on"
            await decided.wait()
            yield "late"

        retry = Retry(max_attempts=9, initial=0.2, on_error=fails)
        options: Any = {"retry": retry, "batch": batch, "on_error": handle, "timeout": 0.4}
        wait = threads.ordered_wait(source(), call, limits=kind([InFlight(1)]), **options)
        async with wait as results:
            reading = asyncio.create_task(list_of(results))
            await clock.until(lambda: "holds on" in asked)
            clock.now += 0.15
            await asyncio.to_thread(time.sleep, 0.05)  # in which the second call comes to its wait
            clock.now += 0.2
            await decided.wait()
            is_open.set()
            return await reading

    assert asyncio.run(main()) == ["early", "holds on", "late"]
    assert asked == ["early", "holds on", "late"]


def test_who_is_cancelled_waits_for_nobody_elses_call() -> None:
    async def main() -> list[Any]:
        limits = Limits([InFlight(1)])
        service, held = Failing(), asyncio.Event()

        async def hold(_: int) -> None:
            held.set()
            await asyncio.Event().wait()

        async def ask() -> None:
            options: Any = {"limits": limits, "batch": Batch(max_size=1)}
            async with threads.ordered_wait([1], service, **options) as results:
                await anext(results)

        async with pool.ordered_wait([0], hold, limits=limits):
            await held.wait()
            asking = asyncio.create_task(ask())
            await asyncio.sleep(0.1)
            asking.cancel()
            await asyncio.wait([asking], timeout=10)
            assert asking.cancelled()
        return service.asked

    assert asyncio.run(main()) == []
