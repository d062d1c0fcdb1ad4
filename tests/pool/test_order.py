"""What comes out when: the two modes, watermarks and statuses, latency markers."""

from typing import Any

import pytest

from asyncwait.backends.pool import open_operator
from asyncwait.spec import LatencyMarker, OperatorConfig, Record, Watermark, WatermarkStatus

pytestmark = pytest.mark.anyio


async def test_ordered_results_wait_for_the_slowest_before_them(
    feed: Any, sleeper: Any, read: Any
) -> None:
    """In ordered mode a finished record comes out when all before it have."""
    source = feed("a3", "b1", "c5", "d2")

    async with open_operator(OperatorConfig("ordered"), sleeper, source) as results:
        out = await read(results)

    assert out == [(3, "a3"), (3, "b1"), (5, "c5"), (5, "d2")]


async def test_unordered_results_come_as_they_finish(feed: Any, sleeper: Any, read: Any) -> None:
    """In unordered mode a finished record comes out at once."""
    source = feed("a3", "b1", "c5", "d2")

    async with open_operator(OperatorConfig("unordered"), sleeper, source) as results:
        out = await read(results)

    assert out == [(1, "b1"), (2, "d2"), (3, "a3"), (5, "c5")]


@pytest.mark.parametrize("fence", [Watermark(7), WatermarkStatus(idle=True)], ids=["mark", "idle"])
async def test_no_record_crosses_a_fence_in_unordered_mode(
    feed: Any, sleeper: Any, read: Any, fence: Any
) -> None:
    """Watermarks and statuses wait for all records before them, and hold back all behind them."""
    source = feed("a3", "b1", fence, "c2", "d1", Watermark(9))

    async with open_operator(OperatorConfig("unordered"), sleeper, source) as results:
        out = await read(results)

    assert out[:3] == [(1, "b1"), (3, "a3"), (3, fence)]
    assert sorted(out[3:5]) == [(3, "c2"), (3, "d1")]
    assert out[5:] == [(3, Watermark(9))]


async def test_fences_in_a_row_keep_their_order(feed: Any, sleeper: Any, read: Any) -> None:
    """Watermarks are passed on as they came: none dropped, merged or reordered."""
    fences = [Watermark(2), Watermark(1), WatermarkStatus(idle=True), Watermark(1)]

    async with open_operator(
        OperatorConfig("unordered"), sleeper, feed("a2", *fences, "b1")
    ) as results:
        out = await read(results)

    assert [element for _, element in out] == ["a2", *fences, "b1"]


async def test_a_watermark_without_records_before_it_goes_straight_out(
    feed: Any, sleeper: Any, read: Any
) -> None:
    """Nothing in front of it, nothing to wait for."""
    async with open_operator(OperatorConfig(), sleeper, feed(Watermark(1), "a2")) as results:
        out = await read(results)

    assert out == [(0, Watermark(1)), (2, "a2")]


async def test_a_latency_marker_overtakes_what_waits(feed: Any, sleeper: Any, read: Any) -> None:
    """It comes out in the instant in which it is read, in front of records and watermarks."""
    source = feed("a3", Watermark(1), 1, LatencyMarker(5))

    async with open_operator(OperatorConfig(), sleeper, source) as results:
        out = await read(results)

    assert out == [(1, LatencyMarker(5)), (3, "a3"), (3, Watermark(1))]


async def test_a_latency_marker_does_not_part_the_results_of_a_record(feed: Any) -> None:
    """It waits for the rest of the record that is being handed out."""

    async def three(value: str) -> list[str]:
        return [f"{value}{i}" for i in range(3)]

    async with open_operator(OperatorConfig(), three, feed("a", 1, LatencyMarker(5))) as results:
        first = await anext(results)
        rest = [first]
        while len(rest) < 4:
            rest += results.take_ready(1) or [await anext(results)]

    assert rest == [Record("a0"), Record("a1"), Record("a2"), LatencyMarker(5)]


async def test_results_carry_timestamp_and_key_of_their_record(feed: Any) -> None:
    """Whatever a call gives belongs to its record's time and key."""

    async def twice(value: str) -> list[str]:
        return [value, value.upper()]

    source = feed(Record("a", 17, "key"), Record("b"))

    async with open_operator(OperatorConfig(), twice, source) as results:
        out = [element async for element in results]

    assert out == [Record("a", 17, "key"), Record("A", 17, "key"), Record("b"), Record("B")]


async def test_a_record_without_results_leaves_no_trace(feed: Any, read: Any) -> None:
    """An empty collection is legal, whatever kind of iterable it is."""

    async def few(value: str) -> Any:
        return {"a": (), "b": iter(()), "c": ["c"], "d": {}}[value]

    async with open_operator(
        OperatorConfig("unordered"), few, feed("a", "b", Watermark(1), "c", "d")
    ) as results:
        out = await read(results)

    assert out == [(0, Watermark(1)), (0, "c")]


async def test_first_calls_start_in_input_order(feed: Any, sleeper: Any, read: Any) -> None:
    """However many workers there are, they begin in the order of the input."""
    values = [f"{name}{1 + ord(name) % 3}" for name in "abcdefghijklmnopqrstuvwxyz"]

    async with open_operator(OperatorConfig("unordered", 5), sleeper, feed(*values)) as results:
        await read(results)

    assert [value for _, value in sleeper.began] == values
