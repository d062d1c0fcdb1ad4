"""Timeouts, their handlers, and the calls that outlive their records."""

from typing import Any

import anyio
import pytest

from asyncwait.backends.pool import open_operator
from asyncwait.spec import (
    CallFailed,
    CallTimedOut,
    InvalidResult,
    OperatorConfig,
    Record,
    Statistics,
    TooManyAbandonedCalls,
    Watermark,
)

pytestmark = pytest.mark.anyio


async def failure_of(results: Any) -> Exception:
    """Read until the operator fails."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the tests look at it closely
        async for _ in results:
            pass
    return caught.value


async def test_the_handler_gives_the_results_of_a_record_at_its_deadline(
    feed: Any, sleeper: Any, read: Any
) -> None:
    """The running call is cancelled, and what the handler gives comes out in its place."""
    sleeper.timeout = lambda value: [f"no {value}", "at all"]

    async with open_operator(OperatorConfig(timeout=3), sleeper, feed("a2", "b9", "c1")) as results:
        out = await read(results)

    assert out == [(2, "a2"), (3, "no b9"), (3, "at all"), (3, "c1")]
    assert sleeper.cancelled == [(3, "b9")]


async def test_the_timeout_starts_with_the_call_not_with_the_reading(
    feed: Any, sleeper: Any, read: Any
) -> None:
    """Time spent waiting for room does not count."""
    source = feed("a4", "b4", "c4")

    async with open_operator(OperatorConfig("ordered", 1, 5), sleeper, source) as results:
        out = await read(results)

    assert out == [(4, "a4"), (8, "b4"), (12, "c4")]


async def test_a_timeout_without_handler_fails_the_operator(feed: Any, sleeper: Any) -> None:
    """The error names the record and the timeout."""
    async with open_operator(OperatorConfig(timeout=1.5), sleeper, feed("a9")) as results:
        error = await failure_of(results)

    assert isinstance(error, CallTimedOut)
    assert str(error) == "Record 'a9': no results after 1.5 s, and there is no timeout handler"
    assert error.record == Record("a9")
    assert error.__cause__ is None


async def test_a_handler_that_gives_none_lets_the_timeout_stand(feed: Any, sleeper: Any) -> None:
    """None is no collection; it says that there are no results."""
    sleeper.timeout = lambda _: None

    async with open_operator(OperatorConfig(timeout=1), sleeper, feed("a9")) as results:
        error = await failure_of(results)

    assert isinstance(error, CallTimedOut)
    assert str(error) == "Record 'a9': no results after 1 s, and the handler gave None"


async def test_an_error_of_the_handler_is_the_cause_of_the_timeout_error(
    feed: Any, sleeper: Any
) -> None:
    """It is not hidden, and the operator fails by the timeout's name."""
    reason = ZeroDivisionError("handler")

    def broken(value: str) -> None:
        raise reason

    sleeper.timeout = broken

    async with open_operator(OperatorConfig(timeout=1), sleeper, feed("a9")) as results:
        error = await failure_of(results)

    assert isinstance(error, CallTimedOut)
    assert error.__cause__ is reason
    assert str(error) == (
        "Record 'a9': no results after 1 s, and the handler raised ZeroDivisionError('handler')"
    )


@pytest.mark.parametrize("given", ["text", b"bytes", 7])
async def test_what_a_handler_gives_must_be_a_collection(
    feed: Any, sleeper: Any, given: Any
) -> None:
    """Text is no collection of results, and neither is a number."""
    sleeper.timeout = lambda _: given

    async with open_operator(OperatorConfig(timeout=1), sleeper, feed("a9")) as results:
        error = await failure_of(results)

    assert isinstance(error, InvalidResult)
    assert error.record == Record("a9")


async def test_a_handlers_collection_that_raises_is_a_call_failure(feed: Any, sleeper: Any) -> None:
    """As it is for the collection that a call returns."""
    sleeper.timeout = lambda _: (1 / zero for zero in [0])

    async with open_operator(OperatorConfig(timeout=1), sleeper, feed("a9")) as results:
        error = await failure_of(results)

    assert isinstance(error, CallFailed)
    assert isinstance(error.__cause__, ZeroDivisionError)


async def test_a_handler_may_give_no_results(feed: Any, sleeper: Any, read: Any) -> None:
    """An empty collection decides the record: nothing comes out for it."""
    sleeper.timeout = lambda _: []

    async with open_operator(
        OperatorConfig("ordered", timeout=2), sleeper, feed("a9", Watermark(1), "b1")
    ) as results:
        out = await read(results)

    assert out == [(2, Watermark(1)), (2, "b1")]


async def test_deadlines_pass_while_the_consumer_is_elsewhere(feed: Any, sleeper: Any) -> None:
    """The handler is asked in time, not when somebody reads."""
    asked = []

    def handler(value: str) -> list[str]:
        asked.append((anyio.current_time(), value))
        return [value]

    sleeper.timeout = handler

    async with open_operator(OperatorConfig(timeout=2), sleeper, feed("a9", 1, "b9")) as results:
        await anyio.sleep(20)
        figures = results.statistics()

    assert asked == [(2, "a9"), (3, "b9")]
    assert figures == Statistics(
        in_flight=2, held=2, calls=2, timeouts=2, max_in_flight=2, max_held=2, oldest=20
    )


async def test_each_record_has_a_deadline_of_its_own(feed: Any, sleeper: Any, read: Any) -> None:
    """The sweep is armed anew at the earliest deadline of those that are left."""
    sleeper.timeout = lambda value: [value.upper()]
    source = feed("a9", 1, "b1", 1, "c9", 1, "d9", 10, "e9")

    async with open_operator(OperatorConfig("unordered", timeout=4), sleeper, source) as results:
        out = await read(results)

    assert out == [(2, "b1"), (4, "A9"), (6, "C9"), (7, "D9"), (17, "E9")]


