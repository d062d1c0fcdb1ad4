"""What the capacity bounds, and what is read ahead."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from asyncwait.reference import open_operator
from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    Mode,
    OperatorConfig,
    Record,
    Snapshot,
    Statistics,
    Watermark,
)

pytestmark = pytest.mark.anyio


class Service:
    """Replies after so many seconds with the value itself; notes when calls begin and end."""

    def __init__(self) -> None:
        self.begun: list[tuple[float, Any]] = []
        self.running = 0
        self.most = 0

    async def __call__(self, seconds: float) -> list[float]:
        """Reply."""
        self.begun.append((anyio.current_time(), seconds))
        self.running += 1
        self.most = max(self.running, self.most)
        await anyio.sleep(seconds)
        self.running -= 1
        return [seconds]


@pytest.fixture
def service() -> Service:
    """A fresh service."""
    return Service()


async def counted(total: int, taken: list[int]) -> AsyncIterator[Record]:
    """Give records that reply at once, and note which were taken."""
    for number in range(total):
        taken.append(number)
        yield Record(0)


async def counted_overtakers(taken: list[int]) -> AsyncIterator[Element]:
    """Give 99 markers, barriers and snapshots in turn, and note which were taken."""
    for number in range(99):
        taken.append(number)
        yield (LatencyMarker(number), Barrier(number), Snapshot(number))[number % 3]


async def test_finished_records_keep_their_slots_until_they_are_taken(
    feed: Any, service: Service
) -> None:
    """In ordered mode the second record finishes at 1, and still holds its slot until 3."""
    source = feed(Record(3), Record(1), Record(2))

    async with open_operator(OperatorConfig("ordered", 2), service, source) as results:
        assert [element.value async for element in results] == [3, 1, 2]

    assert service.begun == [(0, 3), (0, 1), (3, 2)]


async def test_a_silent_record_behind_a_half_read_one_keeps_its_slot(feed: Any) -> None:
    """It is not its turn before the last result of the record in front of it was taken."""

    async def by_count(count: int) -> list[int]:
        await anyio.sleep(1 + (count == 1))
        return [count] * count

    source = feed(*(Record(count) for count in (2, 0, 1, 1)))

    async with open_operator(OperatorConfig("ordered", 3), by_count, source) as results:
        await anext(results)
        await anyio.sleep(3)
        assert (results.statistics().in_flight, results.statistics().calls) == (3, 3)
        assert [element.value async for element in results] == [2, 1, 1]


@pytest.mark.parametrize("mode", ["ordered", "unordered"])
async def test_an_absent_consumer_stops_admission(mode: Mode) -> None:
    """With nobody reading, `capacity` records come in and one more is taken from the source."""
    taken: list[int] = []

    async def at_once(value: int) -> list[int]:
        return [value]

    async with open_operator(OperatorConfig(mode, 3), at_once, counted(9, taken)) as results:
        await anyio.sleep(1)
        assert taken == [0, 1, 2, 3]
        assert results.statistics() == Statistics(
            in_flight=3, waiting=1, held=3, calls=3, max_in_flight=3, max_held=3, oldest=1
        )
        await anext(results)
        await anyio.sleep(1)
        assert taken == [0, 1, 2, 3, 4]


async def test_an_absent_consumer_stops_markers_and_barriers_too(service: Service) -> None:
    """They take no slot; `capacity` of them wait for the consumer and one more is taken."""
    taken: list[int] = []
    source = counted_overtakers(taken)

    async with open_operator(OperatorConfig("ordered", 3), service, source) as results:
        await anyio.sleep(1)
        assert len(taken) == 4
        assert results.statistics() == Statistics()
        assert await anext(results) == LatencyMarker(0)
        await anyio.sleep(1)
        assert len(taken) == 5
        assert len([element async for element in results]) == 98
    assert anyio.current_time() == 2


async def test_a_snapshot_is_requested_though_markers_fill_the_way_ahead(
    feed: Any, service: Service
) -> None:
    """A request waits for nothing; a marker that is read only later has nothing to overtake."""
    source = feed(Record(0), LatencyMarker(1), Barrier(2), LatencyMarker(3))

    async with open_operator(OperatorConfig("ordered", 1), service, source) as results:
        await anyio.sleep(1)
        results.request_snapshot(9)
        assert [element async for element in results] == [
            Snapshot(9, (Record(0),), read=3),
            LatencyMarker(1),
            Snapshot(2, (Record(0),)),
            Record(0),
            LatencyMarker(3),
        ]


async def test_a_record_taken_in_part_keeps_its_slot(feed: Any) -> None:
    """It is gone with its last result, not with its first."""
    begun: list[str] = []

    async def two(value: str) -> list[str]:
        begun.append(value)
        return [value, value]

    source = feed(Record("a"), Record("b"))
    async with open_operator(OperatorConfig("ordered", 1), two, source) as results:
        await anext(results)
        await anyio.sleep(1)
        assert begun == ["a"]
        await anext(results)
        await anyio.sleep(1)
        assert begun == ["a", "b"]


async def test_a_queued_watermark_takes_a_slot(feed: Any, service: Service) -> None:
    """With room for two, a record behind a record and a watermark has to wait."""
    source = feed(Record(1), Watermark(5), Record(1))

    async with open_operator(OperatorConfig("unordered", 2), service, source) as results:
        assert len([element async for element in results]) == 3

    assert service.begun == [(0, 1), (1, 1)]


async def test_records_without_results_free_their_slots_with_nobody_reading(feed: Any) -> None:
    """Nobody has to take what does not come out."""
    seen: list[int] = []

    async def none(value: int) -> list[int]:
        seen.append(value)
        return []

    source = feed(*(Record(number) for number in range(20)))
    async with open_operator(OperatorConfig("ordered", 2), none, source):
        await anyio.sleep(1)

    assert seen == list(range(20))


@pytest.mark.parametrize("capacity", [1, 2, 7])
async def test_calls_never_exceed_the_capacity_and_use_all_of_it(
    feed: Any, service: Service, capacity: int
) -> None:
    """The service sees exactly as many calls at once as its limit says."""
    source = feed(*(Record(1) for _ in range(20)))

    async with open_operator(OperatorConfig("unordered", capacity), service, source) as results:
        assert len([element async for element in results]) == 20
        assert results.statistics().max_in_flight == capacity

    assert service.most == capacity


async def test_statistics_count_what_is_going_on(feed: Any, service: Service) -> None:
    """Two calls run, one is finished behind them, one record waits for room."""
    source = feed(Record(5), Record(1), Record(5), Record(9))

    async with open_operator(OperatorConfig("ordered", 3), service, source) as results:
        assert results.statistics() == Statistics()
        await anyio.sleep(2)
        assert results.statistics() == Statistics(
            in_flight=3, waiting=1, held=1, calls=3, max_in_flight=3, max_held=1, oldest=2
        )
        assert [element.value async for element in results] == [5, 1, 5, 9]
        assert results.statistics() == Statistics(calls=4, max_in_flight=3, max_held=3)


async def test_what_is_stored_and_not_admitted_does_not_count_as_waiting(
    service: Service, feed: Any
) -> None:
    """It was not taken from the source of this run."""
    stored = Snapshot(1, (Record(5), Record(5), Record(5)))
    config = OperatorConfig("ordered", 1)

    async with open_operator(config, service, feed(Record(1)), stored) as results:
        await anyio.sleep(1)
        assert results.statistics() == Statistics(in_flight=1, calls=1, max_in_flight=1, oldest=1)
