"""The parts between source and consumer: queues and the lock, as far as no rule sees them."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from operators import seconds_now, turns

from asyncwait.backends.emitter import (
    CheckpointLock,
    ElementQueue,
    Entry,
    Life,
    OrderedQueue,
    UnorderedQueue,
    open_operator,
)
from asyncwait.spec import (
    Barrier,
    Element,
    OperatorConfig,
    Record,
    Snapshot,
)

pytestmark = pytest.mark.anyio


A, B = map(Record, "ab")


@pytest.mark.parametrize("kind", [OrderedQueue, UnorderedQueue])
async def test_putting_waits_for_room(kind: type[ElementQueue]) -> None:
    """Until something was polled, and in no scope of the task that puts."""
    queue, first = kind(1), Entry.of(A)
    assert queue.try_put(first)
    log: list[tuple[float, bool]] = []

    async def put() -> None:
        with anyio.CancelScope(deadline=1):
            log.append((seconds_now(), await queue.put(Entry.of(B))))

    async with anyio.create_task_group() as group:
        group.start_soon(put)
        await anyio.sleep(3)
        first.outputs = (Record(1),)
        queue.completed(first)
        await anyio.sleep(1)
        assert log == []
        assert queue.poll() is first

    assert log == [(0, True)]
    assert anyio.current_time() == 4
    assert queue.values() == (B,)


class Case:
    """A lock, and what was done under it."""

    def __init__(self) -> None:
        self.life = Life()
        self.lock = CheckpointLock(self.life)
        self.log: list[str] = []

    def step(self, name: str) -> Any:
        """A step that is logged, and tells whether the lock is held."""
        return lambda: self.log.append(f"{name} {'amid' if self.lock.is_held else 'alone'}")


def test_steps_run_in_their_order_when_the_lock_is_released() -> None:
    """All of them, and then whoever waits for the release is told."""
    case = Case()
    case.lock.hold()
    case.lock.on_release = case.step("told")
    case.lock.run(case.step("a"))
    case.lock.run(case.step("b"))

    assert case.log == []
    case.lock.release()
    assert case.log == ["a alone", "b alone", "told alone"]


def test_a_step_that_takes_the_lock_keeps_those_behind_it_waiting() -> None:
    """Until that is released as well."""
    case = Case()
    case.lock.hold()
    case.lock.run(case.lock.hold)
    case.lock.run(case.step("a"))

    case.lock.release()
    assert case.log == []
    case.lock.release()
    assert case.log == ["a alone"]


async def test_waiting_for_a_step_lasts_until_it_has_run() -> None:
    """Whatever scope round the waiting task is cancelled meanwhile."""
    case = Case()
    case.lock.hold()
    ran: list[float] = []

    async def wait() -> None:
        with anyio.CancelScope(deadline=1):
            await case.lock.run_and_wait(case.step("a"))
            ran.append(seconds_now())

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        await anyio.sleep(3)
        assert case.log == []
        case.lock.release()

    assert case.log == ["a alone"]
    assert ran == [3]


async def test_nobody_waits_for_a_step_of_an_operator_that_is_over() -> None:
    """It never runs."""
    case = Case()
    case.lock.hold()

    async with anyio.create_task_group() as group:
        group.start_soon(case.lock.run_and_wait, case.step("a"))
        await anyio.sleep(1)
        case.life.leave()

    assert case.log == []


async def twice(value: int) -> list[int]:
    """Give two results."""
    return [value, value]


async def test_a_consumer_that_takes_on_and_on_starves_no_barrier() -> None:
    """What waits for the lock comes before the next record."""

    async def source() -> AsyncIterator[Element]:
        for number in range(9):
            yield Record(number)
            if number == 4:
                await turns(50)
                yield Barrier(1)

    async with open_operator(OperatorConfig("ordered", 20), twice, source()) as results:
        out = [await anext(results)]
        await turns(99)
        out += [element async for element in results]

    place = out.index(next(element for element in out if isinstance(element, Snapshot)))
    assert place == 2
    assert out[place] == Snapshot(1, tuple(map(Record, range(1, 5))))
