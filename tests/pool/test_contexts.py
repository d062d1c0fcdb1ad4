"""Tasks and contexts that calls and batches share, the end of sharing, and results in batches."""

import asyncio
from contextvars import ContextVar, copy_context
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from operators import Sleeper, Source

from asyncwait.backends.pool import PoolResults, open_operator, ordered_wait
from asyncwait.spec import Batch, Cache, OperatorConfig, Record, Statistics
from asyncwait.toolkit import driven

pytestmark = pytest.mark.anyio

PLACE: ContextVar[str] = ContextVar("PLACE", default="nowhere")


def present() -> Any:
    return anyio.get_current_task().id


async def values_of(config: OperatorConfig, fn: Any, *values: str) -> list[Any]:
    async with open_operator(config, fn, Source(*values)) as results:
        return [element.value async for element in results if isinstance(element, Record)]


PAIRS = Batch(max_size=2, max_wait=1, in_flight=1)


async def results_of(source: Any, fn: Any, **options: Any) -> list[Any]:
    async with ordered_wait(source, fn, **options) as results:
        return [value async for value in results]


@pytest.mark.parametrize(
    "options", [{"capacity": 1}, {"batch": PAIRS, "capacity": 2}], ids=["single", "batched"]
)
async def test_calls_that_set_nothing_share_a_task(options: dict[str, Any]) -> None:
    tasks: set[int] = set()

    async def fn(given: Any) -> Any:
        tasks.add(present())
        await anyio.lowlevel.checkpoint()
        return given

    assert await results_of(range(8), fn, **options) == list(range(8))
    assert len(tasks) == 1


async def test_calls_that_set_something_share_a_task_and_no_context() -> None:
    tasks: list[int] = []
    seen: list[str] = []

    async def fn(value: str) -> list[str]:
        tasks.append(present())
        seen.append(PLACE.get())
        PLACE.set(value)
        await anyio.sleep(1)
        return [PLACE.get()]

    assert await values_of(OperatorConfig("ordered", 1), fn, *"abcdef") == list("abcdef")
    assert seen == ["nowhere"] * 6
    assert len(set(tasks[1:])) == 1


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_loop_that_ends_amid_a_call_closes_it() -> None:
    closed: list[str] = []

    async def fn(value: str) -> list[str]:
        PLACE.set(value)
        try:
            await asyncio.sleep(0 if value == "a" else 9)
        except GeneratorExit:
            closed.append(PLACE.get())
            raise
        return [value]

    step = driven(fn("b"), copy_context().run)
    step.send(None)
    step.close()

    assert closed == ["b"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize(
    ("values", "options"),
    [
        ([1, 2, 1, 3], {"cache": Cache(9, 99), "capacity": 1}),
        ([*range(6)], {"batch": PAIRS, "capacity": 2}),
    ],
    ids=["loads", "batches"],
)
async def test_a_late_cancellation_of_a_call_hits_no_further_one(
    values: list[int], options: dict[str, Any]
) -> None:
    kept: list[asyncio.Task[Any]] = []

    async def fn(given: Any) -> Any:
        if kept:
            kept[-1].cancel()
        task = asyncio.current_task()
        assert task is not None
        kept.append(task)
        await asyncio.sleep(0)
        return given

    assert await results_of(values, fn, **options) == values
    assert len(set(kept)) == 3


async def test_take_ready_takes_no_more_than_its_limit_and_frees_slots() -> None:
    source = Source(*[f"{name}1" for name in "abcdef"])

    async with open_operator(OperatorConfig("ordered", 4), Sleeper(), source) as results:
        assert isinstance(results, PoolResults)
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
