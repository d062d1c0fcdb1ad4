"""Leaving a table, and tables that are read whole."""

from typing import Any

import anyio
import pytest
from lookups import Readable, Scripted
from operators import seconds_now

from asyncwait.backends.lookup import Full, FunctionTable, OpenTable, lookup, open_table
from asyncwait.backends.lookup._cached import Policy
from asyncwait.backends.lookup._lookup import kept_by, tabled
from asyncwait.conformance.harness import run_virtual
from asyncwait.spec import CallFailed

pytestmark = pytest.mark.anyio


async def test_who_never_gives_up_does_not_hold_up_leaving() -> None:
    table = Scripted()
    has_left = False
    refused = 0

    async def read(opened: OpenTable) -> None:
        nonlocal refused
        while not has_left:
            try:
                await opened.get(refused)
            except RuntimeError:
                refused += 1

    async with anyio.create_task_group() as group:
        async with open_table(table) as opened:
            group.start_soon(read, opened)
            await anyio.sleep(0.5)
        has_left = True

    assert refused >= 1
    assert table.log == ["open", (0, [0]), "cancelled", "close"]


class Stuck(Readable):
    async def close(self) -> None:
        raise OSError("close")


@pytest.mark.parametrize("cache", [None, Full()])
async def test_what_closing_raises_hides_nothing(cache: Any) -> None:
    table, error = Stuck(a=["a"]), ValueError("body")

    with pytest.raises(OSError, match="close"):
        async with open_table(table, cache=cache) as opened:
            assert await opened.get("a") == ("a",)
    with pytest.raises(ValueError, match="body") as caught:
        async with open_table(table, cache=cache):
            raise error
    assert caught.value is error
    assert error.__notes__ == ["Closing the operator raised, too: OSError('close')"]


async def test_what_closing_raises_hides_no_reading() -> None:
    table = Stuck(a=["a"])
    table.trouble = LookupError("gone")

    with pytest.raises(LookupError) as caught:
        async with open_table(table, cache=Full()):
            pass
    assert caught.value.__notes__ == ["Closing the operator raised, too: OSError('close')"]


@pytest.mark.parametrize("cache", [None, Full()])
async def test_a_stream_that_is_left_tells_what_closing_raises(cache: Any) -> None:
    with pytest.raises(OSError, match="close"):
        async with lookup([*"aaa"], Stuck(a=["a"]), cache=cache) as results:
            assert await anext(results) == ("a", ("a",))
    with pytest.raises(ValueError, match="body") as caught:
        async with lookup([*"aaa"], Stuck(a=["a"]), cache=cache):
            raise ValueError("body")
    assert caught.value.__notes__ == ["Closing the operator raised, too: OSError('close')"]


def test_a_request_that_is_given_up_cleans_up_on_asyncio() -> None:
    log: list[str] = []

    async def ask(keys: list[int]) -> dict[int, Any]:
        try:
            await anyio.sleep(99)
        finally:
            await anyio.sleep(0.1)
            log.append("has cleaned up")
        return dict.fromkeys(keys)

    async def main(_: object) -> list[Any]:
        async with lookup([1], FunctionTable(ask), timeout=1, on_error="skip") as results:
            return [each async for each in results]

    assert run_virtual(main, "asyncio") == []
    assert log == ["has cleaned up"]


async def test_keys_of_other_types_are_other_keys() -> None:
    table = Readable()
    table.rows = {1: ["int"], (1.0, None): ["null"], 1.5: ["float"]}

    async with open_table(table, cache=Full()) as opened:
        keys = [1, 1.0, (1.0, None), 1.5]
        assert await opened.get_many(keys) == [("int",), (), (), ("float",)]
        with pytest.raises(CallFailed, match="the column's own type"):
            await opened.get(True)
        with pytest.raises(CallFailed, match=r"^key \[\]: "):
            opened.peek([])


async def test_a_copy_that_is_too_old_tells_why() -> None:
    table, error = Readable(a=["old"]), OSError("down")

    async with open_table(table, cache=Full(reload=10, max_age=15)) as opened:
        table.trouble_at_end = error
        await anyio.sleep(20)
        with pytest.raises(CallFailed) as caught:
            opened.peek("a")

    assert caught.value.__cause__ is error


async def test_a_first_reading_that_fails_is_an_error() -> None:
    table = Readable()
    table.trouble_at_end = OSError("down")

    with pytest.raises(OSError, match=r"^down$"):
        async with open_table(table, cache=Full(reload=10)):
            pass

    assert table.log == ["open", 0, "read", "close"]


async def test_a_cancellation_ends_the_first_reading() -> None:
    table = Readable(a=[1])

    with anyio.move_on_after(0.5):
        async with open_table(table, cache=Full(reload=10)):
            await anyio.sleep_forever()

    assert seconds_now() == 0.5
    assert table.log[-2:] == ["read", "close"]


async def test_a_copy_may_be_handed_on() -> None:
    full, policy, table = Full(reload=10), Policy(), Readable(a=["old"])
    copy = kept_by(full)

    async def looked_up(seconds: float) -> Any:
        opened = tabled(table, full, policy, copy)
        await opened.open()
        await anyio.sleep(seconds)
        found = await opened.outcomes(["a", "b", None], [3, 2, 1])
        await opened.close()
        return found[0], opened.statistics()

    await looked_up(4)
    table.rows = {"a": ["new"]}
    rows, figures = await looked_up(5.5)
    assert (rows, figures.requests, figures.age) == (("old",), 0, 10.5)
    assert (figures.rows, figures.hits, figures.misses, figures.null_keys) == (6, 5, 2, 1)
    rows, figures = await looked_up(2.5)
    assert (rows, figures.requests, figures.age) == (("new",), 1, 2)
    table.trouble_at_end = OSError("down")
    await anyio.sleep(10)
    rows, figures = await looked_up(0)
    assert (rows, figures.requests, figures.failed_requests) == (("new",), 1, 1)
    assert table.log[-3:] == [23, "read", "close"]
