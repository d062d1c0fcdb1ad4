"""Timeouts, their handlers, and calls that outlive their records."""

import asyncio
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
import trio

from asyncwait.conformance.harness import VirtualLoop
from asyncwait.reference import GRACE, open_operator
from asyncwait.spec import (
    CallFailed,
    CallTimedOut,
    InvalidResult,
    Mode,
    OperatorConfig,
    Record,
    ResultFuture,
    TooManyAbandonedCalls,
)

pytestmark = pytest.mark.anyio


class Slow:
    """Replies after so many seconds; its handler gives `fallback`, or raises it.

    A call that is cancelled cleans up for `clean_up` seconds.
    """

    def __init__(self, fallback: Any = ("fallback",), clean_up: float = 0) -> None:
        self.fallback = fallback
        self.clean_up = clean_up
        self.asked: list[tuple[float, Any]] = []
        self.cancelled: list[float] = []

    async def __call__(self, seconds: float) -> list[Any]:
        """Reply."""
        try:
            await anyio.sleep(seconds)
        except anyio.get_cancelled_exc_class():
            self.cancelled.append(anyio.current_time())
            if self.clean_up:
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(self.clean_up)
            raise
        return [seconds]

    def timeout(self, value: float) -> Any:
        """Give the fallback, or raise it."""
        self.asked.append((anyio.current_time(), value))
        if isinstance(self.fallback, BaseException):
            raise self.fallback
        return self.fallback


def block_loop(seconds: float) -> None:
    """Let time pass as a function does that blocks the loop."""
    clock = asyncio.get_running_loop() if trio_is_absent() else trio.lowlevel.current_clock()
    if isinstance(clock, VirtualLoop | trio.testing.MockClock):
        clock.jump(seconds)


def trio_is_absent() -> bool:
    """Say whether asyncio runs this."""
    return not trio.lowlevel.in_trio_run()


async def failure_of(results: Any) -> Any:
    """Read until the operator fails; return the error."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the tests look at it closely
        async for _ in results:
            pass
    return caught.value


@pytest.mark.parametrize("mode", ["ordered", "unordered"])
async def test_the_handler_is_asked_at_the_deadline_and_its_results_count(
    feed: Any, read: Any, mode: Mode
) -> None:
    """They take the record's place, with its timestamp and key, and the call is cancelled."""
    fn = Slow(fallback=["x", "y"])
    source = feed(Record(9, 1, "k"), Record(9))

    async with open_operator(OperatorConfig(mode, 1, timeout=2), fn, source) as results:
        assert await read(results) == [
            (2, Record("x", 1, "k")),
            (2, Record("y", 1, "k")),
            (4, Record("x")),
            (4, Record("y")),
        ]
        assert results.statistics().timeouts == 2
        assert results.statistics().abandoned == 0

    assert fn.asked == [(2, 9), (4, 9)]
    assert fn.cancelled == [2, 4]


async def test_a_deadline_is_met_with_nobody_reading(feed: Any) -> None:
    """The consumer pauses; the records are decided on time all the same."""
    fn = Slow()
    source = feed(Record(9), Record(9), Record(9))

    async with open_operator(OperatorConfig("ordered", 2, timeout=2), fn, source) as results:
        await anyio.sleep(5)
        assert fn.asked == [(2, 9), (2, 9)]
        assert results.statistics().held == 2


async def test_the_timeout_begins_with_the_call(feed: Any, read: Any) -> None:
    """The second record waits 2 s for room and still has 3 s for its call."""
    fn = Slow()
    source = feed(Record(2), Record(2))

    async with open_operator(OperatorConfig("ordered", 1, timeout=3), fn, source) as results:
        assert await read(results) == [(2, Record(2)), (4, Record(2))]
    assert fn.asked == []


async def test_a_finished_record_does_not_time_out_while_it_waits(feed: Any) -> None:
    """Neither for its turn, nor for the consumer."""
    fn = Slow()
    source = feed(Record(3), Record(1))

    async with open_operator(OperatorConfig("ordered", 2, timeout=3.5), fn, source) as results:
        await anyio.sleep(10)
        assert [element.value async for element in results] == [3, 1]
    assert fn.asked == []


async def test_without_a_handler_the_operator_fails(feed: Any, read: Any) -> None:
    """The error names the record and the timeout, and comes at the deadline."""

    async def hang(value: str) -> list[str]:
        await anyio.sleep_forever()
        return []

    source = feed(Record("a", 5), 1)
    async with open_operator(OperatorConfig(timeout=2.5), hang, source) as results:
        with pytest.raises(CallTimedOut) as caught:
            await read(results)
        assert anyio.current_time() == 2.5

    assert str(caught.value) == (
        "Record 'a' @ 5: no results after 2.5 s, and there is no timeout handler"
    )
    assert caught.value.record == Record("a", 5)
    assert caught.value.__cause__ is None


async def test_a_handler_that_raises_fails_the_operator(feed: Any) -> None:
    """What it raised is the cause."""
    fn = Slow(fallback=KeyError("k"))

    async with open_operator(OperatorConfig(timeout=1), fn, feed(Record(2))) as results:
        error = await failure_of(results)

    assert isinstance(error, CallTimedOut)
    assert str(error) == "Record 2: no results after 1 s, and the handler raised KeyError('k')"
    assert error.__cause__ is fn.fallback


