"""Streams of values joined with a table: order, capacity, and failures."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from lookups import Scripted, Values, read
from operators import INTERRUPTIONS, seconds_now, virtual_loop

from asyncwait.backends.lookup import FunctionTable, lookup
from asyncwait.spec import (
    Cache,
    CallFailed,
    OperatorError,
)

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


async def test_a_failure_names_its_key_and_stays() -> None:
    error = OSError("down")
    table = Scripted(c=error)

    async with lookup(Values("a", "b", 0.25, "c"), table) as results:
        assert (await anext(results))[0] == "a"
        await anyio.sleep(1)
        with pytest.raises(CallFailed, match=r"^key 'c': the call failed: OSError\(.*$") as one:
            await anext(results)
        with pytest.raises(CallFailed) as two:
            await anext(results)

    assert one.value.__cause__ is error
    assert one.value is two.value
    assert table.log[-1] == "close"


async def test_a_table_that_can_not_be_opened_closes_the_source() -> None:
    class Closed(Scripted):
        async def open(self) -> None:
            raise OSError("no table")

    source = Values("a")
    with pytest.raises(OSError, match=r"^no table$"):
        async with lookup(source, Closed()):
            pass

    assert (source.closed, source.read) == (1, 0)


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
@pytest.mark.parametrize("interruption", INTERRUPTIONS)
def test_an_interruption_comes_out_plainly(interruption: type[BaseException], loop: str) -> None:
    table = Scripted()
    table.trouble = interruption("now")
    source = Values("a", 9.0)

    async def program() -> None:
        async with lookup(source, table) as results:
            await read(results)

    name, options = virtual_loop(loop)
    with pytest.raises(interruption, match=r"^now$"):
        anyio.run(program, backend=name, backend_options=options)

    assert table.log[-1] == "close"
    assert source.closed == 1


async def test_whoever_handles_a_failure_has_its_value_and_its_cause() -> None:
    error = OSError("down")
    table = Scripted(b=error)
    seen: list[Any] = []
    values: list[Any] = [{"id": "a"}, {}, {"id": "b"}, {"id": []}, {"id": "b"}, {"id": None}]

    def handle(value: Any, error: OperatorError) -> list[Any]:
        seen.append((value, str(error), error.__cause__))
        return ["other"]

    join = lookup(values, table, key=lambda value: value["id"], how="inner", on_error=handle)
    async with join as results:
        found = [(value, list(rows)) async for value, rows in results]
        figures = results.statistics()

    failing = values[1:5]
    assert found == [(values[0], ["a"]), *((value, ["other"]) for value in failing)]
    assert [value for value, _, _ in seen] == failing
    assert [text for _, text, _ in seen] == [
        "Record {}: its key can't be told: KeyError('id')",
        "key 'b': the call failed: OSError('down')",
        f"key []: the call failed: {seen[2][2]!r}",
        "key 'b': the call failed: OSError('down')",
    ]
    assert seen[1][2] is error
    assert (figures.rows, figures.failures_handled, figures.null_keys) == (4, 4, 1)
