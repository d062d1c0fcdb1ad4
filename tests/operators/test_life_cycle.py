"""The life of an operator: entered once, left once, in whatever task or thread it lives."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import anyio
import anyio.lowlevel
import pytest
import trio
from operators import Source, echo, read_all

from asyncwait.spec import OpenOperator, OperatorConfig, Record


@pytest.mark.anyio
@pytest.mark.parametrize("when", ["inside itself", "when it was left"])
async def test_a_context_is_entered_once(open_operator: OpenOperator, when: str) -> None:
    operator = open_operator(OperatorConfig(), echo, Source("a", "b"))

    async def enter_again() -> None:
        with pytest.raises(RuntimeError, match="entered once"):
            await operator.__aenter__()

    async with operator as results:
        if when == "inside itself":
            await enter_again()
        assert await read_all(results) == ["a", "b"]
    await enter_again()


@pytest.mark.anyio
async def test_a_context_is_left_once_it_was_entered_and_once(open_operator: OpenOperator) -> None:
    operator = open_operator(OperatorConfig(), echo, Source("a"))

    with pytest.raises(RuntimeError, match="left and not entered"):
        await operator.__aexit__(None, None, None)
    async with operator as results:
        assert await read_all(results) == ["a"]
    with pytest.raises(RuntimeError, match="left before"):
        await operator.__aexit__(None, None, None)


@pytest.mark.anyio
async def test_an_operator_that_is_never_entered_does_nothing(open_operator: OpenOperator) -> None:
    source = Source("a")
    done: list[Any] = []

    async def fn(value: Any) -> list[Any]:
        done.append(value)
        return [value]

    open_operator(OperatorConfig(), fn, source)
    await anyio.sleep(1)

    assert done == []
    assert [element async for element in source] == [Record("a")]


@pytest.mark.parametrize("loops", [("asyncio", "asyncio"), ("trio", "trio"), ("asyncio", "trio")])
def test_operators_live_in_threads_beside_each_other(
    open_operator: OpenOperator, loops: tuple[str, str]
) -> None:
    config, count = OperatorConfig("unordered", 5), 200
    both_are_there = threading.Barrier(2)
    came: dict[int, list[Any]] = {}

    async def fn(value: tuple[int, int]) -> list[Any]:
        await anyio.lowlevel.checkpoint()
        return [value]

    async def feed(thread: int) -> AsyncIterator[Record]:
        for number in range(count):
            yield Record((thread, number))

    async def live(thread: int) -> None:
        async with open_operator(config, fn, feed(thread)) as results:
            both_are_there.wait(10)
            came[thread] = [element.value async for element in results]

    runs = {
        "asyncio": lambda thread: asyncio.run(live(thread)),
        "trio": lambda t: trio.run(live, t),
    }
    threads = [
        threading.Thread(target=runs[loop], args=(number,)) for number, loop in enumerate(loops)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {number: sorted(values) for number, values in came.items()} == {
        thread: [(thread, number) for number in range(count)] for thread in (0, 1)
    }


@pytest.mark.anyio
async def test_an_operator_runs_within_a_call_of_another_of_its_kind(
    open_operator: OpenOperator,
) -> None:
    async def inner(value: str) -> list[str]:
        await anyio.sleep(1)
        return [value.upper()]

    async def outer(value: str) -> list[str]:
        async with open_operator(OperatorConfig(), inner, Source(*value)) as results:
            return ["".join(await read_all(results))]

    config = OperatorConfig("ordered", 2, timeout=5)
    async with open_operator(config, outer, Source("ab", "cd", "ef")) as results:
        assert await read_all(results) == ["AB", "CD", "EF"]
