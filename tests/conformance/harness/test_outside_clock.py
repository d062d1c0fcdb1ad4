"""The virtual clock of a loop in a thread: who waits, what moves it, and what chance can do."""

import asyncio
import random
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

import pytest

from asyncwait.conformance.harness import OutsideVirtualLoop
from asyncwait.reference import open_operator
from asyncwait.spec import CallTimedOut, OperatorConfig, Record

Ask: TypeAlias = Callable[[Coroutine[Any, Any, Any]], Any]


@contextmanager
def running(loop: OutsideVirtualLoop) -> Iterator[Ask]:
    """Run a loop in a thread of its own; what is asked runs on it, and is waited for outside."""
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield lambda coroutine: asyncio.run_coroutine_threadsafe(coroutine, loop).result(30)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def loop() -> OutsideVirtualLoop:
    return OutsideVirtualLoop()


@pytest.fixture
def ask(loop: OutsideVirtualLoop) -> Iterator[Ask]:
    with running(loop) as ask:
        yield ask
    assert loop.awaited == ()


async def now() -> float:
    return asyncio.get_running_loop().time()


def test_time_stands_still_while_nobody_waits(loop: OutsideVirtualLoop, ask: Ask) -> None:
    fired: list[float] = []
    loop.call_soon_threadsafe(loop.call_later, 0.04, lambda: fired.append(loop.time()))
    assert [ask(now()) for _ in range(5)] == [0.0] * 5
    assert fired == []
    ask(asyncio.sleep(0.04))
    assert fired == [0.04]


def test_cancelling_what_is_awaited_frees_who_waits(loop: OutsideVirtualLoop, ask: Ask) -> None:
    queue: asyncio.Queue[str] = asyncio.Queue()

    def cut_short() -> None:
        for task in loop.awaited:
            task.cancel()

    loop.call_soon_threadsafe(loop.call_later, 0.04, cut_short)
    with pytest.raises(CancelledError):
        ask(queue.get())
    loop.call_soon_threadsafe(loop.call_later, 0.04, queue.put_nowait, "late")
    assert ask(queue.get()) == "late"
    assert ask(now()) == 0.08


def play_shaken(seed: int, jitter: random.Random) -> list[tuple[object, ...]]:
    plan, loop = random.Random(seed), OutsideVirtualLoop()
    config = OperatorConfig("unordered", plan.randrange(1, 5), timeout=0.5)
    pauses = [plan.choice([0, 0, 0.04, 0.08, 5]) for _ in range(plan.randrange(1, 12))]
    events: list[tuple[object, ...]] = []

    def note(*event: object) -> None:
        events.append((loop.time(), *event))

    def shake() -> None:
        if jitter.random() < 0.3:
            time.sleep(jitter.choice([1e-5, 1e-4, 5e-4]))

    async def call(number: int) -> list[int]:
        note("call", number)
        shake()
        await asyncio.sleep(pauses[number])
        shake()
        return [number]

    async def source() -> AsyncIterator[Record]:
        for number in range(len(pauses)):
            yield Record(number)

    taken: asyncio.Queue[object] = asyncio.Queue(1)

    async def stream() -> None:
        with suppress(CallTimedOut):
            async with open_operator(config, call, source()) as results:
                async for element in results:
                    await taken.put(element)
        await taken.put(None)

    async def begin() -> asyncio.Task[None]:
        return asyncio.create_task(stream())

    with running(loop) as on_loop:

        def ask(coroutine: Coroutine[Any, Any, Any]) -> Any:
            shake()
            note("asks")
            return on_loop(coroutine)

        ask(begin())
        while (got := ask(taken.get())) is not None:
            note("got", got)
            ask(asyncio.sleep(plan.choice([0, 0.02, 0.3])))
    return events


@pytest.mark.parametrize("seed", range(8))
def test_a_run_is_deterministic_down_to_the_order_of_events(seed: int) -> None:
    runs = [play_shaken(seed, random.Random(f"{seed} {n}")) for n in range(3)]
    assert runs[1] == runs[0]
    assert runs[2] == runs[0]
