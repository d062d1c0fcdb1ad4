"""Limits that several operators keep to together, by threads that talk to a ledger.

Threads have no virtual clock: windows are short, and calls take milliseconds.
"""

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from counting import Counting

from asyncwait.backends import pool, threads
from asyncwait.backends.services import Adaptive, Budget, BudgetSpent, InFlight, Limit, Limits
from asyncwait.spec import Batch, OperatorError, Retry


def side_by_side(*streams: Any) -> None:
    async def read(open_stream: Any) -> None:
        async with open_stream() as results:
            async for _ in results:
                pass

    with ThreadPoolExecutor(len(streams)) as workers:
        for ended in [workers.submit(asyncio.run, read(each)) for each in streams]:
            ended.result()


def test_operators_on_several_loops_keep_to_the_limits_together() -> None:
    service = Counting()
    shared = Limits([Limit(calls=20, per=0.5), InFlight(4), Adaptive(8)])
    began = time.monotonic()
    side_by_side(
        lambda: pool.ordered_wait(range(40), service, limits=shared),
        lambda: pool.unordered_wait(range(40), service, limits=shared),
        lambda: threads.ordered_wait(range(20), service.blocking, limits=shared),
    )
    assert len(service.came) == 100
    assert service.in_any(0.5) <= 20
    assert service.most <= 4
    assert time.monotonic() - began < 2 * 100 / 40


def test_a_budget_is_spent_by_all_together() -> None:
    service = Counting()
    shared = Limits([Budget(30)])
    with pytest.raises(BudgetSpent, match="30 of a budget of 30 calls are spent"):
        side_by_side(*[lambda: pool.ordered_wait(range(40), service, limits=shared)] * 2)
    assert len(service.came) == 30


@pytest.mark.parametrize(("limit", "rest"), [(InFlight(1), 9), (Budget(23), 2)])
def test_a_value_without_room_keeps_no_turn_from_others(limit: Any, rest: int) -> None:
    service, shared = Counting(), Limits([limit])

    async def both() -> list[int]:
        async with pool.ordered_wait(range(10), service, limits=shared, capacity=2) as first:
            found = [await anext(first)]
            async with pool.ordered_wait(range(20), service, limits=shared) as second:
                assert [value async for value in second] == [*range(20)]
            with suppress(BudgetSpent):
                async for value in first:
                    found.append(value)  # noqa: PERF401 - it ends amid them
            return found

    assert asyncio.run(both()) == [*range(1 + rest)]
    assert len(service.came) == 21 + rest


def test_who_leaves_gives_its_turns_back() -> None:
    async def main() -> Sequence[int]:
        shared = Limits([InFlight(2)])
        hang = asyncio.Event()
        began = asyncio.Event()

        async def hangs(_: int) -> None:
            began.set()
            await hang.wait()

        async with pool.ordered_wait(range(9), hangs, limits=shared):
            await began.wait()
        async with pool.ordered_wait(range(9), Counting(), limits=shared) as results:
            return [value async for value in results]

    assert asyncio.run(main()) == list(range(9))


@pytest.mark.parametrize("inner_loop", ["the loop of the call", "a loop in its thread"])
def test_a_call_that_waits_by_the_limits_of_its_own_turn_is_refused(inner_loop: str) -> None:
    limits = Limits([InFlight(2)])

    async def inside(value: int) -> list[int]:
        stream = pool.ordered_wait([value], Counting(), limits=limits)
        async with stream as results:
            return [each async for each in results]

    if inner_loop == "a loop in its thread":
        outer: Any = threads.ordered_wait(
            range(4), lambda value: asyncio.run(inside(value)), limits=limits
        )
    else:
        outer = pool.ordered_wait(range(4), inside, limits=limits)

    async def main() -> None:
        async with outer as results:
            await anext(results)

    with pytest.raises(OperatorError) as raised:
        asyncio.run(main())
    assert "limits must be others than those whose permit" in str(raised.value.__cause__)


KINDS = pytest.mark.parametrize("kind", [list, Limits], ids=["alone", "together"])
AGAIN = Retry(max_attempts=9, initial=0.001)


class Failing:
    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.was_asked = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def __call__(self, value: Any) -> Any:
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
