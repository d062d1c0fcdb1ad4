"""Virtual clocks: time moves when all is idle and only then, on both loops."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from asyncwait.conformance.harness import (
    MAX_TURNS,
    PATIENCE,
    LoopName,
    SpinWatch,
    VirtualLoop,
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
    """Run `main` on a virtual clock."""
    return run_virtual(lambda _spin: main(), loop)


def with_trouble(trouble: Callable[[], Awaitable[Any]]) -> OpenOperator:
    """An operator that does `trouble` on entering, before it is a sound one."""

    @asynccontextmanager
    async def opened(config: Any, fn: Any, elements: Any, restore: Any = None) -> Any:
        async with open_operator(config, fn, elements, restore) as results:
            await trouble()
            yield results

    return opened


def leg_of(operator: OpenOperator, loop: LoopName, scenario: Scenario = SCENARIO) -> Leg:
    """The only leg of a run."""
    (leg,) = play(operator, scenario, loop).legs
    return leg


@both_loops
def test_a_sleep_takes_virtual_time_only(loop: LoopName) -> None:
    """A day passes in no time, and lasts exactly a day."""

    async def main() -> float:
        began = anyio.current_time()
        await anyio.sleep(86_400)
        return anyio.current_time() - began

    real = time.perf_counter()
    assert run(main, loop) == 86_400
    assert time.perf_counter() - real < 5


@both_loops
def test_time_stands_still_while_anything_can_run(loop: LoopName) -> None:
    """A task that yields a thousand times does so in one instant, beside a timer that waits."""

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
def test_timers_fire_in_the_order_of_their_times(loop: LoopName) -> None:
    """Whatever order they were set in."""

    async def main() -> list[int]:
        fired: list[int] = []

        async def timer(seconds: int) -> None:
            await anyio.sleep(seconds)
            fired.append(seconds)

        async with anyio.create_task_group() as group:
            for seconds in (5, 1, 3, 2, 4):
                group.start_soon(timer, seconds)
        return fired

    assert run(main, loop) == [1, 2, 3, 4, 5]


@both_loops
def test_a_loop_that_turns_without_end_is_noticed_once(loop: LoopName) -> None:
    """The watch speaks in the turn that is one too many, and the run can be ended then."""

    async def main(spin: SpinWatch) -> int:
        told = 0
        with anyio.CancelScope() as scope:

            def on_spin() -> None:
                nonlocal told
                told += 1
                scope.cancel()

            spin.restart(on_spin)
            while True:
                await anyio.lowlevel.checkpoint()
        return told

    assert run_virtual(main, loop) == 1


@pytest.mark.parametrize("now", [0.0, 1.5])
def test_turns_are_counted_within_one_instant(now: float) -> None:
    """When the clock moves, the count begins anew."""
    watch = SpinWatch()

    first = [watch.turn(now) for _ in range(MAX_TURNS - 1)]
    moved = [watch.turn(now + 1) for _ in range(MAX_TURNS + 1)]

    assert not any(first)
    assert [number for number, over in enumerate(moved, 1) if over] == [MAX_TURNS]


@both_loops
def test_an_operator_that_spins_is_a_livelock(loop: LoopName) -> None:
    """It is ended where it spins, and the trace says when."""

    async def spin() -> None:
        await anyio.sleep(0.02)
        while True:
            await anyio.lowlevel.checkpoint()

    ending = leg_of(with_trouble(spin), loop).ending

    assert (ending.how, ending.at) == ("livelock", 20)


@both_loops
def test_an_operator_that_waits_for_ever_hangs(loop: LoopName) -> None:
    """The limit is a multiple of the longest legal duration, in virtual time."""
    ending = leg_of(with_trouble(anyio.sleep_forever), loop).ending

    assert (ending.how, ending.at) == ("hung", PATIENCE * SCENARIO.horizon + 1_000)


@both_loops
def test_a_call_that_never_answers_hangs_without_a_timeout(loop: LoopName) -> None:
    """The plan itself can ask for it."""
    never = Scenario(inputs=SCENARIO.inputs, plans=(Plan("a", (Step("never"),)),))

    assert leg_of(open_operator, loop, never).ending.how == "hung"


@both_loops
def test_a_sound_operator_leaves_nothing(loop: LoopName) -> None:
    """The census after the context counts what was not there before."""
    leg = leg_of(open_operator, loop)

    assert (leg.ending.how, leg.tasks_left, leg.timers_left) == ("finished", 0, 0)


def test_tasks_that_are_left_are_counted() -> None:
    """A task that outlives its operator is a leak."""
    kept: list[asyncio.Task[Any]] = []

    async def leak() -> None:
        kept.extend(asyncio.create_task(asyncio.Event().wait()) for _ in range(2))

    leg = leg_of(with_trouble(leak), "asyncio")

    assert (leg.ending.how, leg.tasks_left, leg.timers_left) == ("finished", 2, 0)


def test_timers_that_are_left_are_counted() -> None:
    """A timer that outlives its operator is a leak, unless it is cancelled."""

    async def leak() -> None:
        loop = asyncio.get_running_loop()
        for seconds in (60, 61, 62):
            timer = loop.call_later(seconds, print)
        timer.cancel()

    leg = leg_of(with_trouble(leak), "asyncio")

    assert (leg.ending.how, leg.tasks_left, leg.timers_left) == ("finished", 0, 2)


def test_system_tasks_that_are_left_are_counted_on_trio() -> None:
    """On trio only a system task can outlive its operator."""
    import trio

    async def leak() -> None:
        trio.lowlevel.spawn_system_task(trio.sleep_forever)

    assert leg_of(with_trouble(leak), "trio").tasks_left == 1


def test_a_virtual_loop_starts_at_time_zero() -> None:
    """So two runs show the same times."""
    loop = VirtualLoop()
    try:
        assert (loop.time(), loop.pending_timers()) == (0.0, 0)
        loop.call_later(1, print)
        assert loop.pending_timers() == 1
    finally:
        loop.close()


def test_two_runs_of_a_scenario_give_the_same_trace() -> None:
    """A failure can be looked at again; trio alone orders what happens in one instant by chance."""
    assert play(open_operator, SCENARIO) == play(open_operator, SCENARIO)
