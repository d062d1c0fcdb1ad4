"""The callback form: outcomes from anywhere, and the first one counts."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest

from asyncwait.backends.pool import open_operator
from asyncwait.conformance.harness import VirtualLoop
from asyncwait.spec import (
    CallFailed,
    InvalidResult,
    OperatorConfig,
    Record,
    ResultFuture,
    Statistics,
)

pytestmark = pytest.mark.anyio


class Held:
    """Keeps the result futures by value, for the test to complete; calls `at_once` with each."""

    def __init__(self, at_once: Callable[[str, ResultFuture], None] = lambda *_: None) -> None:
        self.futures: dict[str, ResultFuture] = {}
        self.at_once = at_once

    def async_invoke(self, value: str, result: ResultFuture) -> None:
        """Keep it."""
        self.futures[value] = result
        self.at_once(value, result)


def in_thread(job: Callable[[], None]) -> None:
    """Run `job` in a thread while the clock stands still."""
    thread = threading.Thread(target=job)
    thread.start()
    thread.join()


async def failure_of(results: Any) -> Exception:
    """Read until the operator fails."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the tests look at it closely
        async for _ in results:
            pass
    return caught.value


async def test_a_record_is_decided_when_its_future_is_completed(feed: Any, now: Any) -> None:
    """At that time, by whatever runs then; all calls are started before."""
    held = Held()

    async with open_operator(OperatorConfig("unordered"), held, feed("a", "b")) as results:
        await anyio.sleep(1)
        assert list(held.futures) == ["a", "b"]
        held.futures["b"].complete(["B", "b"])
        second = [await anext(results), await anext(results)]
        held.futures["a"].complete_with(lambda: ["A"])
        first = await anext(results)

    assert now() == 1
    assert [*second, first] == [Record("B"), Record("b"), Record("A")]


async def test_a_call_may_be_completed_before_it_returns(feed: Any, read: Any) -> None:
    """A whole queue of such calls takes no time."""
    held = Held(lambda value, result: result.complete([value]))

    async with open_operator(OperatorConfig("ordered", 2), held, feed(*"abcdefg")) as results:
        out = await read(results)

    assert out == [(0, value) for value in "abcdefg"]


async def test_an_outcome_may_come_from_any_thread(feed: Any, read: Any) -> None:
    """It wakes the operator, and many of them share a wake-up."""
    held = Held()

    def complete_all() -> None:
        for value in "cab":
            held.futures[value].complete([value.upper()])

    async with open_operator(OperatorConfig("unordered"), held, feed("a", "b", "c")) as results:
        await anyio.sleep(1)
        in_thread(complete_all)
        out = await read(results)

    assert out == [(1, "C"), (1, "A"), (1, "B")]


async def test_the_first_outcome_counts(feed: Any, read: Any) -> None:
    """Later ones are ignored, errors too."""

    def thrice(value: str, result: ResultFuture) -> None:
        result.complete([value])
        result.complete_exceptionally(ValueError("second"))
        result.complete(["third"])

    async with open_operator(OperatorConfig(), Held(thrice), feed("a", "b")) as results:
        out = await read(results)

    assert out == [(0, "a"), (0, "b")]


async def test_an_error_given_is_the_cause_of_the_failure(feed: Any) -> None:
    """As one that a coroutine raises."""
    reason = OSError("line")
    held = Held(lambda _, result: result.complete_exceptionally(reason))

    async with open_operator(OperatorConfig(), held, feed("a")) as results:
        error = await failure_of(results)

    assert type(error) is CallFailed
    assert str(error) == "Record 'a': the call failed: OSError('line')"
    assert error.__cause__ is reason


async def test_an_error_that_is_none_is_told_so(feed: Any) -> None:
    """The record fails all the same: something was wrong with it."""
    wrong: Any = "line is down"
    held = Held(lambda _, result: result.complete_exceptionally(wrong))

    async with open_operator(OperatorConfig(), held, feed("a")) as results:
        error = await failure_of(results)

    assert type(error) is CallFailed
    assert repr(error.__cause__) == (
        "TypeError(\"complete_exceptionally() takes an exception, got 'line is down'\")"
    )


