"""How consumers are cancelled: as asyncio does, once; or by a scope, again and again."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Self

import pytest
from msgspec.structs import replace

from asyncwait.conformance.evidence import scenario_of
from asyncwait.conformance.harness import PATIENCE, play
from asyncwait.reference import open_operator
from asyncwait.spec import OpenOperator, Record
from asyncwait.spec.scenario import SinkStep


class Changed:
    def __init__(self, results: Any) -> None:
        self._results = results
        self.statistics = results.statistics

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return await self._results.__anext__()


def changed(
    leaving: Callable[[], Awaitable[Any]] | None = None, results: Any = Changed
) -> OpenOperator:
    @asynccontextmanager
    async def opened(*arguments: Any) -> AsyncIterator[Any]:
        async with open_operator(*arguments) as given:
            yield results(given)
        if leaving is not None:
            await leaving()

    return opened


# The second call cleans up for 80 ms when it is cancelled.
CALM = scenario_of(
    "0: a b; 40: c; a: 40 gives a1 a2; b: 400 gives b1 with clean_up=80; c: 120 gives c1"
)


def cancellations_seen_by(cancel: Any) -> int:
    seen = 0

    class Stubborn(Changed):
        async def __anext__(self) -> Record:
            nonlocal seen
            loop = asyncio.get_running_loop()
            end = loop.time() + 3
            while loop.time() < end:
                try:
                    await asyncio.sleep(end - loop.time())
                except asyncio.CancelledError:
                    seen += 1
            raise StopAsyncIteration

    play(changed(results=Stubborn), replace(CALM, cancel_at=40, cancel=cancel))
    return seen


def test_asyncio_cancels_once_and_a_scope_again_and_again() -> None:
    assert cancellations_seen_by("once") == 1
    assert cancellations_seen_by("scope") > 100


async def deaf() -> None:
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


async def spinning() -> None:
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0)


LIMIT = PATIENCE * CALM.horizon + 1_000


@pytest.mark.parametrize(
    ("leaving", "how", "at"), [(deaf, "hung", LIMIT), (spinning, "livelock", None)]
)
def test_an_operator_that_refuses_to_end_is_left_alone(
    leaving: Callable[[], Awaitable[None]], how: str, at: float | None
) -> None:
    (leg,) = play(changed(leaving), replace(CALM, sink=(SinkStep("leave"),))).legs

    assert leg.ending.how == how
    assert at is None or (leg.ending.at, leg.ending.detail) == (at, "while it is left")
