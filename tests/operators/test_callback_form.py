"""The callback form: who completes what, when, from where, and what is raised besides."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from operators import OPERATORS, Callbacks, Source, in_threads, read_all

from asyncwait.conformance.harness import VirtualLoop
from asyncwait.spec import OpenOperator, OperatorConfig, Record, ResultFuture

pytestmark = [pytest.mark.anyio, pytest.mark.all_profiles]


async def test_a_supplier_may_complete_its_own_record(open_operator: OpenOperator) -> None:
    def invoke(value: str, result: ResultFuture) -> None:
        def supply() -> list[str]:
            result.complete(["inner"])
            return ["outer"]

        result.complete_with(supply)

    async with open_operator(OperatorConfig(), Callbacks(invoke), Source("a")) as results:
        assert await read_all(results) == ["outer"]


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
