"""Snapshots by barrier and on request, and what is restored from them."""

from typing import Any

import anyio
import pytest

from asyncwait.reference import open_operator
from asyncwait.spec import (
    Barrier,
    LatencyMarker,
    Mode,
    OperatorConfig,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)

pytestmark = pytest.mark.anyio


class Service:
    """Replies after so many seconds with the value itself; notes when calls begin."""

    def __init__(self) -> None:
        self.begun: list[tuple[float, Any]] = []

    async def __call__(self, seconds: float) -> list[float]:
        """Reply."""
        self.begun.append((anyio.current_time(), seconds))
        await anyio.sleep(seconds)
        return [seconds]


@pytest.fixture
def service() -> Service:
    """A fresh service."""
    return Service()


@pytest.mark.parametrize("mode", ["ordered", "unordered"])
async def test_a_barrier_gives_a_snapshot_of_everything_before_it(
    feed: Any, read: Any, service: Service, mode: Mode
) -> None:
    """Finished or not, in input order, with multiplicity, and at once."""
    before = (Record(1, 4, "k"), Watermark(4), Record(9), Record(1, 5), Record(9))
    idle = WatermarkStatus(idle=True)
    source = feed(*before, LatencyMarker(3), idle, 2, Barrier(7), Record(0))

    async with open_operator(OperatorConfig(mode), service, source) as results:
        output = await read(results)

    expected = Snapshot(7, (*before[2:], idle))
    assert output[:4] == [
        (0, LatencyMarker(3)),
        (1, Record(1, 4, "k")),
        (1, Watermark(4)),
        output[3],
    ]
    snapshots = [(time, element) for time, element in output if isinstance(element, Snapshot)]
    if mode == "unordered":
        assert output[3] == (1, Record(1, 5))
        expected = Snapshot(7, (Record(9), Record(9), idle))
    assert snapshots == [(2, expected)]


async def test_an_empty_operator_gives_an_empty_snapshot(feed: Any, read: Any) -> None:
    """There is a Snapshot for each barrier, whatever else there is."""
    source = feed(Barrier(1), Barrier(2))

    async with open_operator(OperatorConfig(), Service(), source) as results:
        assert await read(results) == [(0, Snapshot(1)), (0, Snapshot(2))]


async def test_a_barrier_waits_behind_an_element_that_waits_for_room(
    feed: Any, read: Any, service: Service
) -> None:
    """That element is then in the snapshot, as it was read before the barrier."""
    source = feed(Record(2), Record(3), Barrier(1))

    async with open_operator(OperatorConfig("ordered", 1), service, source) as results:
        assert await read(results) == [
            (2, Record(2)),
            (2, Snapshot(1, (Record(3),))),
            (5, Record(3)),
        ]


async def test_nothing_from_behind_a_barrier_comes_before_its_snapshot(feed: Any) -> None:
    """Though the consumer came late, and the snapshot has overtaken what was before it."""
    source = feed(Record(0), Barrier(1), Record(0, 5), LatencyMarker(2))

    async with open_operator(OperatorConfig("unordered"), Service(), source) as results:
        await anyio.sleep(1)
        assert [element async for element in results] == [
            Snapshot(1, (Record(0),)),
            LatencyMarker(2),
            Record(0),
            Record(0, 5),
        ]


async def test_a_snapshot_in_place_of_a_barrier_is_carried_along(feed: Any, read: Any) -> None:
    """The operator before this one has put it out; together they are the state of the chain."""
    upstream = Snapshot(3, (Record("other"),), upstream=Snapshot(3))

    async with open_operator(OperatorConfig(), Service(), feed(Record(1), upstream)) as results:
        assert await read(results) == [
            (0, Snapshot(3, (Record(1),), upstream=upstream)),
            (1, Record(1)),
        ]


async def test_a_snapshot_on_request_comes_next_and_holds_what_waits_for_room(
    feed: Any, service: Service
) -> None:
    """The operator is full: one record runs, one waits, and a third has not been read."""
    source = feed(Record(5), Record(6), Record(7))

    async with open_operator(OperatorConfig("ordered", 1), service, source) as results:
        await anyio.sleep(1)
        results.request_snapshot(42)
        assert await anext(results) == Snapshot(42, (Record(5), Record(6)), read=2)
        assert anyio.current_time() == 1


