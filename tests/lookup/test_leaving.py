"""Leaving a table: what is under way ends, and nothing is begun any more."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from lookups import CLOSED, Scripted, outcome, outcomes
from operators import seconds_now

from asyncwait.backends.lookup import Full, FunctionTable, OpenTable, lookup, open_table
from asyncwait.conformance.harness import run_virtual
from asyncwait.spec import Batch, Cache, Retry

pytestmark = pytest.mark.anyio


async def test_leaving_ends_what_is_under_way() -> None:
    table = Scripted()

    async with anyio.create_task_group() as group:
        async with open_table(table, cache=Cache(9, 10, refresh_ahead=0.5)) as opened:
            await opened.get("a")
            await anyio.sleep(6)
            opened.peek("a")
            group.start_soon(outcomes, opened, "b")
            await anyio.sleep(0.5)
        assert seconds_now() == 7.5
        group.cancel_scope.cancel()

    assert table.log[:4] == ["open", (0, ["a"]), (7, ["a"]), (7, ["b"])]
    assert table.log[4:] == ["cancelled", "cancelled", "close"]


async def test_a_table_that_was_left_says_so() -> None:
    table = Scripted()
    async with open_table(table, cache=Cache(9, 60)) as opened:
        await opened.get("a")

    for key in ("a", "b", "b", None):
        assert await outcome(opened, key) == (1, CLOSED)
        with pytest.raises(RuntimeError, match=r"^the table is closed; "):
            opened.peek(key)
    assert opened.statistics().keys == 1
    assert table.log == ["open", (0, ["a"]), "close"]


@pytest.mark.parametrize("batch", [None, Batch(max_wait=0.1)])
async def test_nothing_is_begun_while_a_table_is_left(batch: Batch | None) -> None:
    table = Scripted()
    table.clean_up = 2
    cache = Cache(9, ttl=1, stale_if_error=99)
    found: list[Any] = []

    async def read(opened: OpenTable) -> None:
        found.extend([await outcome(opened, key) for key in "abb"])

    async with anyio.create_task_group() as group:
        async with open_table(table, cache=cache, retry=Retry(max_attempts=9), batch=batch) as it:
            await it.get("a")
            await anyio.sleep(1)
            begun = seconds_now()
            group.start_soon(read, it)
            await anyio.sleep(0.5)
        assert seconds_now() == begun + 2.5

    assert found == [(begun + 2.5, CLOSED)] * 3
    assert len(table.asked) == 2
    assert table.log[-2:] == ["cancelled", "close"]


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


async def test_a_back_off_ends_when_the_table_is_left() -> None:
    table = Scripted()
    table.trouble = OSError("down")
    retry = Retry(initial=50, max_attempts=9)
    found: list[Any] = []

    async def read(opened: OpenTable) -> None:
        found.append(await outcome(opened, "a"))

    async with (
        anyio.create_task_group() as group,
        open_table(table, retry=retry, timeout=60) as opened,
    ):
        group.start_soon(read, opened)
        await anyio.sleep(3)

    assert found == [(3, CLOSED)]
    assert len(table.asked) == 1


class Stuck(Scripted):
    """A table that can be read whole once, if at all, and can't be closed."""

    async def load_all(self) -> AsyncIterator[tuple[Any, Any]]:
        if self.trouble is not None:
            raise self.trouble
        yield "a", "a"

    async def close(self) -> None:
        raise OSError("close")


@pytest.mark.parametrize("cache", [None, Full()])
async def test_what_closing_raises_hides_nothing(cache: Any) -> None:
    table, error = Stuck(), ValueError("body")

    with pytest.raises(OSError, match="close"):
        async with open_table(table, cache=cache) as opened:
            assert await opened.get("a") == ("a",)
    with pytest.raises(ValueError, match="body") as caught:
        async with open_table(table, cache=cache):
            raise error
    assert caught.value is error
    assert error.__notes__ == ["Closing the operator raised, too: OSError('close')"]


async def test_what_closing_raises_hides_no_reading() -> None:
    table = Stuck()
    table.trouble = LookupError("gone")

    with pytest.raises(LookupError) as caught:
        async with open_table(table, cache=Full()):
            pass
    assert caught.value.__notes__ == ["Closing the operator raised, too: OSError('close')"]


@pytest.mark.parametrize("cache", [None, Full()])
async def test_a_stream_that_is_left_tells_what_closing_raises(cache: Any) -> None:
    with pytest.raises(OSError, match="close"):
        async with lookup([*"aaa"], Stuck(), cache=cache) as results:
            assert await anext(results) == ("a", ("a",))
    with pytest.raises(ValueError, match="body") as caught:
        async with lookup([*"aaa"], Stuck(), cache=cache):
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
