"""Emitted records and results are freed, also while the operator waits."""

import weakref
from collections.abc import AsyncIterator
from typing import Any, get_args

import anyio
import pytest
from operators import block, turns

from asyncwait.spec import (
    Element,
    Mode,
    OpenOperator,
    OperatorConfig,
    Record,
    Snapshot,
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
        self.references: list[weakref.ref[Value]] = []

    def make(self, seconds: float = 0) -> Value:
        value = Value(seconds)
        self.references.append(weakref.ref(value))
        return value

    async def __call__(self, value: Value) -> list[Value]:
        if value.seconds:
            await anyio.sleep(value.seconds)
        return [self.make(), self.make()]

    def alive(self) -> int:
        return sum(reference() is not None for reference in self.references)


async def drop(results: Any, count: int) -> None:
    for _ in range(count):
        await anext(results)


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
        await drop(results, 2 * gone + fences)
        await anyio.sleep(2)
        assert len(watched.references) == 4 * gone + alive
        assert watched.alive() == alive


@pytest.mark.all_profiles
@pytest.mark.parametrize(
    ("config", "given", "script", "results", "alive"),
    [
        (OperatorConfig("unordered", 5, 10**7), "two", [10**6, *[1] * 30], 60, 2),
        *((OperatorConfig(mode, 3), "none", [0] * 20, 0, 0) for mode in get_args(Mode)),
        (OperatorConfig("ordered", 3, 99), "by callback", [0] * 20, 20, 0),
        (OperatorConfig("ordered", 3), "two, restored", [], 40, 0),
    ],
    ids=[
        "while another runs",
        *(f"no results, {mode}" for mode in get_args(Mode)),
        "callback",
        "restored",
    ],
)
async def test_what_is_through_dies_however_it_came(
    open_operator: OpenOperator,
    config: OperatorConfig,
    given: str,
    script: list[float],
    *,
    results: int,
    alive: int,
) -> None:
    watched = Watched()
    fn: Any = watched

    async def none(_: Value) -> list[Any]:
        return []

    if given == "none":
        fn = none
    elif given == "by callback":
        fn = type("Client", (), {"async_invoke": lambda _, __, r: r.complete([watched.make()])})()

    def stored() -> Snapshot | None:
        restored = given.endswith("restored")
        records = tuple(Record(watched.make()) for _ in range(20))
        return Snapshot(1, records) if restored else None

    async with open_operator(config, fn, fed(watched, *script), stored()) as open_results:
        await drop(open_results, results)
        with anyio.move_on_after(5):
            await anext(open_results)
        await turns(20)
        assert watched.alive() == alive


@pytest.mark.parametrize("stall", [0, 1])
async def test_records_decided_by_their_deadlines_die_when_their_calls_have_ended(
    open_operator: OpenOperator, stall: float
) -> None:
    watched = Watched()

    def handler(value: Value) -> list[Value]:
        if stall:
            block(stall)
        return [watched.make()]

    watched.timeout = handler  # type: ignore[attr-defined]

    async with open_operator(
        OperatorConfig("ordered", 3, 1), watched, fed(watched, *[50] * 9)
    ) as results:
        await drop(results, 9)
        await anyio.sleep(1)
        assert watched.alive() == 0
