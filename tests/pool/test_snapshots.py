"""Barriers, snapshots on demand, and what is restored from them."""

from typing import Any

import anyio
import pytest

from asyncwait.backends.pool import open_operator
from asyncwait.spec import (
    Barrier,
    LatencyMarker,
    OperatorConfig,
    Record,
    Snapshot,
    SnapshotOnDemand,
    Statistics,
    Stored,
    Watermark,
    WatermarkStatus,
)

pytestmark = pytest.mark.anyio


def records(*values: str) -> tuple[Record, ...]:
    """Records with nothing but a value."""
    return tuple(Record(value) for value in values)


async def test_running_calls_do_not_delay_a_snapshot(feed: Any, sleeper: Any, read: Any) -> None:
    """It comes when its barrier is read, and holds the inputs that are not out yet."""
    source = feed("a9", Watermark(4), "b1", 2, Barrier(7), "c1")

    async with open_operator(OperatorConfig(), sleeper, source) as results:
        out = await read(results)

    held = (Record("a9"), Watermark(4), Record("b1"))
    assert out[0] == (2, Snapshot(7, held))
    assert [element for _, element in out[1:]] == ["a9", Watermark(4), "b1", "c1"]


async def test_a_snapshot_comes_before_finished_results_that_wait(feed: Any, sleeper: Any) -> None:
    """What is in it comes out after it, finished or not, with timestamp and key."""
    first = Record("a1", 5, "key")

    async with open_operator(
        OperatorConfig(), sleeper, feed(first, "b1", 2, Barrier(7))
    ) as results:
        await anyio.sleep(5)
        out = results.take_ready(9)

    assert out == [Snapshot(7, (first, Record("b1"))), first, Record("b1")]


async def test_a_snapshot_does_not_part_the_results_of_a_record(feed: Any) -> None:
    """A record that is partly handed out is handed out first, and is not in the snapshot."""

    async def pair(value: str) -> list[str]:
        return [value, value.upper()]

    async with open_operator(OperatorConfig(), pair, feed("a", "b", 1, Barrier(7))) as results:
        first = await anext(results)
        await anyio.sleep(2)
        rest = results.take_ready(9)

    assert [first, *rest] == [*records("a", "A"), Snapshot(7, records("b")), *records("b", "B")]


async def test_a_barrier_behind_a_record_that_waits_for_room_waits_with_it(
    feed: Any, sleeper: Any, read: Any
) -> None:
    """It is handled when it is read, and it is read after that record's admission."""
    source = feed("a3", "b9", Barrier(7))

    async with open_operator(OperatorConfig("ordered", 1), sleeper, source) as results:
        out = await read(results)

    assert out == [(3, "a3"), (3, Snapshot(7, records("b9"))), (12, "b9")]


async def test_in_flight_is_in_input_order_in_unordered_mode_too(
    feed: Any, sleeper: Any, read: Any
) -> None:
    """With multiplicity, fences among the records, and without latency markers."""
    idle = WatermarkStatus(idle=True)
    source = feed("a9", "b2", "a9", LatencyMarker(1), idle, "c1", "d1", 3, Barrier(7))

    async with open_operator(OperatorConfig("unordered"), sleeper, source) as results:
        out = await read(results)

    held: tuple[Stored, ...] = (*records("a9", "a9"), idle, *records("c1", "d1"))
    assert out[:3] == [(0, LatencyMarker(1)), (2, "b2"), (3, Snapshot(7, held))]


async def test_a_snapshot_that_comes_in_is_a_barrier_and_is_carried_along(
    feed: Any, sleeper: Any, read: Any
) -> None:
    """So that the snapshot of a chain is whole."""
    upstream = Snapshot(7, records("z1"))

    async with open_operator(OperatorConfig(), sleeper, feed("a1", upstream)) as results:
        out = await read(results)

    assert out == [(0, Snapshot(7, records("a1"), upstream=upstream)), (1, "a1")]


