"""A loop that somebody blocks: deadlines hold, whoever it was, and nobody is blamed for it."""

from typing import Any

import anyio
import pytest
from operators import SIDE_BY_SIDE, Source, block, echo, failure_of, read_timed, seconds_now, turns

from asyncwait.spec import (
    MODES,
    CallFailed,
    CallTimedOut,
    Element,
    Mode,
    OpenOperator,
    OperatorConfig,
    Record,
)

pytestmark = pytest.mark.anyio


class Blocking:
    """Does per value what it is told: sleeps, blocks the loop, raises; the handler blocks, too.

    Args:
        handler_blocks: for so many seconds.
        plans: by value: seconds to sleep, seconds to block after that, and perhaps an error.
    """

    def __init__(self, handler_blocks: float = 0, **plans: tuple[Any, ...]) -> None:
        self.handler_blocks = handler_blocks
        self.plans = plans
        self.asked: list[tuple[float, str]] = []

    async def __call__(self, value: str) -> list[str]:
        """Follow the plan."""
        sleep, stall, *errors = self.plans[value]
        await anyio.sleep(sleep)
        if stall:
            block(stall)
        for error in errors:
            raise error
        return [value]

    def timeout(self, value: str) -> list[str]:
        """Note it, block, and reply."""
        self.asked.append((seconds_now(), value))
        if self.handler_blocks:
            block(self.handler_blocks)
        return [value.upper()]


async def test_a_call_that_blocks_past_its_own_deadline_is_late(
    open_operator: OpenOperator,
) -> None:
    """Its answer and its error do not count, and the record is decided once."""
    fn = Blocking(a=(1, 9), b=(1, 9, ValueError("b")))

    for value in "ab":
        async with open_operator(OperatorConfig(timeout=3), fn, Source(value)) as results:
            began = seconds_now()
            assert await read_timed(results) == [(began + 10, value.upper())]
            assert results.statistics().timeouts == 1
    assert [value for _, value in fn.asked] == ["a", "b"]


@pytest.mark.parametrize("mode", SIDE_BY_SIDE)
async def test_what_was_due_while_the_loop_was_blocked_is_decided_first(
    open_operator: OpenOperator, mode: Mode
) -> None:
    """The handler is asked in the order of the deadlines, then the call that blocked counts."""
    fn = Blocking(a=(9, 0), b=(9, 0), c=(0, 5))
    source = Source("a", 0.5, "b", 1.5, "c")

    async with open_operator(OperatorConfig(mode, timeout=6), fn, source) as results:
        out = await read_timed(results)

    assert out == [(7, "A"), (7, "B"), (7, "c")]
    assert fn.asked == [(7, "a"), (7, "b")]


@pytest.mark.parametrize("mode", MODES)
async def test_a_deadline_that_passed_while_the_loop_was_blocked_fails_before_a_later_error(
    open_operator: OpenOperator, mode: Mode
) -> None:
    """Of two failures the earlier is raised: the record was to be decided before (FAIL-4)."""

    async def fn(value: str) -> list[str]:
        if value == "b":
            await anyio.sleep(1)
            block(9)
            raise ValueError(value)
        await anyio.sleep(99)
        return []

    source = Source("a", 1, "b")
    async with open_operator(OperatorConfig(mode, timeout=9.5), fn, source) as results:
        error = await failure_of(results)

    assert type(error) is CallTimedOut
    assert error.record == Record("a")


async def test_an_answer_before_the_loop_was_blocked_counts(open_operator: OpenOperator) -> None:
    """However long after its deadline it comes out (TIME-10)."""
    fn = Blocking(a=(1, 0))

    async with open_operator(OperatorConfig(timeout=3), fn, Source("a")) as results:
        await anyio.sleep(1)
        await turns(20)
        block(9)
        assert await read_timed(results) == [(10, "a")]

    assert fn.asked == []


