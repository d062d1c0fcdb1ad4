"""Parts without a rule: the lock between source and consumer, and refused options."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from operators import turns

from asyncwait.backends.emitter import open_operator
from asyncwait.spec import (
    Barrier,
    Batch,
    Element,
    InvalidConfig,
    OperatorConfig,
    Record,
    Retry,
    Snapshot,
)

pytestmark = pytest.mark.anyio


async def twice(value: int) -> list[int]:
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


class Forms:
    """A function that can also be called in another way.

    Args:
        parts: what it has besides, by name.
    """

    def __init__(self, **parts: Any) -> None:
        self.__dict__.update(parts)

    async def __call__(self, value: int) -> list[int]:
        return [value]


@pytest.mark.parametrize(
    ("config", "fn", "name"),
    [
        (OperatorConfig("key-ordered"), twice, "mode"),
        (OperatorConfig(retry=Retry()), twice, "retry"),
        (OperatorConfig(max_held=1), twice, "max_held"),
        (OperatorConfig(batch=Batch()), twice, "batch"),
        (OperatorConfig(), Forms(async_invoke=lambda _, future: future.complete([])), "fn"),
        (OperatorConfig(), Forms(failure=lambda *_: []), "fn"),
    ],
)
def test_what_it_lacks_is_refused(config: OperatorConfig, fn: Any, name: str) -> None:
    async def source() -> AsyncIterator[Element]:
        yield Record(1)

    with pytest.raises(InvalidConfig, match=rf"^{name} must be "):
        open_operator(config, fn, source())