async def test_a_snapshot_on_demand_comes_next_though_there_is_no_room(
    feed: Any, sleeper: Any
) -> None:
    """It holds the record that waits for room, too, and says how much was read."""
    source = feed(LatencyMarker(1), "a1", "b1", "c1", "d1")

    async with open_operator(OperatorConfig("ordered", 2), sleeper, source) as results:
        assert isinstance(results, SnapshotOnDemand)
        await anyio.sleep(5)
        marker = await anext(results)
        results.request_snapshot(7)
        results.request_snapshot(8)
        out = results.take_ready(3)

    assert marker == LatencyMarker(1)
    assert out == [
        Snapshot(7, records("a1", "b1", "c1"), read=4),
        Snapshot(8, records("a1", "b1", "c1"), read=4),
        Record("a1"),
    ]


async def test_a_snapshot_on_demand_wakes_the_waiting_consumer(
    feed: Any, sleeper: Any, read: Any
) -> None:
    """It does not wait for the next result."""
    async with (
        open_operator(OperatorConfig(), sleeper, feed("a9")) as results,
        anyio.create_task_group() as group,
    ):
        group.start_soon(_request_at, 2, results)
        out = await read(results)

    assert out == [(2, Snapshot(7, records("a9"), read=1)), (9, "a9")]


async def _request_at(seconds: float, results: Any) -> None:
    await anyio.sleep(seconds)
    results.request_snapshot(7)


async def test_after_the_end_and_after_a_failure_nothing_is_snapshotted(
    feed: Any, sleeper: Any, read: Any
) -> None:
    """A request then does nothing."""
    async with open_operator(OperatorConfig(), sleeper, feed("a1")) as ended:
        await read(ended)
        ended.request_snapshot(7)
        after_the_end = await read(ended)
    async with open_operator(OperatorConfig(), sleeper, feed("x!")) as failed:
        await anyio.sleep(1)
        failed.request_snapshot(7)
        after_failure = failed.take_ready(1)
    failed.request_snapshot(7)

    assert after_the_end == []
    assert after_failure == failed.take_ready(1) == []


async def test_stored_elements_go_first_and_are_called_afresh(
    feed: Any, sleeper: Any, read: Any
) -> None:
    """With a full timeout, in order, never above capacity, before anything new is called."""
    stored = Snapshot(7, (Record("a2"), Watermark(3), Record("b2"), Record("c2")))
    source = feed("d2")

    async with open_operator(OperatorConfig("ordered", 2, 3), sleeper, source, stored) as results:
        await anyio.sleep(1)
        early = (source.taken, results.statistics())
        out = await read(results)

    assert early == (0, Statistics(in_flight=1, calls=1, max_in_flight=1, oldest=1))
    assert out == [(2, "a2"), (2, Watermark(3)), (4, "b2"), (4, "c2"), (6, "d2")]
    assert sleeper.began == [(0, "a2"), (2, "b2"), (2, "c2"), (4, "d2")]


async def test_a_snapshot_on_demand_while_restoring_holds_all_that_is_left(
    feed: Any, sleeper: Any
) -> None:
    """What was stored and has not been admitted yet is in it, and was not read."""
    stored = Snapshot(6, records("a1", "b1", "c1"))

    async with open_operator(OperatorConfig("ordered", 1), sleeper, feed("d1"), stored) as results:
        results.request_snapshot(7)
        first = await anext(results)
        assert await anext(results) == Record("a1")
        results.request_snapshot(8)
        second = await anext(results)

    assert first == Snapshot(7, records("a1", "b1", "c1"), read=0)
    assert second == Snapshot(8, records("b1", "c1"), read=0)


async def test_a_snapshot_taken_before_anything_was_called_is_the_restored_one(
    feed: Any, sleeper: Any, read: Any
) -> None:
    """Restoring and taking a snapshot at once changes nothing."""
    stored = Snapshot(6, (Record("a1"), Watermark(1), Record("b1")))

    async with open_operator(
        OperatorConfig("unordered"), sleeper, feed(Barrier(7)), stored
    ) as results:
        out = await read(results)

    assert out[0] == (0, Snapshot(7, stored.in_flight))