async def test_a_snapshot_on_request_comes_after_the_rest_of_a_record(feed: Any) -> None:
    """And before everything that waits for the consumer, except earlier snapshots."""

    async def two(value: str) -> list[str]:
        return [value + "1", value + "2"]

    source = feed(Record("a"), Record("b"), 1, LatencyMarker(1), Barrier(1))
    async with open_operator(OperatorConfig(), two, source) as results:
        assert await anext(results) == Record("a1")
        await anyio.sleep(2)
        results.request_snapshot(2)
        results.request_snapshot(3)
        assert [element async for element in results] == [
            Record("a2"),
            Snapshot(2, (Record("b"),), read=4),
            Snapshot(3, (Record("b"),), read=4),
            LatencyMarker(1),
            Snapshot(1, (Record("b"),)),
            Record("b1"),
            Record("b2"),
        ]


async def test_a_snapshot_can_be_requested_until_the_consumer_was_told_the_end(feed: Any) -> None:
    """After that nothing happens."""
    async with open_operator(OperatorConfig(), Service(), feed(Record(0))) as results:
        await anext(results)
        results.request_snapshot(1)
        assert await anext(results) == Snapshot(1, (), read=1)
        with pytest.raises(StopAsyncIteration):
            await anext(results)
        results.request_snapshot(2)
        with pytest.raises(StopAsyncIteration):
            await anext(results)


async def test_stored_elements_are_processed_before_new_ones(
    feed: Any, read: Any, service: Service
) -> None:
    """Called afresh, with timestamps and fences, and never above the capacity."""
    stored = Snapshot(1, (Record(2, 8, "k"), Record(1), Watermark(5), Record(2)))

    async with open_operator(
        OperatorConfig("ordered", 2), service, feed(Record(0)), stored
    ) as results:
        assert await read(results) == [
            (2, Record(2, 8, "k")),
            (2, Record(1)),
            (2, Watermark(5)),
            (4, Record(2)),
            (4, Record(0)),
        ]

    assert service.begun == [(0, 2), (0, 1), (2, 2), (2, 0)]


async def test_nothing_is_read_before_all_that_was_stored_is_admitted(service: Service) -> None:
    """Stored elements would otherwise wait behind an element that waits."""
    taken: list[float] = []

    async def source() -> Any:
        taken.append(anyio.current_time())
        yield Record(1)

    stored = Snapshot(1, (Record(2), Record(3), Record(4)))
    async with open_operator(OperatorConfig("ordered", 1), service, source(), stored) as results:
        assert [element.value async for element in results] == [2, 3, 4, 1]

    assert taken == [5]


async def test_stored_records_get_a_full_timeout(feed: Any) -> None:
    """It starts with their call in this run, which for the second one is at 2."""
    asked: list[float] = []

    async def hang(value: str) -> list[str]:
        await anyio.sleep_forever()
        return []

    def timeout(value: str) -> list[str]:
        asked.append(anyio.current_time())
        return []

    hang.timeout = timeout  # type: ignore[attr-defined]
    stored = Snapshot(1, (Record("a"), Record("b")))
    async with open_operator(OperatorConfig("ordered", 1, 2), hang, feed(), stored) as results:
        assert [element async for element in results] == []

    assert asked == [2, 4]


async def test_a_snapshot_on_request_while_restoring_holds_what_is_still_stored(
    feed: Any, service: Service
) -> None:
    """What was admitted, then what was not, and nothing counts as read from the source."""
    stored = Snapshot(1, (Record(1), Record(5), Watermark(6), Record(7)))

    async with open_operator(
        OperatorConfig("ordered", 1), service, feed(Record(0)), stored
    ) as results:
        assert await anext(results) == Record(1)
        await anyio.sleep(1)
        results.request_snapshot(2)
        assert await anext(results) == Snapshot(2, (Record(5), Watermark(6), Record(7)), read=0)


@pytest.mark.parametrize("mode", ["ordered", "unordered"])
async def test_a_snapshot_restores_in_the_other_mode_and_with_less_room(
    feed: Any, mode: Mode
) -> None:
    """What is kept of both runs is each input once."""
    other: Mode = "unordered" if mode == "ordered" else "ordered"
    source = feed(Record(3), Record(1), Watermark(9), Record(2), 2, Barrier(1), Record(0))
    kept: list[Any] = []

    async with open_operator(OperatorConfig(mode, 9), Service(), source) as results:
        async for element in results:
            if isinstance(element, Snapshot):
                break
            kept.append(element)
    async with open_operator(
        OperatorConfig(other, 1), Service(), feed(Record(0)), element
    ) as results:
        kept += [element async for element in results]

    assert sorted(e.value for e in kept if isinstance(e, Record)) == [0, 1, 2, 3]
    assert [e for e in kept if isinstance(e, Watermark)] == [Watermark(9)]
    assert {e.value for e in kept[: kept.index(Watermark(9))]} == {1, 3}
