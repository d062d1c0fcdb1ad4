"""The two queues, from both sides: who puts waits for room, who peeks for what is completed."""

from typing import Any

import anyio
import pytest
from operators import seconds_now

from asyncwait.backends.emitter import ElementQueue, Entry, OrderedQueue, UnorderedQueue
from asyncwait.spec import Record, Watermark, WatermarkStatus

A, B, C, D, E, F = map(Record, "abcdef")
MARK, IDLE = Watermark(7), WatermarkStatus(idle=True)

each_queue = pytest.mark.parametrize("kind", [OrderedQueue, UnorderedQueue])


@each_queue
def test_a_queue_takes_as_many_entries_as_its_capacity(
    wired: Any, kind: type[ElementQueue]
) -> None:
    """A watermark has a slot like a record, and what is stored is in input order."""
    parts = wired(kind(2))

    assert parts.queue.is_empty()
    assert parts.put(MARK, A, B) == [True, True, False]
    assert not parts.queue.is_empty()
    assert (parts.queue.size(), parts.queue.records()) == (2, 1)
    assert parts.queue.values() == (MARK, A)


@each_queue
def test_a_watermark_may_come_out_at_once_and_a_record_when_it_is_completed(
    wired: Any, kind: type[ElementQueue]
) -> None:
    """The size follows."""
    parts = wired(kind(2))
    parts.put(MARK, A)

    assert (parts.poll(), parts.poll(), parts.queue.size()) == (MARK, None, 1)
    parts.complete("a", 1)
    assert (parts.poll(), parts.poll(), parts.queue.size()) == ("a", None, 0)
    assert parts.queue.is_empty()


@each_queue
def test_what_is_polled_makes_room(wired: Any, kind: type[ElementQueue]) -> None:
    """What is completed does not: it holds its slot until it is out."""
    parts = wired(kind(1))
    parts.put(A)
    parts.complete("a", 1)

    assert parts.put(B) == [False]
    assert parts.poll() == "a"
    assert parts.put(B) == [True]
    assert parts.queue.values() == (B,)


@each_queue
def test_watermarks_that_are_alone_come_out_in_order(wired: Any, kind: type[ElementQueue]) -> None:
    """Two in a row are two."""
    parts = wired(kind(2))
    parts.put(Watermark(9), Watermark(5))

    assert [parts.poll(), parts.poll(), parts.poll()] == [Watermark(9), Watermark(5), None]


@each_queue
def test_fences_come_out_behind_what_stands_before_them(
    wired: Any, kind: type[ElementQueue]
) -> None:
    """Watermarks and statuses alike, and all of them count."""
    parts = wired(kind(4))
    parts.put(A, MARK, IDLE, WatermarkStatus(idle=False))

    assert (parts.poll(), parts.queue.size()) == (None, 4)
    parts.complete("a", 1)
    polled = [parts.poll() for _ in range(5)]
    assert polled == ["a", MARK, IDLE, WatermarkStatus(idle=False), None]


def test_the_ordered_queue_lets_nothing_out_before_its_head(wired: Any) -> None:
    """Completing the second and the fourth gives nothing, completing the first gives three."""
    parts = wired(OrderedQueue(4))
    parts.put(A, B, MARK, D)
    parts.complete("b", 1)
    parts.complete("d", 1)

    assert parts.poll() is None
    parts.complete("a", 1)
    assert [parts.poll() for _ in range(5)] == ["a", "b", MARK, "d", None]


def test_the_unordered_queue_goes_through_its_sets(wired: Any) -> None:
    """What is completed in a later set waits until that is the first one."""
    parts = wired(UnorderedQueue(8))
    first, second = Watermark(1), Watermark(2)
    parts.put(A, B, first, C, D, second, E, F)

    parts.complete("d", 1)
    parts.complete("f", 1)
    assert parts.poll() is None
    parts.complete("b", 1)
    assert [parts.poll(), parts.poll()] == ["b", None]
    parts.complete("a", 1)
    assert [parts.poll() for _ in range(4)] == ["a", first, "d", None]
    assert parts.queue.values() == (C, second, E, F)
    parts.complete("c", 1)
    assert [parts.poll() for _ in range(4)] == ["c", second, "f", None]
    parts.complete("e", 1)
    assert [parts.poll(), parts.poll()] == ["e", None]
    assert parts.queue.is_empty()


def test_the_unordered_queue_gives_out_in_the_order_of_completion(wired: Any) -> None:
    """And still stores what it holds in input order."""
    parts = wired(UnorderedQueue(4))
    parts.put(A, B, C, D)
    for name in "dbc":
        parts.complete(name, 1)

    assert parts.queue.values() == (A, B, C, D)
    assert [parts.poll() for _ in range(4)] == ["d", "b", "c", None]
    assert parts.queue.values() == (A,)


@each_queue
def test_peeking_leaves_the_entry_where_it_is(wired: Any, kind: type[ElementQueue]) -> None:
    """However often."""
    parts = wired(kind(2))
    parts.put(A)

    assert parts.queue.peek() is None
    parts.complete("a", 1)
    assert parts.queue.peek() is parts.queue.peek() is parts.entries["a"]
    assert parts.queue.values() == (A,)


@pytest.mark.anyio
@each_queue
async def test_putting_waits_for_room(wired: Any, kind: type[ElementQueue]) -> None:
    """Until something was polled, and in no scope of the task that puts."""
    parts = wired(kind(1))
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


@pytest.mark.anyio
@each_queue
async def test_closing_lets_go_of_whoever_waits(wired: Any, kind: type[ElementQueue]) -> None:
    """For room or for an entry; nothing is in it and nothing finds room any more."""
    parts = wired(kind(1))
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


@pytest.mark.anyio
@each_queue
async def test_peeking_blockingly_waits_for_a_completion(
    wired: Any, kind: type[ElementQueue]
) -> None:
    """And for a fence, which is completed when it is put."""
    parts = wired(kind(3))
    log: list[object] = []

    async def emit() -> None:
        for _ in range(2):
            entry = await parts.queue.peek_blockingly()
            assert parts.queue.poll() is entry
            log.append((seconds_now(), entry.element))

    async with anyio.create_task_group() as group:
        group.start_soon(emit)
        await anyio.sleep(1)
        parts.put(MARK, A)
        await anyio.sleep(1)
        parts.complete("a", 1)

    assert log == [(1, MARK), (2, A)]


@pytest.mark.anyio
@each_queue
async def test_an_ended_queue_gives_nothing_when_it_is_empty(
    wired: Any, kind: type[ElementQueue]
) -> None:
    """Not before: what is in it still comes out."""
    parts = wired(kind(3))
    parts.put(A)
    parts.queue.end()
    parts.complete("a", 1)

    assert await parts.queue.peek_blockingly() is parts.entries["a"]
    parts.queue.poll()
    assert await parts.queue.peek_blockingly() is None