async def test_a_handler_that_gives_none_fails_the_operator(feed: Any) -> None:
    """None is not "no results": that would be []."""
    fn = Slow(fallback=None)

    async with open_operator(OperatorConfig(timeout=1), fn, feed(Record(2))) as results:
        error = await failure_of(results)

    assert isinstance(error, CallTimedOut)
    assert str(error) == "Record 2: no results after 1 s, and the handler gave None"


async def test_a_handler_that_gives_text_fails_the_operator(feed: Any) -> None:
    """Its letters are surely not the results."""
    fn = Slow(fallback="text")

    async with open_operator(OperatorConfig(timeout=1), fn, feed(Record(2))) as results:
        error = await failure_of(results)

    assert isinstance(error, InvalidResult)
    assert error.record == Record(2)


async def test_a_handler_whose_results_raise_fails_the_operator(feed: Any) -> None:
    """They are collected whole, so none of them comes out."""

    def broken() -> Iterator[str]:
        yield "x"
        raise ValueError("no more")

    fn = Slow(fallback=broken())
    async with open_operator(OperatorConfig(timeout=1), fn, feed(Record(2))) as results:
        error = await failure_of(results)

    assert isinstance(error, CallFailed)
    assert repr(error.__cause__) == "ValueError('no more')"


@pytest.mark.parametrize("seconds", [1e308, float("inf"), 10**400])
async def test_a_huge_timeout_never_comes(feed: Any, read: Any, seconds: float) -> None:
    """Adding it to the present time must not make it small, or fail."""
    fn = Slow()

    async with open_operator(OperatorConfig(timeout=seconds), fn, feed(Record(5))) as results:
        assert await read(results) == [(5, Record(5))]


async def test_an_answer_given_after_the_deadline_is_late_however_busy_the_loop_was(
    feed: Any, read: Any
) -> None:
    """The function blocks past its deadline and then answers: the handler decides."""

    class Blocking:
        def async_invoke(self, value: str, result: ResultFuture) -> None:
            block_loop(3)
            result.complete(["late"])

        def timeout(self, value: str) -> list[str]:
            return ["handled"]

    source = feed(Record("a"))
    async with open_operator(OperatorConfig(timeout=2), Blocking(), source) as results:
        assert await read(results) == [(3, Record("handled"))]


async def test_a_call_that_outlives_its_record_is_abandoned(feed: Any, read: Any) -> None:
    """It holds no room, its result is dropped, and it is counted as soon as it is late."""
    fn = Slow(clean_up=5)
    source = feed(Record(9), Record(1))

    async with open_operator(OperatorConfig("ordered", 1, timeout=2), fn, source) as results:
        assert (await anext(results)).value == "fallback"
        assert results.statistics().abandoned == 0
        assert (await anext(results)).value == 1
        assert anyio.current_time() == 3
        assert results.statistics().abandoned == 1
    assert anyio.current_time() == 7  # leaving waits for it


async def test_a_call_that_ends_promptly_is_not_abandoned(feed: Any, read: Any) -> None:
    """Nor does the operator wait to see it: the clock does not move for that."""
    fn = Slow()

    async with open_operator(OperatorConfig(timeout=2), fn, feed(Record(9), Record(9))) as results:
        assert [time for time, _ in await read(results)] == [2, 2]
        assert results.statistics().abandoned == 0
    assert anyio.current_time() == 2


async def test_calls_are_found_abandoned_even_after_the_end(feed: Any, read: Any) -> None:
    """The stream ends at the deadline of its last record; the count is right a moment later."""
    fn = Slow(clean_up=5)

    async with open_operator(OperatorConfig(timeout=2), fn, feed(Record(9))) as results:
        assert await read(results) == [(2, Record("fallback"))]
        assert anyio.current_time() == 2
        await anyio.sleep(1)
        assert results.statistics().abandoned == 1
        with pytest.raises(StopAsyncIteration):
            await anext(results)


async def test_too_many_abandoned_calls_fail_the_operator(feed: Any) -> None:
    """With room for one, the second call that doesn't let go is one too many."""
    fn = Slow(clean_up=100)
    source = feed(Record(9), Record(9), Record(9))

    async with open_operator(OperatorConfig("ordered", 1, timeout=2), fn, source) as results:
        error = await failure_of(results)
        assert anyio.current_time() == pytest.approx(4 + GRACE)
        assert results.statistics().abandoned == 2

    assert isinstance(error, TooManyAbandonedCalls)
    assert error.record is None
    assert str(error) == (
        "2 calls run on although they were cancelled, more than the capacity of 1; "
        "does fn catch its cancellation and go on?"
    )


async def test_abandoned_calls_that_have_ended_do_not_add_up(feed: Any) -> None:
    """Each call goes on for 1 s after its deadline, so there is never more than one."""
    fn = Slow(clean_up=1)
    source = feed(*(Record(9) for _ in range(5)))

    async with open_operator(OperatorConfig("ordered", 1, timeout=2), fn, source) as results:
        assert len([element async for element in results]) == 5
        await anyio.sleep(1)
        assert results.statistics().abandoned == 5
