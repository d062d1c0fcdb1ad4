"""Virtual clocks, and cancellation: an operator that refuses to end is left alone."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from msgspec.structs import replace
from operators import Changed, changed

from asyncwait.conformance.evidence import scenario_of
from asyncwait.conformance.harness import (
    PATIENCE,
    LoopName,
    play,
    run_virtual,
)
from asyncwait.reference import open_operator
from asyncwait.spec import OpenOperator, Record
from asyncwait.spec.scenario import Plan, Scenario, SinkStep, Step, Timed

both_loops = pytest.mark.parametrize("loop", ["asyncio", "trio"])

SCENARIO = Scenario(
    inputs=(Timed(0, Record("a")),),
    plans=(Plan("a", (Step(after=40, results=("x",)),)),),
)


def with_trouble(trouble: Callable[[], Awaitable[Any]]) -> OpenOperator:
    @asynccontextmanager
    async def opened(config: Any, fn: Any, elements: Any, restore: Any = None) -> Any:
        async with open_operator(config, fn, elements, restore) as results:
            await trouble()
            yield results

    return opened


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

    assert run_virtual(lambda _spin: main(), loop) == [("busy", 0), ("timer", 1e-3)]


@both_loops
def test_an_operator_that_spins_is_a_livelock(loop: LoopName) -> None:
    async def spin() -> None:
        await anyio.sleep(0.02)
        while True:
            await anyio.lowlevel.checkpoint()

    ending = play(with_trouble(spin), SCENARIO, loop).legs[0].ending

    assert (ending.how, ending.at) == ("livelock", 20)


# The second call cleans up for 80 ms when it is cancelled.
CALM = scenario_of(
    "0: a b; 40: c; a: 40 gives a1 a2; b: 400 gives b1 with clean_up=80; c: 120 gives c1"
)


def cancellations_seen_by(cancel: Any) -> int:
    seen = 0

    class Stubborn(Changed):
        async def __anext__(self) -> Record:
            nonlocal seen
            loop = asyncio.get_running_loop()
            end = loop.time() + 3
            while loop.time() < end:
                try:
                    await asyncio.sleep(end - loop.time())
                except asyncio.CancelledError:
                    seen += 1
            raise StopAsyncIteration

    play(changed(Stubborn), replace(CALM, cancel_at=40, cancel=cancel))
    return seen


def test_asyncio_cancels_once_and_a_scope_again_and_again() -> None:
    assert cancellations_seen_by("once") == 1
    assert cancellations_seen_by("scope") > 100


async def deaf() -> None:
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


async def spinning() -> None:
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0)


LIMIT = PATIENCE * CALM.horizon + 1_000


@pytest.mark.parametrize(
    ("leaving", "how", "at"), [(deaf, "hung", LIMIT), (spinning, "livelock", None)]
)
def test_an_operator_that_refuses_to_end_is_left_alone(
    leaving: Callable[[], Awaitable[None]], how: str, at: float | None
) -> None:
    (leg,) = play(changed(leaving=leaving), replace(CALM, sink=(SinkStep("leave"),))).legs

    assert leg.ending.how == how
    assert at is None or (leg.ending.at, leg.ending.detail) == (at, "while it is left")
