"""The pool on uvloop, whose clock nobody can turn: in real time, with delays that are short."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine
from contextvars import ContextVar
from typing import Any

import anyio
import pytest
import uvloop

from asyncwait.backends.pool import key_ordered_wait, open_operator, ordered_wait, unordered_wait
from asyncwait.spec import (
    Barrier,
    CallTimedOut,
    Element,
    OperatorConfig,
    Record,
    ResultFuture,
    Retry,
    Snapshot,
    Watermark,
)

STEP = 0.02
"""Seconds between two things whose order counts."""

VARIABLE = ContextVar("VARIABLE", default="opened")


def run(main: Coroutine[Any, Any, Any]) -> Any:
    """Run on uvloop, and see that it is that."""

    async def checked() -> Any:
        assert isinstance(asyncio.get_running_loop(), uvloop.Loop)
        return await main

    return anyio.run(checked, backend_options={"use_uvloop": True})


async def after(steps: int) -> int:
    """Give the steps that were waited for."""
    await asyncio.sleep(steps * STEP)
    return steps


@pytest.mark.parametrize(
    ("wait", "out"),
    [(ordered_wait, [3, 1, 0, 2]), (unordered_wait, [0, 1, 2, 3])],
    ids=["ordered", "unordered"],
)
def test_results_come_in_the_order_of_the_mode(wait: Any, out: list[int]) -> None:
    """That of the input, or that of the ends of the calls."""

    async def main() -> list[int]:
        async with wait([3, 1, 0, 2], after) as results:
            return [result async for result in results]

    assert run(main()) == out


def test_records_of_a_key_follow_each_other() -> None:
    """And no key waits for another."""

    async def main() -> list[int]:
        async with key_ordered_wait([4, 2, 1], after, key=lambda steps: steps % 2) as results:
            return [result async for result in results]

    assert run(main()) == [1, 4, 2]


def test_a_call_that_is_late_is_cancelled_once_and_cleans_up() -> None:
    """What it awaits in its clean-up runs to its end, and the operator waits for it."""
    log: list[str] = []

    async def hangs(_: int) -> None:
        try:
            await asyncio.sleep(999)
        finally:
            await asyncio.sleep(STEP)
            log.append("clean")

    async def main() -> None:
        async with ordered_wait([1], hangs, timeout=STEP) as results:
            with pytest.raises(CallTimedOut, match=r"^value 1: no results after 0\.02 s"):
                await anext(results)

    run(main())
    assert log == ["clean"]


def test_calls_are_repeated_and_see_nothing_of_each_other() -> None:
    """The third attempt succeeds; what the first has set is not there any more."""
    seen: list[str] = []

    async def fails_twice(value: int) -> int:
        seen.append(VARIABLE.get())
        VARIABLE.set("call")
        if len(seen) < 3:
            raise ValueError(value)
        return value

    async def main() -> list[int]:
        async with ordered_wait([1], fails_twice, retry=Retry(initial=STEP)) as results:
            return [result async for result in results]

    assert run(main()) == [1]
    assert seen == ["opened"] * 3


class Threads:
    """Answers from a thread."""

    def async_invoke(self, value: int, result: ResultFuture) -> None:
        """Complete elsewhere."""
        threading.Thread(target=result.complete, args=([-value],)).start()


def test_answers_come_from_threads_and_snapshots_hold_what_is_in_flight() -> None:
    """Fences and barriers are where they were."""

    async def source() -> AsyncIterator[Element]:
        yield Record(1)
        yield Watermark(7)
        yield Record(2)

    async def main() -> list[Any]:
        async with open_operator(OperatorConfig(capacity=2), Threads(), source()) as results:
            return [element async for element in results]

    assert run(main()) == [Record(-1), Watermark(7), Record(-2)]


def test_leaving_ends_what_runs() -> None:
    """A barrier overtakes a call that hangs; then nobody waits for that."""

    async def source() -> AsyncIterator[Element]:
        yield Record(1)
        yield Barrier(5)
        await asyncio.sleep(999)

    async def hangs(_: int) -> list[int]:
        await asyncio.sleep(999)
        return []

    async def main() -> Any:
        async with open_operator(OperatorConfig(), hangs, source()) as results:
            return await anext(results)

    assert run(main()) == Snapshot(5, (Record(1),))
