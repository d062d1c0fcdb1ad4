"""Snapshots on request: in order, ahead of all else, unchanging, and good for any operator."""

from typing import Any

import anyio
import pytest
from operators import OPERATORS, Sleeper, Source, echo, read_all

from asyncwait.spec import Barrier, OpenOperator, OperatorConfig, Record, Snapshot, Watermark

pytestmark = pytest.mark.anyio


async def test_requested_snapshots_come_in_the_order_of_the_requests(
    open_operator: OpenOperator,
) -> None:
    """Each as the next output, ahead of whatever waits; each holds what was in flight then."""
    source = Source("a1", "b1", Barrier(1), "c9", 99)

    async with open_operator(OperatorConfig(), Sleeper(), source) as results:
        await anyio.sleep(3)
        for number in (10, 11, 12):
            results.request_snapshot(number)  # type: ignore[attr-defined]
        out = [await anext(results) for _ in range(6)]
        results.request_snapshot(13)  # type: ignore[attr-defined]
        out.append(await anext(results))

    everything = (Record("a1"), Record("b1"), Record("c9"))
    assert out == [
        *(Snapshot(number, everything, 4) for number in (10, 11, 12)),
        Snapshot(1, (Record("a1"), Record("b1"))),
        Record("a1"),
        Record("b1"),
        Snapshot(13, (Record("c9"),), 4),
    ]


async def test_many_requested_snapshots_keep_no_reader_from_the_source(
    open_operator: OpenOperator,
) -> None:
    """They do not count among what piles up."""
    source = Source("a1", 1, "b1", 1, "c1", 99)

    async with open_operator(OperatorConfig("ordered", 2), Sleeper(), source) as results:
        for number in range(20):
            results.request_snapshot(number)  # type: ignore[attr-defined]
        await anyio.sleep(5)
        assert results.statistics().calls == 2
        out = [await anext(results) for _ in range(23)]

    assert out == [
        *(Snapshot(number, (), 0) for number in range(20)),
        *map(Record, ("a1", "b1", "c1")),
    ]


async def test_a_snapshot_of_an_operator_that_has_only_just_opened_holds_what_it_was_given(
    open_operator: OpenOperator,
) -> None:
    """Nobody has called anything yet, and nothing is lost."""
    restore = Snapshot(1, (Record("a1"), Watermark(5), Record("b1")))

    async with open_operator(OperatorConfig("ordered", 1), echo, Source(99), restore) as results:
        results.request_snapshot(2)  # type: ignore[attr-defined]
        first = await anext(results)

    assert first == Snapshot(2, restore.in_flight, 0)


async def test_a_snapshot_does_not_change_after_it_was_taken(open_operator: OpenOperator) -> None:
    """It is a value, and can't be changed by anybody else either."""
    async with open_operator(OperatorConfig(), Sleeper(), Source("a1", "b2", 99)) as results:
        await anyio.sleep(0.5)
        results.request_snapshot(7)  # type: ignore[attr-defined]
        snapshot: Any = await anext(results)
        assert [await anext(results), await anext(results)] == [Record("a1"), Record("b2")]

    assert snapshot == Snapshot(7, (Record("a1"), Record("b2")), 2)
    with pytest.raises(AttributeError):
        snapshot.in_flight = ()


async def test_an_operator_goes_on_where_another_one_stood(open_operator: OpenOperator) -> None:
    """Whichever operator that was."""
    for before in OPERATORS.values():
        source = Source("a1", "b9", "c9", Watermark(3), "d9", 99)
        async with before(OperatorConfig("ordered", 3), Sleeper(), source) as results:
            assert await anext(results) == Record("a1")
            await anyio.sleep(1)
            results.request_snapshot(7)  # type: ignore[attr-defined]
            snapshot: Any = await anext(results)
        async with open_operator(OperatorConfig(), echo, Source("e"), snapshot) as results:
            assert await read_all(results) == ["b9", "c9", Watermark(3), "d9", "e"]
