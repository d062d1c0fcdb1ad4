"""Threads that take turns: which one goes on, and what it waits for."""

from collections.abc import Callable
from typing import Never

import anyio
import pytest

from asyncwait.backends.flink._stage import Ended, Stage
from asyncwait.backends.pyflink import open_operator
from asyncwait.backends.pyflink._threading import Condition, Lock
from asyncwait.toolkit import plain_wait


class Clock:
    def __init__(self) -> None:
        self.now = 0.0
        self.calls: dict[object, tuple[float, Callable[[], object]]] = {}

    def time(self) -> float:
        return self.now

    def register(self, when: float, callback: Callable[[], object]) -> object:
        key = object()
        self.calls[key] = (when, callback)
        return key

    def cancel(self, key: object) -> None:
        self.calls.pop(key, None)

    def ring(self) -> None:
        key = min(self.calls, key=lambda key: self.calls[key][0])
        self.now, callback = self.calls.pop(key)
        callback()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def stage(clock: Clock) -> Stage:
    return Stage(clock.time, clock, lambda: None)  # type: ignore[arg-type]


def test_a_thread_runs_until_it_waits(stage: Stage) -> None:
    said, is_open = [], []

    def first() -> None:
        said.append("first")
        stage.wait(lambda: bool(is_open))
        said.append("first goes on")

    stage.start(first)
    stage.start(lambda: (said.append("second"), is_open.append(True)))

    assert stage.run()
    assert said == ["first", "second", "first goes on"]
    assert not stage.run()


def test_a_thread_that_is_ended_goes_no_further(stage: Stage) -> None:
    raised = []

    def waits() -> None:
        try:
            stage.wait(lambda: False)
        except Ended:
            raised.append(True)
            raise

    stage.start(waits)
    stage.run()
    stage.end()

    assert raised == [True]


def test_what_a_thread_asks_for_is_called_by_the_loop(stage: Stage) -> None:
    said = []

    def fails() -> Never:
        raise ValueError("asked")

    def asks() -> None:
        try:
            stage.ask(fails)
        except ValueError as error:
            said.append(str(error))

    stage.start(asks)
    stage.run()

    assert said == ["asked"]


def test_who_polls_is_not_woken_while_nothing_happens(stage: Stage, clock: Clock) -> None:
    looks, room = [], []

    def polls() -> None:
        lock = Lock()
        full = Condition(lock)
        with full:
            while not room:
                full.wait(1)
                looks.append(clock.now)

    stage.start(polls)
    stage.run()
    assert clock.calls == {}

    clock.now = 7.25
    stage.start(lambda: room.append(True))
    stage.run()
    clock.ring()
    stage.run()
    assert looks == [8.0]


def test_an_operator_runs_on_a_real_clock() -> None:
    async def double(value: int) -> int:
        await anyio.sleep(0.01)
        return 2 * value

    async def main() -> list[int]:
        async with plain_wait(open_operator, "ordered")(range(5), double, capacity=2) as results:
            return [result async for result in results]

    assert anyio.run(main) == [0, 2, 4, 6, 8]
