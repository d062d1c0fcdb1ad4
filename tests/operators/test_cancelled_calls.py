"""How a call is cancelled on every shipped operator: as its loop does it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest
import trio
from operators import Source, read_all, seconds_now, virtual_loop

from asyncwait.spec import CallFailed, OpenOperator, OperatorConfig, Record, Retry

pytestmark = pytest.mark.anyio


on_asyncio = pytest.mark.parametrize("anyio_backend", [virtual_loop("asyncio")], ids=["asyncio"])
"""For what trio does not have."""


class CleansUp:
    """Sleeps for ever, and cleans up in a way that is given.

    Args:
        clean_up: awaited when a call is cancelled.
    """

    def __init__(self, clean_up: Callable[[], Awaitable[object]]) -> None:
        self.clean_up = clean_up
        self.done: list[tuple[float, str]] = []
        self.cut: list[str] = []

    async def __call__(self, value: str) -> list[str]:
        """Sleep, and clean up."""
        if value.startswith("quick"):
            return [value]
        try:
            await anyio.sleep_forever()
        finally:
            try:
                await self.clean_up()
                self.done.append((seconds_now(), value))
            except BaseException:
                self.cut.append(value)
                raise
        return []

    def timeout(self, value: str) -> list[str]:
        """Say so."""
        return [f"{value}?"]


async def a_second() -> None:
    """A clean-up without any shield."""
    await anyio.sleep(1)


def runs_to_its_end() -> bool:
    """Whether a clean-up without a shield does, on the loop that runs."""
    return not trio.lowlevel.in_trio_run()


async def test_what_a_late_call_awaits_in_its_clean_up(open_operator: OpenOperator) -> None:
    """It runs to its end on asyncio, and is cancelled on trio."""
    fn = CleansUp(a_second)

    async with open_operator(OperatorConfig(timeout=1), fn, Source("a", "b", 5)) as results:
        assert await read_all(results) == ["a?", "b?"]

    whole, cut = ([(2, "a"), (2, "b")], []) if runs_to_its_end() else ([], ["a", "b"])
    assert (sorted(fn.done), sorted(fn.cut)) == (whole, cut)


async def test_what_a_call_awaits_in_its_clean_up_when_the_operator_is_left(
    open_operator: OpenOperator,
) -> None:
    """Leaving waits for it, and for one that was late and still cleans up."""
    fn = CleansUp(a_second)
    source = Source("a", 0.5, "b", 9)

    async with open_operator(OperatorConfig("unordered", 4, 1), fn, source) as results:
        assert (await anext(results)) == Record("a?")

    if runs_to_its_end():
        assert sorted(fn.done) == [(2, "a"), (2, "b")]
        assert seconds_now() == 2
    else:
        assert sorted(fn.cut) == ["a", "b"]


async def test_what_a_call_awaits_in_its_clean_up_when_the_operator_fails(
    open_operator: OpenOperator,
) -> None:
    """The others are cancelled as at a deadline."""
    fn = CleansUp(a_second)

    async def failing(value: str) -> list[str]:
        if value == "b":
            raise ValueError
        return await fn(value)

    async with open_operator(OperatorConfig(), failing, Source("a", "b", 9)) as results:
        with pytest.raises(CallFailed):
            await anext(results)

    assert fn.done == ([(1, "a")] if runs_to_its_end() else [])


@pytest.mark.parametrize("way", ["scope", "once"])
async def test_a_consumer_that_is_cancelled_cancels_calls_once(
    open_operator: OpenOperator, way: str
) -> None:
    """Be it by a scope of anyio, which cancels again and again, or by `Task.cancel`."""
    fn = CleansUp(a_second)

    async def consume() -> None:
        async with open_operator(OperatorConfig(), fn, Source("a", "b", 9)) as results:
            await anext(results)

    if way == "scope" or not runs_to_its_end():
        with anyio.move_on_after(3):
            await consume()
    else:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3):
                await consume()

    assert fn.done == ([(4, "a"), (4, "b")] if runs_to_its_end() else [])


async def test_a_shielded_clean_up_runs_to_its_end_on_both_loops(
    open_operator: OpenOperator,
) -> None:
    """As it always did."""

    async def shielded() -> None:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(1)

    fn = CleansUp(shielded)
    async with open_operator(OperatorConfig(timeout=1), fn, Source("a", 5)) as results:
        assert await read_all(results) == ["a?"]

    assert fn.done == [(2, "a")]


@on_asyncio
async def test_structured_constructs_work_in_a_clean_up(open_operator: OpenOperator) -> None:
    """A time limit that fires, a task group that comes to its end, and one that fails."""
    seen: list[str] = []

    async def failing() -> None:
        raise ValueError

    async def clean_up() -> None:
        try:
            async with asyncio.timeout(1):
                await asyncio.sleep(9)
        except TimeoutError:
            seen.append("limit")
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(1))
        task = asyncio.current_task()
        assert task is not None
        seen.append(f"{task.cancelling()}")
        try:  # The last, because since Python 3.13 one that fails cancels its task again.
            async with asyncio.TaskGroup() as group:
                group.create_task(failing())
                await asyncio.sleep(9)
        except* ValueError:
            seen.append("group")

    fn = CleansUp(clean_up)
    source = Source("a", 5, "quick b", 5)
    async with open_operator(OperatorConfig(timeout=1, capacity=1), fn, source) as results:
        assert await read_all(results) == ["a?", "quick b"]

    assert seen == ["limit", "1", "group"]
    assert fn.done == [(3, "a")]


@on_asyncio
async def test_structured_constructs_work_in_a_call(open_operator: OpenOperator) -> None:
    """In calls one after the other, and behind one that was cancelled."""
    counts: list[int] = []

    async def fn(value: str) -> list[str]:
        task = asyncio.current_task()
        assert task is not None
        counts.append(task.cancelling())
        if value == "late":
            await asyncio.sleep(100)
        try:
            async with asyncio.timeout(1), asyncio.TaskGroup() as group:
                answer = group.create_task(asyncio.sleep(0.5, value))
                _ = group.create_task(asyncio.sleep(2 if value == "slow" else 0))
        except TimeoutError:
            return [f"{value}: too late"]
        return [answer.result()]

    config = OperatorConfig("ordered", 1, 10, Retry(max_attempts=2, initial=1, attempt_timeout=4))
    fn_with_handler: Any = fn
    fn_with_handler.timeout = lambda value: [f"{value}?"]
    source = Source("a", "slow", "late", "a", "slow")
    async with open_operator(config, fn_with_handler, source) as results:
        with pytest.raises(CallFailed, match="no results after 4 s"):
            assert await read_all(results) == []
    assert counts == [0] * 4


@on_asyncio
async def test_a_call_may_cancel_its_own_task(open_operator: OpenOperator) -> None:
    """That is an error of this call alone, and no later one notices."""
    counts: list[int] = []

    async def fn(value: str) -> list[str]:
        task = asyncio.current_task()
        assert task is not None
        counts.append(task.cancelling())
        if value == "b":
            task.cancel()
            await asyncio.sleep(1)
        return [value]

    with_handler: Any = fn
    with_handler.failure = lambda value, error: [f"{value}: {type(error.__cause__).__name__}"]
    source = Source("a", "b", "c", "b", "d")
    async with open_operator(OperatorConfig(capacity=1), with_handler, source) as results:
        expected = ["a", "b: CancelledError", "c", "b: CancelledError", "d"]
        assert await read_all(results) == expected

    assert counts == [0] * 5


@on_asyncio
@pytest.mark.parametrize("later", [0, 1])
async def test_what_cancels_the_task_of_a_call_that_is_over_hits_nobody(
    open_operator: OpenOperator, later: float
) -> None:
    """Neither at once, nor when there has been nothing to do for a while."""
    counts: list[int] = []

    async def fn(value: str) -> list[str]:
        task = asyncio.current_task()
        assert task is not None
        counts.append(task.cancelling())
        asyncio.get_running_loop().call_later(later, task.cancel)
        return [value]

    source = Source("a", "b", 3, "c", "d", 3, "e")
    async with open_operator(OperatorConfig(capacity=2), fn, source) as results:
        assert await read_all(results) == list("abcde")
    assert counts == [0] * 5


async def test_a_call_sees_no_deadline_of_the_operator(open_operator: OpenOperator) -> None:
    """That of whoever entered it may be seen."""
    seen: list[float] = []

    async def fn(value: str) -> list[str]:
        await anyio.lowlevel.checkpoint()
        seen.append(anyio.current_effective_deadline())
        return [value]

    config = OperatorConfig(timeout=5, retry=Retry(attempt_timeout=2))
    async with open_operator(config, fn, Source("a", "b")) as results:
        assert await read_all(results) == ["a", "b"]

    assert seen == [float("inf")] * 2


async def test_calls_at_the_same_time_have_tasks_of_their_own(open_operator: OpenOperator) -> None:
    """Neither is it the consumer's, or the source's."""
    tasks: list[object] = []

    def note() -> None:
        present = trio.lowlevel.current_task() if not runs_to_its_end() else asyncio.current_task()
        assert present not in tasks
        tasks.append(present)

    async def fn(value: str) -> list[str]:
        note()
        await anyio.sleep(1)
        return [value]

    async def elements() -> AsyncIterator[Record]:
        note()
        for value in "abcd":
            yield Record(value)

    note()
    async with open_operator(OperatorConfig("ordered", 4), fn, elements()) as results:
        assert await read_all(results) == list("abcd")
    assert len(tasks) == 6
