"""The emitter between queue and consumer: it peeks, emits, and only then removes."""

from contextlib import suppress
from typing import Any

import anyio
import pytest
from operators import failure_of, seconds_now, turns

from asyncwait.backends.emitter import open_operator
from asyncwait.spec import (
    CallFailed,
    Element,
    LatencyMarker,
    OperatorConfig,
    Record,
    Snapshot,
    Watermark,
)

pytestmark = pytest.mark.anyio

A, B, C = map(Record, "abc")
MARK = Watermark(7)


async def read_to_the_end(parts: Any) -> list[Element]:
    """Take until nothing more comes; the emitter runs meanwhile."""
    out: list[Element] = []
    async with anyio.create_task_group() as group:
        group.start_soon(parts.emitter.run)
        with suppress(StopAsyncIteration):
            while True:
                out.append(await parts.outlet.take())
    return out


async def test_results_come_out_in_order_and_those_of_a_record_together(wired: Any) -> None:
    """Three records with several results and a watermark between them."""
    parts = wired()
    parts.put(A, B, MARK, C)
    parts.complete("c", 5, 6)
    parts.complete("a", 1, 2)
    parts.complete("b", 3, 4)
    parts.queue.end()

    out = await read_to_the_end(parts)

    assert out == [Record(1), Record(2), Record(3), Record(4), MARK, Record(5), Record(6)]
    assert parts.queue.is_empty()


async def test_a_failure_is_told_at_once_with_its_cause() -> None:
    """In the old design it came in its turn; here what was not taken by then stays inside."""

    class Source:
        def __init__(self) -> None:
            self.rest: list[Element] = [A, MARK, B, C]

        def __aiter__(self) -> Any:
            return self

        async def __anext__(self) -> Element:
            if not self.rest:
                raise StopAsyncIteration
            return self.rest.pop(0)

    async def fn(value: str) -> list[str]:
        await anyio.sleep("abc".index(value))
        if value == "b":
            raise ValueError(value)
        return [value]

    async with open_operator(OperatorConfig(), fn, Source()) as results:
        out = [await anext(results), await anext(results)]
        error = await failure_of(results)

    assert out == [A, MARK]
    assert type(error) is CallFailed
    assert str(error) == "Record 'b': the call failed: ValueError('b')"
    assert repr(error.__cause__) == "ValueError('b')"


async def test_a_record_leaves_the_queue_when_its_last_result_was_taken(wired: Any) -> None:
    """Not when it is offered, and not with the first result."""
    parts = wired()
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


async def test_a_record_without_results_is_removed_without_the_consumer(wired: Any) -> None:
    """Nobody would take it."""
    parts = wired()
    parts.put(A, B)
    parts.complete("a")

    async with anyio.create_task_group() as group:
        group.start_soon(parts.emitter.run)
        await turns(5)
        assert parts.queue.values() == (B,)
        group.cancel_scope.cancel()


async def test_what_overtakes_comes_before_what_is_offered(wired: Any) -> None:
    """Requested snapshots first, then what came in; but a record that is half out is finished."""
    parts = wired()
    parts.put(A, B)
    parts.complete("a", 1, 2)
    parts.complete("b", 3)
    out: list[Element] = []

    async with anyio.create_task_group() as group:
        group.start_soon(parts.emitter.run)
        await turns(5)
        parts.outlet.put_ahead(LatencyMarker(1))
        parts.outlet.put_first(Snapshot(8))
        out += [await parts.outlet.take() for _ in range(3)]
        parts.outlet.put_ahead(LatencyMarker(2))
        parts.outlet.put_first(Snapshot(9))
        out += [await parts.outlet.take() for _ in range(4)]
        group.cancel_scope.cancel()

    assert out == [
        Snapshot(8),
        LatencyMarker(1),
        Record(1),
        Record(2),
        Snapshot(9),
        LatencyMarker(2),
        Record(3),
    ]


async def test_no_more_than_the_capacity_may_overtake_untaken(wired: Any) -> None:
    """Who brings one more waits until one was taken; what was requested does not count."""
    parts = wired()
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


async def test_a_second_consumer_is_refused(wired: Any) -> None:
    """The first goes on waiting."""
    parts = wired()

    async with anyio.create_task_group() as group:
        group.start_soon(parts.outlet.take)
        await turns(5)
        with pytest.raises(RuntimeError) as caught:
            await parts.outlet.take()
        parts.outlet.put_ahead(MARK)

    assert str(caught.value) == ("another task waits for the next element; there is one consumer")
