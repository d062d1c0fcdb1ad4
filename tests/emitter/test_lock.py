"""The checkpoint lock, and the snapshots that are taken under it."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from operators import Sleeper, Source, seconds_now, turns

from asyncwait.backends.emitter import CheckpointLock, Life, open_operator
from asyncwait.spec import (
    MODES,
    Barrier,
    Element,
    Mode,
    OperatorConfig,
    Record,
    Snapshot,
    Watermark,
)

pytestmark = pytest.mark.anyio


class Case:
    """A lock, and what was done under it."""

    def __init__(self) -> None:
        self.life = Life()
        self.lock = CheckpointLock(self.life)
        self.log: list[str] = []

    def step(self, name: str) -> Any:
        """A step that is logged, and tells whether the lock is held."""
        return lambda: self.log.append(f"{name} {'amid' if self.lock.is_held else 'alone'}")


def test_a_step_runs_at_once_if_nobody_holds_the_lock() -> None:
    """It is alone anyway."""
    case = Case()

    case.lock.run(case.step("a"))

    assert case.log == ["a alone"]


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


async def pair(value: str) -> list[str]:
    """Give two results."""
    return [value, value.upper()]


async def twice(value: int) -> list[int]:
    """Give two results."""
    return [value, value]


@pytest.mark.parametrize("mode", MODES)
async def test_the_snapshot_of_a_barrier_waits_for_a_record_that_is_half_out(mode: Mode) -> None:
    """It does not hold that, and nothing is read meanwhile."""
    source = Source("a", 1, Barrier(1), "b")

    async with open_operator(OperatorConfig(mode), pair, source) as results:
        first = await anext(results)
        await anyio.sleep(2)
        figures = results.statistics()
        out = [first, *[element async for element in results]]

    assert out == [*map(Record, "aA"), Snapshot(1), *map(Record, "bB")]
    assert (figures.calls, figures.in_flight) == (1, 1)


async def test_a_request_amid_a_record_is_answered_behind_it() -> None:
    """It holds what was read by then, and says how much that was."""
    source = Source("a", "b", 99)

    async with open_operator(OperatorConfig(), pair, source) as results:
        out = [await anext(results)]
        results.request_snapshot(7)
        out += [await anext(results) for _ in range(2)]

    assert out == [*map(Record, "aA"), Snapshot(7, (Record("b"),), 2)]


@pytest.mark.parametrize("mode", MODES)
async def test_the_element_that_waits_for_room_is_stored(mode: Mode) -> None:
    """Explicitly: it is in no queue, and there is one more than the capacity."""
    source = Source("a9", Watermark(1), "b9", "c9")

    async with open_operator(OperatorConfig(mode, 2), Sleeper(), source) as results:
        await anyio.sleep(1)
        results.request_snapshot(7)
        snapshot = await anext(results)

    assert snapshot == Snapshot(7, (Record("a9"), Watermark(1), Record("b9")), 3)


async def test_a_full_snapshot_with_one_more_is_restored_into_a_smaller_operator() -> None:
    """The emitter runs while there is no room for all of it."""
    stored = Snapshot(1, (Record("a3"), Record("b1"), Watermark(5), Record("c1")))
    began: list[tuple[float, str]] = []

    class Noting(Sleeper):
        async def __call__(self, value: str) -> list[str]:
            began.append((seconds_now(), value))
            return await super().__call__(value)

    async with open_operator(
        OperatorConfig("ordered", 1), Noting(), Source("d1"), stored
    ) as results:
        out = [element async for element in results]

    assert out == [Record("a3"), Record("b1"), Watermark(5), Record("c1"), Record("d1")]
    assert began == [(0, "a3"), (3, "b1"), (4, "c1"), (5, "d1")]


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