@pytest.mark.parametrize("reason", [ValueError("no"), asyncio.CancelledError("no")])
async def test_a_call_that_raises_before_an_outcome_has_failed(
    feed: Any, reason: BaseException
) -> None:
    """Whatever it raises."""

    def fails(value: str, result: ResultFuture) -> None:
        raise reason

    async with open_operator(OperatorConfig(), Held(fails), feed("a")) as results:
        error = await failure_of(results)

    assert type(error) is CallFailed
    assert error.__cause__ is reason


async def test_a_supplier_runs_on_the_loop_and_its_error_is_a_call_error(feed: Any) -> None:
    """Wherever `complete_with` was called."""
    threads = []

    def supplier() -> list[str]:
        threads.append(threading.current_thread())
        raise ValueError("supplier")

    held = Held()
    async with open_operator(OperatorConfig(), held, feed("a")) as results:
        await anyio.sleep(1)
        in_thread(lambda: held.futures["a"].complete_with(supplier))
        error = await failure_of(results)

    assert threads == [threading.current_thread()]
    assert type(error) is CallFailed
    assert isinstance(error.__cause__, ValueError)


@pytest.mark.parametrize("given", [None, "text", 7])
async def test_an_outcome_must_be_a_collection(feed: Any, given: Any) -> None:
    """Text is no collection of results."""
    held = Held(lambda _, result: result.complete(given))

    async with open_operator(OperatorConfig(), held, feed("a")) as results:
        error = await failure_of(results)

    assert type(error) is InvalidResult
    assert error.record == Record("a")


async def test_a_deadline_decides_a_call_that_is_never_completed(feed: Any, read: Any) -> None:
    """A later outcome is ignored; nothing runs, so nothing is abandoned."""
    held: Any = Held()
    held.timeout = lambda value: [value.upper()]

    async with open_operator(
        OperatorConfig("ordered", 1, timeout=2), held, feed("a", "b")
    ) as results:
        first = await anext(results)
        held.futures["a"].complete(["late"])
        out = await read(results)
        figures = results.statistics()

    assert first == Record("A")
    assert out == [(4, "B")]
    assert figures == Statistics(calls=2, timeouts=2, max_in_flight=1, max_held=1)


async def test_an_outcome_after_the_close_is_ignored(feed: Any) -> None:
    """Also from a thread, which must not be punished for being slow."""
    held = Held()

    async with open_operator(OperatorConfig(), held, feed("a", "b")):
        await anyio.sleep(1)
    held.futures["a"].complete(["late"])
    in_thread(lambda: held.futures["b"].complete(["late"]))
    await anyio.sleep(1)


def test_an_outcome_after_the_end_of_the_loop_is_ignored(anyio_backend: Any, feed: Any) -> None:
    """There is nobody left to tell."""
    held = Held()

    async def main() -> None:
        async with open_operator(OperatorConfig(), held, feed("a", "b")) as results:
            await anyio.sleep(1)
            held.futures["a"].complete(["A"])
            await anext(results)

    name, options = anyio_backend
    anyio.run(main, backend=name, backend_options=options)

    held.futures["b"].complete(["late"])


async def test_a_failure_while_outcomes_arrive_ends_the_operator(feed: Any, read: Any) -> None:
    """What arrived behind the failure is dropped, and nothing hangs."""
    held = Held()

    async with open_operator(OperatorConfig(), held, feed("a", "b", "c", 99)) as results:
        await anyio.sleep(1)
        held.futures["a"].complete(["A"])
        held.futures["b"].complete_exceptionally(ValueError("b"))
        held.futures["c"].complete(["C"])
        error = await failure_of(results)

    assert str(error) == "Record 'b': the call failed: ValueError('b')"


def test_whoever_cancels_the_task_that_a_call_finds_stops_nothing() -> None:
    """In callback form that is the operator's; the next outcome comes outside of any task."""
    tasks = list[Any]()
    held = Held(lambda *_: tasks.append(asyncio.current_task()))

    async def source() -> AsyncIterator[Record]:
        yield Record("a")
        await asyncio.sleep(1)
        yield Record("b")

    async def main() -> list[Any]:
        async with open_operator(OperatorConfig(), held, source()) as results:
            await asyncio.sleep(0.5)
            tasks[0].cancel()
            await asyncio.sleep(0.1)
            in_thread(lambda: held.futures["a"].complete(["A"]))
            first = await asyncio.wait_for(anext(results), 60)
            await asyncio.sleep(1)
            held.futures["b"].complete(["B"])
            return [first, await anext(results)]

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:  # no plug-in says which loop it is
        assert runner.run(main()) == [Record("A"), Record("B")]
