"""The task of the reference: when it goes on, when it stops, and how it spends its time."""

from collections.abc import AsyncIterator
from threading import Thread
from typing import Any

import anyio
import pytest
from operators import Source

from asyncwait.reference import (
    REFERENCE,
    MailboxClosedError,
    MailboxMetrics,
    MailboxState,
    ResultStream,
    TaskMetrics,
)
from asyncwait.spec import Element, OperatorConfig, Record, Snapshot

pytestmark = pytest.mark.anyio


async def wait_a_second(value: Any) -> tuple[Any, ...]:
    await anyio.sleep(1)
    return (value,)


def opened(config: OperatorConfig, elements: AsyncIterator[Element], *stored: Any) -> ResultStream:
    restore = Snapshot(1, stored) if stored else None
    return ResultStream(REFERENCE, config, wait_a_second, elements, restore)


async def test_the_time_without_input_is_told_from_that_without_room() -> None:
    config = OperatorConfig("ordered", capacity=1)
    async with opened(config, Source(3, Record("a"), Record("b"))) as results:
        assert [element.value async for element in results] == ["a", "b"]
        metrics = results.task.metrics()

    assert (metrics.idle, metrics.back_pressured) == (4, 1)  # the last call takes 1 s, too


async def test_mails_are_counted() -> None:
    async with opened(OperatorConfig("ordered"), Source(Record("a"), Record("b"))) as results:
        assert len([element async for element in results]) == 2
        await anyio.sleep(0.1)
        metrics = results.task.metrics()

    assert metrics.mailbox.mails >= 2
    mails = MailboxMetrics(mails=metrics.mailbox.mails, latency=None, queued=0)
    assert metrics == TaskMetrics(idle=1, back_pressured=0, completed=None, mailbox=mails)


async def test_a_checkpoint_is_triggered_from_another_thread() -> None:
    async with opened(OperatorConfig("ordered"), Source(Record("a"), 9)) as results:
        await anyio.sleep(0.5)
        thread = Thread(target=results.task.trigger_checkpoint, args=[5], kwargs={"urgent": True})
        thread.start()
        thread.join()
        assert await anext(results) == Snapshot(5, (Record("a"),), read=1)
        assert await anext(results) == Record("a")


async def test_an_aborted_checkpoint_is_withdrawn() -> None:
    async with opened(OperatorConfig("ordered"), Source(Record("a"), 9)) as results:
        await anyio.sleep(0.5)
        for number in (5, 6):
            results.task.trigger_checkpoint(number)
        results.task.checkpoint_aborted(5)
        await anyio.sleep(0.1)
        assert await anext(results) == Snapshot(6, (Record("a"),), read=1)
        assert await anext(results) == Record("a")


async def test_a_completed_checkpoint_is_known() -> None:
    async with opened(OperatorConfig("ordered"), Source(9)) as results:
        results.task.checkpoint_completed(5)
        await anyio.sleep(0.1)
        assert results.task.metrics().completed == 5


async def test_stopped_without_drain_it_ends_behind_a_last_snapshot() -> None:
    source = Source(Record("a"), 0.5, Record("b"), Record("c"), 9)
    async with opened(OperatorConfig("ordered"), source) as results:
        assert await anext(results) == Record("a")
        stopped = results.task.stop_without_drain(5)
        assert await anext(results) == Snapshot(5, (Record("b"), Record("c")), read=3)
        assert [element async for element in results] == []
        assert (stopped.done(), round(anyio.current_time(), 6) % 1) == (True, 0)


async def test_who_coordinates_too_late_is_told() -> None:
    async with opened(OperatorConfig("ordered"), Source(Record("a"))) as results:
        assert [element async for element in results] == [Record("a")]
        await anyio.sleep(0.1)
        with pytest.raises(MailboxClosedError, match="this one is closed"):
            results.task.trigger_checkpoint(5)


async def test_the_loop_ends_when_it_is_known_which_calls_are_abandoned() -> None:
    class Stubborn:
        async def __call__(self, value: Any) -> tuple[Any, ...]:
            try:
                await anyio.sleep(5)
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(5 if value == "goes on" else 0)
                raise
            return ()

        def timeout(self, value: Any) -> tuple[Any, ...]:
            return (f"{value} late",)

    config = OperatorConfig("ordered", timeout=1)
    source = Source(Record("ends"), Record("goes on"))
    stream = ResultStream(REFERENCE, config, Stubborn(), source)
    async with stream as results:
        assert [e.value async for e in results] == ["ends late", "goes on late"]
        await anyio.sleep(0.1)
        assert stream.task.mailbox.state is MailboxState.CLOSED
        assert results.statistics().abandoned == 1