async def test_a_source_that_blocks_the_loop_holds_no_deadline_up(
    open_operator: OpenOperator,
) -> None:
    """What was due meanwhile is decided as soon as the loop is free, and what is read is read."""

    class BlockingSource(Source):
        async def __anext__(self) -> Element:
            element = await super().__anext__()
            if element == Record("b"):
                block(5)
            return element

    fn = Blocking(a=(9, 0), b=(1, 0))
    source = BlockingSource("a", 1, "b")
    async with open_operator(OperatorConfig(timeout=3), fn, source) as results:
        out = await read_timed(results)

    assert out == [(6, "A"), (7, "b")]
    assert fn.asked == [(6, "a")]


async def test_the_timeout_starts_when_the_call_does_although_the_loop_was_blocked(
    open_operator: OpenOperator,
) -> None:
    """A call that begins behind one that blocks has its full time (TIME-7)."""
    fn = Blocking(a=(0, 5), b=(2, 0), c=(2, 0))

    async with open_operator(OperatorConfig(timeout=6), fn, Source("a", "b", "c")) as results:
        out = await read_timed(results)

    assert [value for _, value in out] == ["a", "b", "c"]
    assert fn.asked == []


async def test_an_open_hook_that_blocks_costs_no_call_its_time(
    open_operator: OpenOperator,
) -> None:
    """It runs before the first call."""
    fn: Any = Blocking(a=(2, 0))
    fn.open = lambda: block(50)

    async with open_operator(OperatorConfig(timeout=3), fn, Source("a")) as results:
        assert await read_timed(results) == [(52, "a")]


async def test_a_failure_of_a_handler_that_blocks_is_the_only_one(
    open_operator: OpenOperator,
) -> None:
    """The deadlines that pass meanwhile are no longer anybody's."""
    asked: list[str] = []

    def handler(value: str) -> None:
        asked.append(value)
        block(5)
        raise ValueError(value)

    async def fn(value: str) -> list[str]:
        await anyio.sleep(99)
        return []

    fn.timeout = handler  # type: ignore[attr-defined]
    async with open_operator(OperatorConfig(timeout=3), fn, Source("a", 0.5, "b")) as results:
        error = await failure_of(results)
        assert await failure_of(results) is error

    assert type(error) is CallTimedOut
    assert error.record == Record("a")
    assert asked == ["a"]


async def test_a_late_error_of_a_cancelled_call_is_nobodys_failure(
    open_operator: OpenOperator,
) -> None:
    """Its record was decided without it."""

    async def fn(value: str) -> list[str]:
        try:
            await anyio.sleep(99)
        finally:
            raise ValueError(value)

    fn.timeout = lambda value: [value.upper()]  # type: ignore[attr-defined]
    async with open_operator(OperatorConfig(timeout=3), fn, Source("a", 5, "b", 1)) as results:
        out = await read_timed(results)

    assert out == [(3, "A"), (8, "B")]


async def test_a_consumer_that_blocks_the_loop_gets_what_was_decided_in_time(
    open_operator: OpenOperator,
) -> None:
    """And a record whose call was still running is decided by its deadline."""
    fn = Blocking(a=(1, 0), b=(4, 0))

    async with open_operator(OperatorConfig("ordered", timeout=3), fn, Source("a", "b")) as results:
        assert await anext(results) == Record("a")
        block(5)
        assert await read_timed(results) == [(6, "B")]
    assert fn.asked == [(6, "b")]


async def test_a_failure_that_was_decided_before_the_loop_was_blocked_stays(
    open_operator: OpenOperator,
) -> None:
    """A deadline that passes later changes nothing."""
    fn = Blocking(a=(1, 0, ValueError("a")), b=(9, 0))

    async with open_operator(OperatorConfig(timeout=3), fn, Source("a", "b")) as results:
        await anyio.sleep(1)
        await turns(20)
        block(9)
        error = await failure_of(results)

    assert type(error) is CallFailed
    assert error.record == Record("a")
    assert fn.asked == []


async def test_echo_is_never_late(open_operator: OpenOperator) -> None:
    """A call that answers at once does so in the instant in which it began."""
    source = Source(*range(300))
    config = OperatorConfig("ordered", 7, timeout=0.001)
    async with open_operator(config, echo, source) as results:
        async for _ in results:
            block(0.002)
        assert results.statistics().timeouts == 0