async def test_a_result_that_comes_late_because_the_loop_was_blocked_does_not_count(
    feed: Any, read: Any, pass_time: Any
) -> None:
    """A record is decided at its deadline even if nobody could look at the clock then."""

    class Blocking:
        async def __call__(self, value: str) -> list[str]:
            pass_time(5)
            return [value]

        def timeout(self, value: str) -> list[str]:
            return [value.upper()]

    async with open_operator(OperatorConfig(timeout=3), Blocking(), feed("a")) as results:
        out = await read(results)
        figures = results.statistics()

    assert out == [(5, "A")]
    assert figures == Statistics(calls=1, timeouts=1, max_in_flight=1, max_held=1)


async def test_an_error_that_comes_late_does_not_count_either(
    feed: Any, read: Any, pass_time: Any
) -> None:
    """The deadline has decided the record before."""

    class Blocking:
        async def __call__(self, value: str) -> list[str]:
            pass_time(5)
            raise ValueError(value)

        def timeout(self, value: str) -> list[str]:
            return [value.upper()]

    async with open_operator(OperatorConfig(timeout=3), Blocking(), feed("a")) as results:
        out = await read(results)

    assert out == [(5, "A")]


@pytest.mark.parametrize("huge", [1e300, 10**400, float("inf")])
async def test_a_huge_timeout_means_never(feed: Any, sleeper: Any, read: Any, huge: float) -> None:
    """However it is written."""
    async with open_operator(OperatorConfig(timeout=huge), sleeper, feed("a99")) as results:
        out = await read(results)

    assert out == [(99, "a99")]


async def test_a_call_that_ends_promptly_when_cancelled_is_not_abandoned(
    feed: Any, sleeper: Any, read: Any
) -> None:
    """It had its turn to end, and ended."""
    sleeper.timeout = lambda value: [value]

    async with open_operator(OperatorConfig(timeout=1), sleeper, feed("a9", 3, "b9")) as results:
        await read(results)
        figures = results.statistics()

    assert figures == Statistics(calls=2, timeouts=2, abandoned=0, max_in_flight=1, max_held=1)


async def test_a_call_that_outlives_its_record_is_counted_and_holds_no_room(
    feed: Any, sleeper: Any, read: Any
) -> None:
    """The next record is called in the same instant, by a worker hired for it."""
    sleeper.timeout = lambda value: [value.upper()]
    sleeper.clean_up = 5

    async with open_operator(
        OperatorConfig("ordered", 1, timeout=3), sleeper, feed("a9", "b1", "c1")
    ) as results:
        out = await read(results)
        figures = results.statistics()

    assert out == [(3, "A9"), (4, "b1"), (5, "c1")]
    assert sleeper.began == [(0, "a9"), (3, "b1"), (4, "c1")]
    assert figures == Statistics(calls=3, timeouts=1, abandoned=1, max_in_flight=1, max_held=1)


async def test_the_result_of_an_abandoned_call_is_dropped(feed: Any, read: Any) -> None:
    """The record was decided without it."""

    class Stubborn:
        async def __call__(self, value: str) -> list[str]:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(4)
            return [value]

        def timeout(self, value: str) -> list[str]:
            return [value.upper()]

    async with open_operator(OperatorConfig(timeout=3), Stubborn(), feed("a", 5)) as results:
        out = await read(results)

    assert out == [(3, "A")]


async def test_the_error_of_an_abandoned_call_is_dropped(feed: Any, read: Any) -> None:
    """As its result is."""

    class Stubborn:
        async def __call__(self, value: str) -> list[str]:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(4)
            raise ValueError(value)

        def timeout(self, value: str) -> list[str]:
            return [value.upper()]

    async with open_operator(OperatorConfig(timeout=3), Stubborn(), feed("a", 5)) as results:
        out = await read(results)

    assert out == [(3, "A")]


async def test_as_many_abandoned_calls_as_capacity_are_borne(
    feed: Any, sleeper: Any, read: Any
) -> None:
    """The bound is on those that run at the same time, not on all there ever were."""
    sleeper.timeout = lambda value: [value.upper()]
    sleeper.clean_up = 1
    source = feed("a9", "b9", "c9", "d9")

    async with open_operator(OperatorConfig("ordered", 2, timeout=2), sleeper, source) as results:
        out = await read(results)
        figures = results.statistics()

    assert out == [(2, "A9"), (2, "B9"), (4, "C9"), (4, "D9")]
    assert figures.abandoned == 2, "the last two are judged when the stream is over"


async def test_more_abandoned_calls_than_capacity_fail_the_operator(
    feed: Any, sleeper: Any
) -> None:
    """A function that swallows its cancellation must not fill the memory in silence."""
    sleeper.timeout = lambda value: [value.upper()]
    sleeper.clean_up = 100
    source = feed(*[f"{name}9" for name in "abcdefgh"])

    async with open_operator(OperatorConfig("ordered", 2, timeout=2), sleeper, source) as results:
        error = await failure_of(results)
        at = round(anyio.current_time(), 3)
        figures = results.statistics()

    assert isinstance(error, TooManyAbandonedCalls)
    assert error.record is None
    assert str(error) == (
        "4 calls run on after they were cancelled, and the capacity is 2; "
        "do they swallow their cancellation?"
    )
    assert at == 4.005
    assert figures == Statistics(calls=6, timeouts=4, abandoned=4, max_in_flight=2, max_held=2)
