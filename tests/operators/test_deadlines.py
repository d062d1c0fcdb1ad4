"""Deadlines: many, soon and late ones, and on a blocked loop."""

from math import inf
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from operators import (
    Sleeper,
    Source,
    block,
    read_all,
    read_timed,
    turns,
)

from asyncwait.spec import (
    OpenOperator,
    OperatorConfig,
    Retry,
)

pytestmark = pytest.mark.anyio

MONTHS = 120 * 24 * 3600.0


class Service:
    """Never answers, but for values that are to be answered.

    Args:
        answers: seconds by value.
    """

    def __init__(self, answers: dict[Any, float]) -> None:
        self.answers = answers

    async def __call__(self, value: Any) -> list[Any]:
        await anyio.sleep(self.answers.get(value, 10**12))
        return [value]

    def timeout(self, value: Any) -> list[Any]:
        return [("late", value)]


@pytest.mark.parametrize("limit", [0.001, 0.0015, 1, 10**7, 2.0**63, 1e300, 10**400, inf, None])
async def test_a_timeout_may_be_a_millisecond_or_never(
    open_operator: OpenOperator, limit: Any
) -> None:
    lasts = MONTHS if limit is None or limit > MONTHS else limit
    fn = Service({"b": lasts / 2} if lasts < MONTHS else {"b": lasts / 2, "a": lasts})

    async with open_operator(
        OperatorConfig("ordered", timeout=limit), fn, Source("b", "a")
    ) as results:
        out = await read_timed(results)

    assert [when for when, _ in out] == pytest.approx([lasts / 2, lasts], abs=1e-6)
    assert [value for _, value in out] == ["b", "a" if lasts == MONTHS else ("late", "a")]


async def test_an_open_hook_that_blocks_costs_no_call_its_time(
    open_operator: OpenOperator,
) -> None:
    fn: Any = Service({"a": 2})
    fn.open = lambda: block(50)

    async with open_operator(OperatorConfig(timeout=3), fn, Source("a")) as results:
        assert await read_timed(results) == [(52, "a")]


@pytest.mark.all_profiles
async def test_an_attempt_that_runs_on_has_no_part_in_what_comes_after_it(
    open_operator: OpenOperator,
) -> None:
    fn: Any = Sleeper()
    fn.clean_up = 0.5
    fn.timeout = lambda _: ["instead"]
    config = OperatorConfig("ordered", 4, 3.2, Retry(initial=0.1, attempt_timeout=1))

    async with open_operator(config, fn, Source("a9", 9)) as results:
        assert await read_timed(results) == [(3.2, "instead")]
        assert results.statistics().abandoned == 3

    assert fn.cancelled == [(1, "a9"), (2.1, "a9"), (3.2, "a9")]


class Slow:
    """Never answers; its handler may block the loop; cleans up with many steps and no time.

    Args:
        handler_blocks: for so many seconds.
        steps: of the clean-up.
    """

    def __init__(self, handler_blocks: float = 0, steps: int = 0) -> None:
        self.handler_blocks = handler_blocks
        self.steps = steps

    async def __call__(self, value: str) -> list[str]:
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await turns(self.steps)
        return []

    def timeout(self, value: str) -> list[str]:
        if self.handler_blocks:
            block(self.handler_blocks)
        return []


@pytest.mark.parametrize("steps", [0, 1, 20], ids="{} steps".format)
@pytest.mark.parametrize("stall", [0, 0.004, 3], ids="{} s".format)
async def test_a_call_that_ends_with_its_cancellation_is_not_abandoned(
    open_operator: OpenOperator, stall: float, steps: int
) -> None:
    fn = Slow(stall, steps)

    async with open_operator(OperatorConfig(timeout=1), fn, Source("a", 2, "b", 9)) as results:
        assert await read_all(results) == []
        assert results.statistics().abandoned == 0


@pytest.mark.all_profiles
async def test_a_blocked_loop_makes_no_call_abandoned(
    open_operator: OpenOperator,
) -> None:
    async with open_operator(OperatorConfig(timeout=1), Slow(steps=5), Source("a", 9)) as results:
        with anyio.move_on_after(0.9):
            await anext(results)
        block(0.2)
        await turns(2)
        block(0.2)
        assert await read_all(results) == []
        figures = results.statistics()

    assert (figures.timeouts, figures.abandoned) == (1, 0)
