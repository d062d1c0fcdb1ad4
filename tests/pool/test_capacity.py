"""How much is taken in, and when there is room again."""

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from asyncwait.backends.pool import open_operator
from asyncwait.spec import LatencyMarker, OperatorConfig, Record, Statistics, Watermark

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("capacity", [1, 2, 7])
async def test_no_more_calls_run_than_capacity_allows(
    feed: Any, sleeper: Any, read: Any, capacity: int
) -> None:
    """The room is used, and never exceeded."""
    source = feed(*[f"{name}2" for name in "abcdefghijklmn"])

    async with open_operator(OperatorConfig("unordered", capacity), sleeper, source) as results:
        out = await read(results)

    assert sleeper.most == capacity
    assert out[-1][0] == 28 / capacity


async def test_calls_that_wait_begin_together(feed: Any, sleeper: Any) -> None:
    """Fifty tasks that have run a call each are not woken one by one, a turn of the loop each."""
    source = feed(*["a2"] * 100)

    async with open_operator(OperatorConfig("unordered", 50), sleeper, source) as results:
        await anyio.sleep(3)
        for _ in range(50):
            await anext(results)
        for _ in range(10):
            await anyio.lowlevel.checkpoint()
        assert results.statistics().calls == 100


async def test_finished_records_hold_their_slot_until_they_are_taken(
    feed: Any, sleeper: Any
) -> None:
    """With a consumer that pauses, capacity records are called and one more waits for room."""
    source = feed("a1", "b1", "c1", "d1", "e1")

    async with open_operator(OperatorConfig("ordered", 2), sleeper, source) as results:
        await anyio.sleep(10)
        paused = results.statistics()
        taken = source.taken
        await anext(results)
        await anyio.sleep(0.5)
        after = results.statistics()

    assert paused == Statistics(
        in_flight=2, waiting=1, held=2, calls=2, max_in_flight=2, max_held=2, oldest=10
    )
    assert taken == 3
    assert after == Statistics(
        in_flight=2, waiting=1, held=1, calls=3, max_in_flight=2, max_held=2, oldest=10.5
    )


async def test_a_record_with_several_results_is_in_flight_until_the_last_is_taken(
    feed: Any,
) -> None:
    """Its slot is free when the consumer has the last one."""
    began = []

    async def pair(value: str) -> list[str]:
        began.append(value)
        return [value, value]

    async with open_operator(OperatorConfig("ordered", 1), pair, feed("a", "b")) as results:
        await anext(results)
        await anyio.sleep(1)
        half = list(began)
        await anext(results)
        await anyio.sleep(1)

    assert half == ["a"]
    assert began == ["a", "b"]


async def test_a_watermark_that_waits_takes_a_slot(feed: Any, sleeper: Any) -> None:
    """What is queued is bounded, whatever it is."""
    source = feed("a9", *[Watermark(i) for i in range(9)])

    async with open_operator(OperatorConfig("ordered", 3), sleeper, source) as results:
        await anyio.sleep(1)
        figures = results.statistics()

    assert source.taken == 4
    assert figures == Statistics(in_flight=1, waiting=1, calls=1, max_in_flight=1, oldest=1)


async def test_a_record_without_results_frees_its_slot_by_itself(feed: Any) -> None:
    """In unordered mode even behind a watermark that waits: there it only takes up room."""
    began = []

    async def slow_then_silent(value: str) -> list[str]:
        began.append(value)
        await anyio.sleep(9 if value == "slow" else 0)
        return ["slow"] if value == "slow" else []

    source = feed("slow", Watermark(1), *"abcdef")

    async with open_operator(OperatorConfig("unordered", 3), slow_then_silent, source) as results:
        await anyio.sleep(1)
        figures = results.statistics()

    assert began == ["slow", *"abcdef"]
    assert figures == Statistics(in_flight=1, calls=7, max_in_flight=2, max_held=1, oldest=1)


async def test_in_ordered_mode_a_record_without_results_waits_for_its_turn(feed: Any) -> None:
    """It goes by itself, but after what is in front of it: that is what ordered means."""

    async def silent_but_first(value: str) -> list[str]:
        return [value] if value == "a" else []

    source = feed(*"abcdefgh")

    async with open_operator(OperatorConfig("ordered", 3), silent_but_first, source) as results:
        await anyio.sleep(1)
        before = results.statistics()
        out = await anext(results)
        await anyio.sleep(1)
        after = results.statistics()

    assert out == Record("a")
    assert before == Statistics(
        in_flight=3, waiting=1, held=3, calls=3, max_in_flight=3, max_held=3, oldest=1
    )
    assert after == Statistics(calls=8, max_in_flight=3, max_held=3)


async def test_markers_that_nobody_takes_do_not_pile_up(feed: Any, sleeper: Any) -> None:
    """They hold no slot, and yet a source of nothing else is not read for ever."""
    source = feed(*[LatencyMarker(i) for i in range(100)])

    async with open_operator(OperatorConfig("ordered", 3), sleeper, source) as results:
        await anyio.sleep(1)
        taken = source.taken
        out = [element async for element in results]

    assert taken == 4
    assert out == [LatencyMarker(i) for i in range(100)]


async def test_the_source_is_read_while_the_consumer_is_elsewhere(feed: Any, sleeper: Any) -> None:
    """Calls go on without a consumer, as far as there is room."""
    async with open_operator(OperatorConfig(), sleeper, feed("a1", 2, "b1")) as results:
        await anyio.sleep(5)
        out = results.take_ready(9)

    assert out == [Record("a1"), Record("b1")]
    assert sleeper.began == [(0, "a1"), (2, "b1")]


async def test_take_ready_takes_no_more_than_its_limit_and_frees_slots(
    feed: Any, sleeper: Any
) -> None:
    """What it takes counts as emitted; what it leaves comes next."""
    source = feed(*[f"{name}1" for name in "abcdef"])

    async with open_operator(OperatorConfig("ordered", 4), sleeper, source) as results:
        first = await anext(results)
        batch = [first, *results.take_ready(2)]
        none_of_these = results.take_ready(0)
        await anyio.sleep(0.5)
        figures = results.statistics()
        rest = results.take_ready(99)

    assert batch == [Record("a1"), Record("b1"), Record("c1")]
    assert none_of_these == []
    assert figures == Statistics(
        in_flight=3, held=1, calls=6, max_in_flight=4, max_held=4, oldest=1.5
    )
    assert rest == [Record("d1")]


async def test_take_ready_leaves_the_end_and_failures_to_the_next_read(feed: Any) -> None:
    """It raises nothing: what it has taken can't be lost."""

    async def fails(value: str) -> list[str]:
        raise ValueError(value)

    async with open_operator(OperatorConfig(), fails, feed("a")) as results:
        await anyio.sleep(1)
        batch = results.take_ready(5)
        with pytest.raises(Exception, match=r"^Record 'a': the call failed: ValueError\('a'\)$"):
            await anext(results)

    assert batch == []
