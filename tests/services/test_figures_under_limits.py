"""Statistics of operators whose calls wait for turns: they count calls that were made."""

from typing import Any

import anyio
import pytest
from counting import Counting

from asyncwait.backends import pool
from asyncwait.backends.services import (
    Hedge,
    InFlight,
    StandIns,
)
from asyncwait.conformance.harness import SpinWatch, run_virtual
from asyncwait.spec import Batch, Cache, Statistics

LOOPS = pytest.mark.parametrize("loop", ["asyncio", "trio"])


@LOOPS
def test_the_figures_of_batches_are_those_of_batches_that_had_a_turn(loop: str) -> None:
    asked: list[int] = []

    async def fn(values: list[int]) -> list[int]:
        asked.append(len(values))
        await anyio.sleep(1)
        return values

    async def main(_: SpinWatch) -> Statistics:
        batch = Batch(max_size=5, in_flight=8)
        options: Any = {"limits": [InFlight(2)], "timeout": 1.5, "on_error": "skip"}
        async with pool.ordered_wait(range(40), fn, capacity=40, batch=batch, **options) as results:
            assert len([value async for value in results]) == 40
            return results.statistics()

    told = run_virtual(main, loop)
    assert (told.batches, told.calls) == (len(asked), sum(asked))


@LOOPS
def test_what_waits_for_its_turn_breaks_no_sum_of_a_cache(loop: str) -> None:
    async def main(_: SpinWatch) -> Statistics:
        options: Any = {"limits": [InFlight(2)], "cache": Cache(99, ttl=60), "capacity": 40}
        values = [number % 20 for number in range(40)]
        service = Counting(works=lambda: 1)
        async with pool.ordered_wait(values, service, **options) as results:
            await anext(results)
            return results.statistics()

    told = run_virtual(main, loop)
    assert (told.calls, told.loads, told.shared) == (40, 20, 20)


@LOOPS
def test_stand_ins_are_one_call_whatever_waits_for_its_turn(loop: str) -> None:
    async def main(_: SpinWatch) -> Statistics:
        async def fn(value: int) -> int:
            await anyio.sleep(0.1 if value else 1)
            return value

        several = StandIns(fn, hedge=Hedge(after=0.05, at_most=1.0))
        options: Any = {"limits": [InFlight(2)], "capacity": 8}
        async with pool.ordered_wait(range(20), several, **options) as results:
            assert [value async for value in results] == [*range(20)]
            return results.statistics()

    told = run_virtual(main, loop)
    assert (told.calls, told.retries) == (20, 0)
