"""Operators in company: side by side, one behind the other, one within a call of the other."""

from typing import Any

import anyio
import pytest
from operators import OPERATORS, SIDE_BY_SIDE, Sleeper, Source, failure_of, read_all, read_timed

from asyncwait.spec import (
    Barrier,
    CallFailed,
    Mode,
    OpenOperator,
    OperatorConfig,
    Record,
    Statistics,
    Watermark,
)
from asyncwait.spec.snapshots import decode_snapshot, encode_snapshot

pytestmark = pytest.mark.anyio


async def test_two_at_once_share_nothing(open_operator: OpenOperator) -> None:
    """Not even where function and configuration are one object; one may fail alone."""
    fn = Sleeper()
    config = OperatorConfig("ordered", 2, 50)

    async with (
        open_operator(config, fn, Source("a2", "b1", "c1", "d1")) as first,
        open_operator(config, fn, Source("x9", "y!")) as second,
    ):
        error = await failure_of(second)
        out = await read_all(first)
        figures = first.statistics()

    assert type(error) is CallFailed
    assert error.record == Record("y!")
    assert out == ["a2", "b1", "c1", "d1"]
    assert figures == Statistics(calls=4, max_in_flight=2, max_held=2)


@pytest.mark.parametrize("left_first", ["outer", "inner"])
async def test_two_at_once_may_be_left_in_any_order(
    open_operator: OpenOperator, left_first: str
) -> None:
    """Each in its own task; leaving one leaves the other alone."""
    order = [1, 2] if left_first == "outer" else [2, 1]
    out: dict[int, list[Any]] = {}

    async def use(number: int) -> None:
        async with open_operator(OperatorConfig(), Sleeper(), Source("a1", "b3", "c9")) as results:
            out[number] = [await anext(results)]
            await anyio.sleep(order[number - 1])
            if order[number - 1] == 2:
                out[number].append(await anext(results))

    async with anyio.create_task_group() as group:
        group.start_soon(use, 1)
        group.start_soon(use, 2)

    assert out == {
        1: [Record("a1"), Record("b3")][: order[0]],
        2: [Record("a1"), Record("b3")][: order[1]],
    }
    assert anyio.current_time() == 3


@pytest.mark.parametrize("mode", SIDE_BY_SIDE)
@pytest.mark.parametrize("behind", OPERATORS)
async def test_one_behind_the_other(open_operator: OpenOperator, mode: Mode, behind: str) -> None:
    """The output of the one is the input of the other, and everything flows."""
    fn = Sleeper()

    source = Source("a1", "b3", Watermark(1), "c1")
    async with (
        open_operator(OperatorConfig(mode, 2), fn, source) as first,
        OPERATORS[behind](OperatorConfig(mode, 2), fn, first) as second,
    ):
        out = await read_timed(second)

    assert [what for _, what in out] == ["a1", "b3", Watermark(1), "c1"]
    assert out[-1][0] == 7


async def test_a_failure_passes_through_the_operators_behind_it(
    open_operator: OpenOperator,
) -> None:
    """As the error of their source: unchanged, after all that came before."""
    async with (
        open_operator(OperatorConfig(), Sleeper(), Source("a1", 2, "b!")) as first,
        open_operator(OperatorConfig(), Sleeper(), first) as second,
        open_operator(OperatorConfig(), Sleeper(), second) as third,
    ):
        assert await anext(third) == Record("a1")
        error = await failure_of(third)

    assert type(error) is CallFailed
    assert error.record == Record("b!")
    assert error.__cause__ is not None


async def test_one_within_a_call_of_the_other(open_operator: OpenOperator) -> None:
    """Its failure is the failure of that call, and a cancellation reaches it."""
    inner = Sleeper()

    async def fn(value: str) -> list[Any]:
        source = Source(*value.split())
        async with open_operator(OperatorConfig("ordered", 1), inner, source) as results:
            return [await read_all(results)]

    fn.timeout = lambda value: [value]  # type: ignore[attr-defined]
    config = OperatorConfig("ordered", timeout=5)
    script = ["a1 b1", "c1", "d99 e99", "f2 g!"]
    async with open_operator(config, fn, Source(*script[:3])) as results:
        assert await read_all(results) == [["a1", "b1"], ["c1"], "d99 e99"]
    async with open_operator(config, fn, Source(script[3])) as results:
        error = await failure_of(results)

    assert inner.cancelled == [(5, "d99")]
    assert inner.running == []
    assert type(error) is CallFailed
    assert error.record == Record("f2 g!")
    cause: Any = error.__cause__
    assert type(cause) is CallFailed
    assert cause.record == Record("g!")


@pytest.mark.parametrize("length", [1, 2, 5, 20])
async def test_the_snapshot_of_a_chain_is_whole_however_long_it_is(
    open_operator: OpenOperator, length: int
) -> None:
    """Each link carries what came in along, and nothing of it changes later."""

    async def last_but_one(number: int, results: Any) -> Any:
        if number == 0:
            return results
        async with open_operator(OperatorConfig(), never_for("x"), results) as behind:
            return await last_but_one_of(number - 1, behind)

    async def last_but_one_of(number: int, results: Any) -> Any:
        if number:
            return await last_but_one(number, results)
        return await anext(results)

    snapshot: Any = await last_but_one_of(length, Source("x", Barrier(7), 99))

    link, links = snapshot, 0
    while link is not None:
        assert link.checkpoint_id == 7
        assert link.in_flight == ((Record("x"),) if link.upstream is None else ())
        link, links = link.upstream, links + 1
    assert links == length
    assert decode_snapshot(encode_snapshot(snapshot)) == snapshot


def never_for(name: str) -> Any:
    """A function that answers for everything but one value."""

    async def fn(value: str) -> list[str]:
        if value == name:
            await anyio.sleep_forever()
        return [value]

    return fn
