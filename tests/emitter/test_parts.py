"""The parts between source and consumer: queues, lock and emitter, wired by hand."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from operators import seconds_now, turns

from asyncwait.backends.emitter import (
    CheckpointLock,
    ElementQueue,
    Emitter,
    Entry,
    Life,
    OrderedQueue,
    Outlet,
    UnorderedQueue,
    open_operator,
)
from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    OperatorConfig,
    Record,
    Snapshot,
    Stored,
)

pytestmark = pytest.mark.anyio


@dataclass
class Wired:
    """An emitter between a queue and an outlet, without what fills the one and completes.

    Attributes:
        entries: what was put, by the value of the record, or the element itself.
    """

    queue: ElementQueue = field(default_factory=lambda: OrderedQueue(9))
    entries: dict[object, Entry] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.life = Life()
        self.lock = CheckpointLock(self.life)
        self.outlet = Outlet(self.life, self.lock, 3)
        self.emitter = Emitter(self.queue, self.outlet, self.lock, self.life)

    def put(self, *elements: Stored) -> list[bool]:
        """Try to put each element; return which found room."""
        put: list[bool] = []
        for element in elements:
            entry = Entry.of(element)
            name = element.value if isinstance(element, Record) else element
            self.entries[name] = entry
            put.append(self.queue.try_put(entry))
        return put

    def complete(self, name: object, *results: object) -> None:
        """Complete a record with results."""
        entry = self.entries[name]
        entry.outputs = tuple(map(Record, results))
        self.queue.completed(entry)

    def poll(self) -> object:
        """Take the next entry out; return its name, None for none."""
        entry = self.queue.poll()
        if entry is None:
            return None
        return entry.element.value if isinstance(entry.element, Record) else entry.element


A, B, C = map(Record, "abc")

each_queue = pytest.mark.parametrize("kind", [OrderedQueue, UnorderedQueue])


@each_queue
async def test_putting_waits_for_room(kind: type[ElementQueue]) -> None:
    """Until something was polled, and in no scope of the task that puts."""
    parts = Wired(kind(1))
    parts.put(A)
    log: list[tuple[float, bool]] = []

    async def put() -> None:
        with anyio.CancelScope(deadline=1):
            log.append((seconds_now(), await parts.queue.put(Entry.of(B))))

    async with anyio.create_task_group() as group:
        group.start_soon(put)
        await anyio.sleep(3)
        parts.complete("a", 1)
        await anyio.sleep(1)
        assert log == []
        assert parts.poll() == "a"

    assert log == [(0, True)]
    assert anyio.current_time() == 4
    assert parts.queue.values() == (B,)


@each_queue
async def test_closing_lets_go_of_whoever_waits(kind: type[ElementQueue]) -> None:
    """For room or for an entry; nothing is in it and nothing finds room any more."""
    parts = Wired(kind(1))
    parts.put(A)
    log: list[object] = []

    async def put() -> None:
        log.append(await parts.queue.put(Entry.of(B)))

    async def peek() -> None:
        log.append(await parts.queue.peek_blockingly())

    async with anyio.create_task_group() as group:
        group.start_soon(put)
        group.start_soon(peek)
        await anyio.sleep(1)
        parts.queue.close()

    assert sorted(log, key=str) == [False, None]
    assert (parts.queue.size(), parts.queue.records(), parts.queue.values()) == (0, 0, ())
    parts.complete("a", 1)
    assert (parts.poll(), parts.put(C)) == (None, [False])


@each_queue
async def test_an_ended_queue_gives_nothing_when_it_is_empty(kind: type[ElementQueue]) -> None:
    """Not before: what is in it still comes out."""
    parts = Wired(kind(3))
    parts.put(A)
    parts.queue.end()
    parts.complete("a", 1)

    assert await parts.queue.peek_blockingly() is parts.entries["a"]
    parts.queue.poll()
    assert await parts.queue.peek_blockingly() is None


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


A, B, C = map(Record, "abc")


async def test_a_record_leaves_the_queue_when_its_last_result_was_taken() -> None:
    """Not when it is offered, and not with the first result."""
    parts = Wired()
    parts.put(A)
    parts.complete("a", 1, 2)

    async with anyio.create_task_group() as group:
        group.start_soon(parts.emitter.run)
        await turns(5)
        assert (parts.queue.size(), parts.lock.is_held) == (1, False)
        assert await parts.outlet.take() == Record(1)
        await turns(5)
        assert (parts.queue.size(), parts.lock.is_held) == (1, True)
        assert await parts.outlet.take() == Record(2)
        assert (parts.queue.size(), parts.outlet.lingering()) == (1, 1)
        await turns(5)
        assert (parts.queue.size(), parts.lock.is_held) == (0, False)
        group.cancel_scope.cancel()


async def test_no_more_than_the_capacity_may_overtake_untaken() -> None:
    """Who brings one more waits until one was taken; what was requested does not count."""
    parts = Wired()
    log: list[float] = []

    async def overtake() -> None:
        for number in range(4):
            await parts.outlet.overtake(LatencyMarker(number))
            log.append(seconds_now())

    async with anyio.create_task_group() as group:
        for number in range(9):
            parts.outlet.put_first(Snapshot(number))
        group.start_soon(overtake)
        await anyio.sleep(1)
        assert len(log) == 3
        out = [await parts.outlet.take() for _ in range(10)]

    assert out == [*map(Snapshot, range(9)), LatencyMarker(0)]
    assert log == [0, 0, 0, 1]
