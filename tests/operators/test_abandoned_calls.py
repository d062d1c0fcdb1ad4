"""Which calls count as abandoned: those that run on, and not those that the loop held up."""

from typing import Any

import anyio
import anyio.lowlevel
import pytest
from operators import Source, block, failure_of, read_all, seconds_now, turns

from asyncwait.spec import OpenOperator, OperatorConfig, TooManyAbandonedCalls

pytestmark = pytest.mark.anyio


class Slow:
    """Never answers; its handler may block the loop; cleans up with many steps and no time.

    Args:
        handler_blocks: for so many seconds.
        steps: of the clean-up.
        clean_up: seconds of the clean-up.
    """

    def __init__(self, handler_blocks: float = 0, steps: int = 0, clean_up: float = 0) -> None:
        self.handler_blocks = handler_blocks
        self.steps = steps
        self.clean_up = clean_up

    async def __call__(self, value: str) -> list[str]:
        """Sleep until cancelled."""
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await turns(self.steps)
                await anyio.sleep(self.clean_up)
        return []

    def timeout(self, value: str) -> list[str]:
        """Perhaps block, and give nothing."""
        if self.handler_blocks:
            block(self.handler_blocks)
        return []


@pytest.mark.parametrize("steps", [0, 1, 5, 20], ids="{} steps".format)
@pytest.mark.parametrize("stall", [0, 0.004, 0.05, 3], ids="{} s".format)
async def test_a_call_that_ends_with_its_cancellation_is_not_abandoned(
    open_operator: OpenOperator, stall: float, steps: int
) -> None:
    """However many steps that takes, and however long a handler blocked the loop (TIME-8)."""
    fn = Slow(stall, steps)

    async with open_operator(OperatorConfig(timeout=1), fn, Source("a", 2, "b", 9)) as results:
        assert await read_all(results) == []
        assert results.statistics().abandoned == 0


@pytest.mark.parametrize("gap", [0, 0.001, 0.004, 0.006])
async def test_handlers_that_block_one_after_the_other_make_no_call_abandoned(
    open_operator: OpenOperator, gap: float
) -> None:
    """Each stall takes the turn from those that were cancelled before it."""
    fn = Slow(0.05, steps=5)
    script = [item for name in "abcdefgh" for item in (name, gap)]

    async with open_operator(OperatorConfig("ordered", 8, 1), fn, Source(*script, 9)) as results:
        assert await read_all(results) == []
        figures = results.statistics()

    assert (figures.timeouts, figures.abandoned) == (8, 0)


async def test_whoever_blocks_the_loop_makes_no_call_abandoned(
    open_operator: OpenOperator,
) -> None:
    """The consumer, say, just when the call has been cancelled, and again."""
    fn = Slow(steps=5)

    async with open_operator(OperatorConfig(timeout=1), fn, Source("a", 9)) as results:
        with anyio.move_on_after(0.9):
            await anext(results)
        block(0.2)
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        block(0.2)
        assert await read_all(results) == []
        figures = results.statistics()

    assert (figures.timeouts, figures.abandoned) == (1, 0)


@pytest.mark.parametrize("stall", [0, 0.05])
async def test_a_call_that_cleans_up_for_long_is_abandoned(
    open_operator: OpenOperator, stall: float
) -> None:
    """It is told after 20 ms in which the loop was free."""
    fn = Slow(stall, clean_up=5)

    async with open_operator(OperatorConfig(timeout=1), fn, Source("a", 9)) as results:
        with anyio.move_on_after(1 + stall + 0.02):
            await anext(results)
        assert results.statistics().abandoned == 1
        assert await read_all(results) == []
        assert results.statistics().abandoned == 1


async def test_a_loop_that_is_blocked_all_the_time_hides_no_abandoned_call(
    open_operator: OpenOperator,
) -> None:
    """A call that has had several turns is told, although the clock jumps at each of them."""
    fn = Slow(clean_up=50)

    async with open_operator(OperatorConfig(timeout=1), fn, Source("a", 99)) as results:
        await anyio.sleep(1)
        for _ in range(20):
            block(0.1)
            await turns(20)
        assert seconds_now() == 3
        assert results.statistics().abandoned == 1


async def test_abandoned_calls_that_have_ended_make_room_for_others(
    open_operator: OpenOperator,
) -> None:
    """The bound is on those that run at one time, whenever they were told."""
    fn = Slow(clean_up=2)
    script = ["a", "b", 4, "c", "d", 4, "e", "f", 9]

    async with open_operator(OperatorConfig("ordered", 2, 1), fn, Source(*script)) as results:
        assert await read_all(results) == []
        assert results.statistics().abandoned == 6


async def test_one_more_abandoned_call_than_capacity_fails_the_operator(
    open_operator: OpenOperator,
) -> None:
    """No record is to blame (TIME-9)."""
    fn = Slow(clean_up=50)

    async with open_operator(OperatorConfig("ordered", 1, 1), fn, Source(*"abc", 99)) as results:
        error: Any = await failure_of(results)
        assert 2 < anyio.current_time() <= 2.02

    assert type(error) is TooManyAbandonedCalls
    assert error.record is None
