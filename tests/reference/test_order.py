"""What comes out, and in which order."""

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


async def after(seconds: float) -> list[str]:
    """Reply with the time that it took."""
    await anyio.sleep(seconds)
    return [f"{seconds} s"]


async def test_ordered_results_come_in_input_order(feed: Any, read: Any) -> None:
    """What is finished early waits for its turn, and comes at once when that has come."""
    source = feed(Record(3), Record(1), Record(2))

    async with open_operator(OperatorConfig("ordered"), after, source) as results:
        assert await read(results) == [
            (3, Record("3 s")),
            (3, Record("1 s")),
            (3, Record("2 s")),
        ]


async def test_unordered_results_come_as_they_are_finished(feed: Any, read: Any) -> None:
    """No record waits for another one in its segment."""
    source = feed(Record(3), Record(1), Record(2))

    async with open_operator(OperatorConfig("unordered"), after, source) as results:
        assert await read(results) == [
            (1, Record("1 s")),
            (2, Record("2 s")),
            (3, Record("3 s")),
        ]


@pytest.mark.parametrize("mode", ["ordered", "unordered"])
async def test_nothing_crosses_a_fence(feed: Any, read: Any, mode: Mode) -> None:
    """Fences come out unchanged, each exactly between the records it stood between."""
    fences = (Watermark(7), Watermark(7), WatermarkStatus(idle=True))
    source = feed(Record(2), fences[0], Record(1), fences[1], fences[2], Record(0))

    async with open_operator(OperatorConfig(mode), after, source) as results:
        assert await read(results) == [
            (2, Record("2 s")),
            (2, fences[0]),
            (2, Record("1 s")),
            (2, fences[1]),
            (2, fences[2]),
            (2, Record("0 s")),
        ]


async def test_a_fence_goes_straight_out_when_nothing_is_before_it(feed: Any, read: Any) -> None:
    """Event time goes on although no record comes."""
    source = feed(Watermark(1), 5, Watermark(2), 5)

    async with open_operator(OperatorConfig(), after, source) as results:
        assert await read(results) == [(0, Watermark(1)), (5, Watermark(2))]


async def test_latency_markers_overtake_what_is_queued(feed: Any, read: Any) -> None:
    """A marker measures the way, not the calls."""
    marker = LatencyMarker(1, "probe")

    async with open_operator(
        OperatorConfig(), after, feed(Record(2), Watermark(1), 1, marker)
    ) as results:
        assert await read(results) == [(1, marker), (2, Record("2 s")), (2, Watermark(1))]


async def test_results_of_one_record_stay_together(feed: Any) -> None:
    """Neither a marker nor a snapshot comes between two of them."""

    async def three(value: str) -> list[str]:
        return [value + part for part in "123"]

    marker, barrier = LatencyMarker(1), Barrier(9)
    source = feed(Record("a"), 1, Record("b"), marker, barrier)

    async with open_operator(OperatorConfig(), three, source) as results:
        first = await anext(results)
        await anyio.sleep(2)  # everything is read and finished meanwhile
        rest = [element async for element in results]

    assert [first, *rest] == [
        Record("a1"),
        Record("a2"),
        Record("a3"),
        marker,
        Snapshot(9, (Record("b"),)),
        Record("b1"),
        Record("b2"),
        Record("b3"),
    ]


async def test_results_carry_timestamp_and_key_of_their_record(feed: Any, read: Any) -> None:
    """They are those of the input, or none where the input has none."""
    source = feed(Record(0, 5, "k"), Record(0, None, "k"), Record(0, 5), Record(0))

    async with open_operator(OperatorConfig(), after, source) as results:
        assert await read(results) == [
            (0, Record("0 s", 5, "k")),
            (0, Record("0 s", None, "k")),
            (0, Record("0 s", 5)),
            (0, Record("0 s")),
        ]


async def test_calls_begin_in_input_order(feed: Any) -> None:
    """Trio runs new tasks in any order; the function must not notice."""
    begun: list[int] = []

    async def note(value: int) -> list[int]:
        begun.append(value)
        await anyio.sleep(1)
        return []

    source = feed(*(Record(number) for number in range(50)))
    async with open_operator(OperatorConfig("unordered", capacity=50), note, source) as results:
        assert [element async for element in results] == []

    assert begun == list(range(50))


async def test_no_results_are_results_too(feed: Any, read: Any) -> None:
    """A record without results leaves no trace and holds nothing up."""

    async def odd(value: int) -> list[int]:
        await anyio.sleep(value)
        return [value] * (value % 2)

    source = feed(*(Record(value) for value in (2, 1, 4, 3)))
    async with open_operator(OperatorConfig(), odd, source) as results:
        assert await read(results) == [(2, Record(1)), (4, Record(3))]
