"""The figures as a stream."""

from typing import Any

import anyio
import pytest
from operators import seconds_now
from watched import Played

from asyncwait.backends.watching import statistics_of
from asyncwait.spec import InvalidConfig

pytestmark = pytest.mark.anyio


async def test_figures_come_at_once_and_every_so_many_seconds(open_sleeping: Any) -> None:
    seen: dict[float, tuple[int, int]] = {}

    async def watch(results: Any) -> None:
        async for figures in statistics_of(results, every=0.5):
            seen[seconds_now()] = (figures.in_flight, figures.held)

    async with open_sleeping(0.9, 1.6) as results, anyio.create_task_group() as group:
        await anyio.sleep(0.25)
        group.start_soon(watch, results)
        await anyio.sleep_until(2)
        taken = [result async for result in results]
        await anyio.sleep_until(2.5)
        group.cancel_scope.cancel()

    assert taken == [0.9, 1.6]
    assert seen == {0.25: (2, 0), 0.75: (2, 0), 1.25: (2, 1), 1.75: (2, 2), 2.25: (0, 0)}


async def test_what_is_missed_is_left_out() -> None:
    figures = statistics_of(Played(), every=1)
    times: list[float] = []
    for pause in (0.75, 0.75, 3.25, 0.5, 0):
        await anext(figures)
        times.append(seconds_now())
        await anyio.sleep(pause)

    assert times == [0, 1, 2, 5.25, 6.25]


async def test_what_is_no_operator_is_refused(open_sleeping: Any) -> None:
    context = open_sleeping(1)

    with pytest.raises(InvalidConfig, match=r"^results must be "):
        statistics_of(context)
    async with context:
        pass
