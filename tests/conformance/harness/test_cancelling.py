"""How consumers are cancelled: as asyncio does, once; or by a scope, again and again."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from msgspec.structs import replace
from operators import Changed, changed

from asyncwait.conformance.evidence import scenario_of
from asyncwait.conformance.harness import PATIENCE, play
from asyncwait.spec import Record
from asyncwait.spec.scenario import SinkStep

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

    play(changed(Stubborn), replace(CALM, cancel_at=40, cancel=cancel))
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
    (leg,) = play(changed(leaving=leaving), replace(CALM, sink=(SinkStep("leave"),))).legs

    assert leg.ending.how == how
    assert at is None or (leg.ending.at, leg.ending.detail) == (at, "while it is left")
