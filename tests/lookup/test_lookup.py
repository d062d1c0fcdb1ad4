"""Streams of values joined with a table: the pool's guarantees, counted in values."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from lookups import Scripted, Values, read
from operators import seconds_now

from asyncwait.backends.lookup import Full, FunctionTable, lookup
from asyncwait.spec import Batch, Cache, InvalidConfig

pytestmark = pytest.mark.anyio


async def test_each_value_comes_in_its_place_with_its_rows() -> None:
    table = Scripted(b=["x", "y"], c=None)
    values = [(1, "a"), (2, "b"), (3, None), (4, "c"), (5, "a")]

    async with lookup(values, table, key=lambda value: value[1]) as results:
        found = await read(results)
        figures = results.statistics()

    rows = [["a"], ["x", "y"], [], [], ["a"]]
    assert found == [(1, value, each) for value, each in zip(values, rows, strict=True)]
    assert table.log == ["open", (0, ["a", "b", "c"]), "close"]
    assert (figures.loads, figures.shared, figures.null_keys, figures.misses) == (3, 1, 1, 1)


async def test_an_inner_join_leaves_out_what_has_no_row() -> None:
    table = Scripted(b=None)

    async with lookup([*"abbc" + "b" * 50], table, how="inner", capacity=1) as results:
        assert [value for _, value, _ in await read(results)] == ["a", "c"]


async def test_no_value_waits_for_the_next_one() -> None:
    table = Scripted()
    source = Values("a", "b", 0.25, "c", 5.0, "d")

    async with lookup(source, table) as results:
        found = await read(results)

    assert [(when, value) for when, value, _ in found] == [
        (1, "a"),
        (1, "b"),
        (1.25, "c"),
        (6.25, "d"),
    ]
    assert table.asked == [(0, ["a", "b"]), (0.25, ["c"]), (5.25, ["d"])]


def test_a_source_that_waits_is_read_where_nobody_has_named_the_loop() -> None:
    async def source() -> AsyncIterator[str]:
        for value in "abc":
            await asyncio.sleep(0)
            yield value

    async def rows(keys: list[str]) -> dict[str, list[str]]:
        await asyncio.sleep(0)
        return {key: [key] for key in keys}

    async def main() -> list[str]:
        async with lookup(source(), FunctionTable(rows)) as results:
            return [value async for value, _ in results]

    assert asyncio.run(main()) == ["a", "b", "c"]


GATHERED = Batch(max_size=3, max_wait=0.5, in_flight=1)


@pytest.mark.parametrize(
    ("script", "asked"),
    [
        # The first waits as long as it may, the last for nothing: the source ends with it.
        (["a", 0.2, "b", 2.0, "c"], [(0.5, ["a", "b"]), (2.2, ["c"])]),
        # A full request goes at once, and while it is under way the next one gathers.
        (
            ["a", 0.1, "b", 0.1, "c", 0.1, "d", 0.6, "e"],
            [(0.2, ["a", "b", "c"]), (1.2, ["d", "e"])],
        ),
        # A key that is asked for already is not asked for again.
        (["a", 0.1, "a", 0.1, "b", 9.0], [(0.5, ["a", "b"])]),
        # To Python they are one key, and a table answers by a mapping.
        ([1, 0.1, True, 9.0], [(0.1, [1]), (1.1, [True])]),
    ],
)
async def test_keys_of_a_slow_source_gather_for_a_request(script: Any, asked: Any) -> None:
    table = Scripted()

    async with lookup(Values(*script), table, batch=GATHERED) as results:
        got = [value for _, value, _ in await read(results)]

    assert got == [item for item in script if not isinstance(item, float)]
    assert table.asked == [(pytest.approx(when), keys) for when, keys in asked]


async def test_keys_gather_for_no_longer_than_there_is_room_for_more() -> None:
    table, batch = Scripted(), Batch(max_size=100, max_wait=60)

    async with lookup(Values("a", 0.1, "b", 0.1, "c"), table, capacity=2, batch=batch) as results:
        got = [value async for value, _ in results]

    assert got == ["a", "b", "c"]
    assert [when for when, _ in table.asked] == [pytest.approx(0.1), pytest.approx(1.2)]


@pytest.mark.parametrize("capacity", [1, 2, 7, 40])
async def test_as_many_values_are_in_flight_as_the_capacity_says(capacity: int) -> None:
    table = Scripted()
    table.takes = 100
    in_ones = [item for value in range(99) for item in (value, 0.01)]
    in_threes = [item for value in range(99) for item in (value, *[0.01] * (value % 3 == 0))]
    at_once = range(99)
    for script in (in_ones, in_threes, at_once):
        source = Values(*script)
        async with lookup(source, table, capacity=capacity) as results:
            with anyio.move_on_after(90):
                await anext(results)
            assert source.read == capacity
            assert results.statistics().rows == capacity


async def test_a_slow_consumer_stops_the_source() -> None:
    table = Scripted()
    source = Values(*range(100))

    async with lookup(source, table, capacity=10) as results:
        await anyio.sleep(50)
        assert source.read == 10
        for taken in range(1, 30):
            await anext(results)
            await anyio.sleep(5)
            assert 10 < source.read + 2 <= 12 + taken
        assert [value async for value, _ in results] == list(range(29, 100))


async def test_leaving_early_ends_all() -> None:
    table = Scripted()
    source = Values("a", 0.5, "b", 99.0, "c")

    async with lookup(source, table, cache=Cache(9, 9)) as results:
        await anyio.sleep(0.75)

    assert seconds_now() == 0.75
    assert table.log == ["open", (0, ["a"]), (0.5, ["b"]), "cancelled", "cancelled", "close"]
    assert source.closed == 1
    with pytest.raises(RuntimeError, match="left before the end"):
        await anext(results)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"key": 5}, "key must be a plain function that gives the key of a value, got 5 (int)"),
        ({"how": "outer"}, "how must be 'left' or 'inner', got 'outer' (str)"),
        ({"mode": "any"}, "mode must be 'ordered' or 'unordered', got 'any' (str)"),
        ({"on_error": "raise"}, "on_error must be 'fail', 'skip' or a plain function, got 'raise'"),
        ({"on_error": anyio.sleep}, "on_error must be 'fail', 'skip' or a plain function, got <f"),
        ({"capacity": 0}, "capacity must be a whole number >= 1, got 0 (int)"),
        ({"cache": Full()}, "table must be one with load_all(), for the cache is Full, got "),
    ],
)
async def test_wrong_arguments_are_refused_and_the_source_is_closed(
    options: Any, message: str
) -> None:
    table, source = Scripted(), Values("a")

    with pytest.raises(InvalidConfig) as caught:
        async with lookup(source, table, **options):
            pass

    assert str(caught.value).startswith(message)
    assert (source.closed, source.read, table.log) == (1, 0, [])
