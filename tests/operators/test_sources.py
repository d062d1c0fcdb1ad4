"""Sources that scenarios cannot hold: their kinds, their close, and their errors."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from operators import Sleeper, Source, echo, failure_of

from asyncwait.spec import (
    CallTimedOut,
    Element,
    InvalidResult,
    OpenOperator,
    OperatorConfig,
    Record,
    TooManyAbandonedCalls,
)

pytestmark = pytest.mark.anyio


async def test_a_task_group_round_a_yield_fails_as_the_source(
    open_operator: OpenOperator,
) -> None:
    async def fail() -> None:
        await anyio.sleep(3)
        raise OSError("child")

    async def source() -> AsyncIterator[Element]:
        async with anyio.create_task_group() as group:
            group.start_soon(fail)
            for value in ("a2", "b2", "c2"):
                yield Record(value)

    async with open_operator(OperatorConfig("ordered", 1), Sleeper(), source()) as results:
        out = [await anext(results), await anext(results)]
        error: Any = await failure_of(results)

    assert out == [Record("a2"), Record("b2")]
    assert [repr(each) for each in error.exceptions] == ["OSError('child')"]


async def test_a_source_whose_iteration_does_not_begin_has_failed(
    open_operator: OpenOperator,
) -> None:
    reason = OSError("no")

    class Broken(Source):
        def __aiter__(self) -> AsyncIterator[Element]:
            raise reason

    source = Broken()
    async with open_operator(OperatorConfig(), echo, source) as results:
        assert await failure_of(results) is reason
    assert source.log == ["closed"]


@pytest.mark.parametrize(
    "error",
    [
        CallTimedOut(Record("z"), "of another operator"),
        InvalidResult(None, "of another operator"),
        TooManyAbandonedCalls(None, "of another operator"),
        ExceptionGroup("odd", [ValueError()]),
        GeneratorExit("odd"),
    ],
    ids=repr,
)
async def test_an_error_of_the_source_is_the_sources_whatever_its_class(
    open_operator: OpenOperator, error: BaseException
) -> None:
    async with open_operator(OperatorConfig(), Sleeper(), Source("a3", error)) as results:
        assert await anext(results) == Record("a3")
        assert await failure_of(results) is error
        assert error.__cause__ is None
    assert await failure_of(results) is error


@pytest.mark.parametrize(
    "reads", [0, 1, 3], ids=["left while full", "left early", "read to its end"]
)
async def test_a_generator_may_hold_a_scope_round_its_yields(
    open_operator: OpenOperator, reads: int
) -> None:
    log: list[str] = []

    async def source() -> AsyncIterator[Element]:
        try:
            with anyio.CancelScope():
                for value in ("a1", "b1"):
                    yield Record(value)
                await anyio.sleep(9)
                yield Record("c1")
        finally:
            log.append("closed")

    async with open_operator(OperatorConfig("ordered", 1), Sleeper(), source()) as results:
        out = [await anext(results) for _ in range(reads)]
        await anyio.sleep(3)

    assert (len(out), log) == (reads, ["closed"])
