"""The lock between source and consumer, as far as no rule sees it."""

from collections.abc import AsyncIterator

import pytest
from operators import turns

from asyncwait.backends.emitter import open_operator
from asyncwait.spec import Barrier, Element, OperatorConfig, Record, Snapshot

pytestmark = pytest.mark.anyio


async def twice(value: int) -> list[int]:
    """Give two results."""
    return [value, value]


async def test_a_consumer_that_takes_on_and_on_starves_no_barrier() -> None:
    async def source() -> AsyncIterator[Element]:
        for number in range(9):
            yield Record(number)
            if number == 4:
                await turns(50)
                yield Barrier(1)

    async with open_operator(OperatorConfig("ordered", 20), twice, source()) as results:
        out = [await anext(results)]
        await turns(99)
        out += [element async for element in results]

    place = out.index(next(element for element in out if isinstance(element, Snapshot)))
    assert place == 2
    assert out[place] == Snapshot(1, tuple(map(Record, range(1, 5))))
