"""Batches of results, which only the pool has."""

import anyio
import anyio.lowlevel
import pytest
from operators import Sleeper, Source

from asyncwait.backends.pool import PoolResults, open_operator
from asyncwait.spec import OperatorConfig, Record, Statistics

pytestmark = pytest.mark.anyio


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
