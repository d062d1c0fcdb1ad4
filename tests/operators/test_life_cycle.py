"""The life of an operator: entered once, left once; completions from any thread."""

import asyncio
import threading
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from operators import OPERATORS, Callbacks, Source, echo, in_threads, read_all

from asyncwait.conformance.harness import VirtualLoop
from asyncwait.spec import OpenOperator, OperatorConfig, Record


@pytest.mark.anyio
async def test_a_context_is_entered_once_and_left_once(open_operator: OpenOperator) -> None:
    operator = open_operator(OperatorConfig(), echo, Source("a", "b"))
    once = partial(pytest.raises, RuntimeError)

    with once(match="left and not entered"):
        await operator.__aexit__(None, None, None)
    async with operator as results:
        with once(match="entered once"):
            await operator.__aenter__()
        assert await read_all(results) == ["a", "b"]
    with once(match="entered once"):
        await operator.__aenter__()
    with once(match="left before"):
        await operator.__aexit__(None, None, None)


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

    threads = [
        threading.Thread(target=anyio.run, args=(live, number), kwargs={"backend": loop})
        for number, loop in enumerate(loops)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {number: sorted(values) for number, values in came.items()} == {
        thread: [(thread, number) for number in range(count)] for thread in (0, 1)
    }


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


@pytest.mark.all_profiles
def test_completions_behind_the_end_of_the_loop_do_nothing(
    open_operator: OpenOperator, anyio_backend: tuple[str, dict[str, Any]]
) -> None:
    fn = Callbacks()

    async def program() -> None:
        async with open_operator(OperatorConfig(), fn, Source("a", "b")):
            await anyio.sleep(1)

    name, options = anyio_backend
    anyio.run(program, backend=name, backend_options=options)

    in_threads(lambda: fn.futures["a"].complete(["late"]))
    fn.futures["b"].complete_with(list)


def test_whoever_cancels_the_task_that_a_call_finds_stops_nothing() -> None:
    open_operator = OPERATORS["pool"]
    tasks = list[Any]()
    fn = Callbacks(lambda *_: tasks.append(asyncio.current_task()))

    async def source() -> AsyncIterator[Record]:
        yield Record("a")
        await asyncio.sleep(1)
        yield Record("b")

    async def main() -> list[Any]:
        async with open_operator(OperatorConfig(), fn, source()) as results:
            await asyncio.sleep(0.5)
            tasks[0].cancel()
            await asyncio.sleep(0.1)
            in_threads(lambda: fn.futures["a"].complete(["A"]))
            first = await asyncio.wait_for(anext(results), 60)
            await asyncio.sleep(1)
            fn.futures["b"].complete(["B"])
            return [first, await anext(results)]

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:  # no plug-in says which loop it is
        assert runner.run(main()) == [Record("A"), Record("B")]


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
