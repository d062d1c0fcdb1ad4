"""Time limits: they decide, and the call that nobody can end runs on."""

import asyncio
from typing import Any

import pytest
from blocking import Clock, Gated

from asyncwait.backends.threads import ordered_wait
from asyncwait.spec import Statistics, TooManyAbandonedCalls

pytestmark = pytest.mark.filterwarnings("ignore:.*run.? on in .*thread:RuntimeWarning")

SHORT = 0.03
"""Seconds that a call is given which does not end."""


def test_calls_that_run_on_are_counted(fn: Gated) -> None:
    async def main() -> Statistics:
        clock = Clock()
        options: Any = {"timeout": 9, "on_error": "skip", "capacity": 1}
        async with ordered_wait([*"ab"], fn, **options) as results:
            reading = asyncio.create_task(anext(results))
            await clock.until(lambda: fn.began == ["a"])
            clock.now += 10
            assert await reading == "b"
            await clock.until(lambda: results.statistics().abandoned == 1, step=1)
            return results.statistics()

    fn.open_for("b")
    assert asyncio.run(main()) == Statistics(
        calls=2, timeouts=1, failures_handled=1, abandoned=1, max_in_flight=1, max_held=1
    )
    assert len(fn.threads) == 2


def test_too_many_calls_that_run_on_end_the_stream(fn: Gated) -> None:
    with (
        pytest.raises(TooManyAbandonedCalls, match=r"^\d+ calls .* at most 2 may run at a time; "),
        ordered_wait(range(99), fn, timeout=SHORT, on_error="skip", capacity=2) as results,
    ):
        list(results)

    assert len(fn.threads) == len(fn.began) < 30
