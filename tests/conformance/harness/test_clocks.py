"""Virtual clocks: time moves when all is idle and only then, on both loops."""

from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from asyncwait.conformance.harness import (
    LoopName,
    play,
    run_virtual,
)
from asyncwait.reference import open_operator
from asyncwait.spec import OpenOperator, Record
from asyncwait.spec.scenario import Leg, Plan, Scenario, Step, Timed

both_loops = pytest.mark.parametrize("loop", ["asyncio", "trio"])

SCENARIO = Scenario(
    inputs=(Timed(0, Record("a")),),
    plans=(Plan("a", (Step(after=40, results=("x",)),)),),
)


def run(main: Callable[[], Awaitable[Any]], loop: LoopName) -> Any:
    return run_virtual(lambda _spin: main(), loop)


def with_trouble(trouble: Callable[[], Awaitable[Any]]) -> OpenOperator:
    @asynccontextmanager
    async def opened(config: Any, fn: Any, elements: Any, restore: Any = None) -> Any:
        async with open_operator(config, fn, elements, restore) as results:
            await trouble()
            yield results

    return opened


def leg_of(operator: OpenOperator, loop: LoopName, scenario: Scenario = SCENARIO) -> Leg:
    (leg,) = play(operator, scenario, loop).legs
    return leg


@both_loops
def test_time_stands_still_while_anything_can_run(loop: LoopName) -> None:
    async def main() -> list[tuple[str, float]]:
        began = anyio.current_time()
        seen: list[tuple[str, float]] = []

        async def busy() -> None:
            for _ in range(1_000):
                await anyio.lowlevel.checkpoint()
            seen.append(("busy", anyio.current_time() - began))

        async def timer() -> None:
            await anyio.sleep(1e-3)
            seen.append(("timer", round(anyio.current_time() - began, 6)))

        async with anyio.create_task_group() as group:
            group.start_soon(timer)
            group.start_soon(busy)
        return seen

    assert run(main, loop) == [("busy", 0), ("timer", 1e-3)]


@both_loops
def test_an_operator_that_spins_is_a_livelock(loop: LoopName) -> None:
    async def spin() -> None:
        await anyio.sleep(0.02)
        while True:
            await anyio.lowlevel.checkpoint()

    ending = leg_of(with_trouble(spin), loop).ending

    assert (ending.how, ending.at) == ("livelock", 20)
