"""Calls that wait for their turns, and whose values are decided, or whose operator is left.

None of them is made. Threads have no virtual clock; here they wait for no turn that comes.
"""

import asyncio
from typing import Any

import pytest

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
    """A further attempt, or the first call of a batch, is not made for nobody."""

    async def main() -> list[Any]:
        service = Failing()
        limits = kind([Limit(calls=1, per=3600)])
        options: Any = {"retry": AGAIN, "batch": batch, "on_error": "skip"}
        async with threads.ordered_wait(range(3), service, limits=limits, **options):
            await service.was_asked.wait()
            await asyncio.sleep(0.05)  # in which the next call comes to its wait
        return service.asked

    assert len(asyncio.run(asyncio.wait_for(main(), 20))) == 1


@KINDS
@pytest.mark.parametrize("batch", [None, Batch(max_size=1)], ids=["single", "batched"])
def test_a_turn_goes_to_no_value_whose_deadline_has_passed(kind: Any, batch: Any) -> None:
    """The next value has it."""

    async def main() -> list[Any]:
        service = Failing()
        decided = asyncio.Event()

        async def source() -> Any:
            yield "early"
            await decided.wait()
            yield "late"

        def late(value: Any, _: Exception) -> Any:
            decided.set()
            return value

        limits = kind([Limit(calls=1, per=0.5, latency=0.001)])
        options: Any = {"retry": AGAIN, "batch": batch, "on_error": late, "timeout": 0.1}
        async with threads.ordered_wait(source(), service, limits=limits, **options) as results:
            assert [value async for value in results] == ["early", "late"]
        return [value if batch is None else value[0] for value in service.asked]

    assert asyncio.run(main()) in (["early", "late"], ["early"])  # its own may pass, too


def test_who_is_cancelled_waits_for_nobody_elses_call() -> None:
    """Another operator may hold all of the limit for as long as it likes."""

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
