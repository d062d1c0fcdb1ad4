"""Emitted records and results are freed, also while the operator waits."""

import weakref
from collections.abc import AsyncIterator
from typing import Any, get_args

import anyio
import pytest

from asyncwait.spec import (
    Element,
    Mode,
    OpenOperator,
    OperatorConfig,
    Record,
    Watermark,
)

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("no_collector")]


class Value:
    """A value that can be watched.

    Args:
        seconds: how long its call takes.
    """

    def __init__(self, seconds: float = 0) -> None:
        self.seconds = seconds


class Watched:
    def __init__(self) -> None:
        self.made = 0
        self.alive = weakref.WeakSet[Value]()

    def make(self, seconds: float = 0) -> Value:
        value = Value(seconds)
        self.made += 1
        self.alive.add(value)
        return value

    async def __call__(self, value: Value) -> list[Value]:
        if value.seconds:
            await anyio.sleep(value.seconds)
        return [self.make(), self.make()]


async def fed(watched: Watched, *script: Any) -> AsyncIterator[Element]:
    """Give a record for each number, whose call takes so many seconds; pause for a text."""
    for item in script:
        if isinstance(item, str):
            await anyio.sleep(float(item))
        else:
            made = item if isinstance(item, Watermark) else None
            yield made or Record(watched.make(item), 1, watched.make())
    await anyio.sleep(500)


@pytest.mark.all_profiles
@pytest.mark.parametrize("mode", get_args(Mode))
@pytest.mark.parametrize(
    ("script", "limit", "alive"),
    [
        ([0] * 20, None, 0),
        ([1] * 20, 99, 0),
        ([3, Watermark(1), *[1] * 9], None, 0),
        ([0, "1", 10**6], None, 2),
    ],
    ids=["silent source", "deadlines", "behind a fence", "while a later call runs"],
)
async def test_what_was_emitted_dies(
    open_operator: OpenOperator, mode: Mode, script: list[Any], limit: float | None, alive: int
) -> None:
    watched = Watched()
    gone = sum(item in {0, 1, 3} for item in script if not isinstance(item, Watermark))
    fences = sum(isinstance(item, Watermark) for item in script)

    config = OperatorConfig(mode, 7, limit)
    async with open_operator(config, watched, fed(watched, *script)) as results:
        for _ in range(2 * gone + fences):
            await anext(results)
        await anyio.sleep(2)
        assert (watched.made, len(watched.alive)) == (4 * gone + alive, alive)
