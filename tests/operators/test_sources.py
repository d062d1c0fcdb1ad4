"""What may be a source, how it is read, how it is closed, and what its errors are."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from operators import Sleeper, Source, echo, failure_of, read_all, seconds_now

from asyncwait.spec import (
    CallFailed,
    CallTimedOut,
    Element,
    InvalidResult,
    LatencyMarker,
    OpenOperator,
    OperatorConfig,
    Record,
    Snapshot,
    TooManyAbandonedCalls,
)

pytestmark = pytest.mark.anyio


class ScopedSource:
    """A generator with a scope round its `yield`, and what came of it.

    Args:
        scope: the one.
        values: to give.
        pause: seconds after each value.
        silence: seconds before the end.
    """

    def __init__(
        self,
        *values: str,
        pause: float = 0,
        silence: float = 0,
        scope: anyio.CancelScope | None = None,
    ) -> None:
        self.values = values
        self.pause = pause
        self.silence = silence
        self.scope = scope or anyio.CancelScope()
        self.log: list[str] = []

    async def read(self) -> AsyncIterator[Element]:
        """Give the values."""
        tasks = [anyio.get_current_task().id]
        try:
            with self.scope:
                for value in self.values:
                    yield Record(value)
                    await anyio.sleep(self.pause)
                await anyio.sleep(self.silence)
                self.log.append("given")
            if self.scope.cancelled_caught:
                self.log.append("caught")
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(1)
            tasks.append(anyio.get_current_task().id)
            self.log.append("closed" if tasks[0] == tasks[1] else "closed elsewhere")


def silent(value: str) -> list[str]:
    """A handler that lets the stream go on."""
    return [value.upper()]


@pytest.mark.parametrize("capacity", [1, 5])
async def test_a_scope_round_a_yield_is_left_as_it_was_entered_at_the_end(
    open_operator: OpenOperator, capacity: int
) -> None:
    """Whether the source waits for room now and then, or not."""
    source = ScopedSource("a1", "b2", "c1", pause=0.5)
    config = OperatorConfig("ordered", capacity)

    async with open_operator(config, Sleeper(), source.read()) as results:
        assert await read_all(results) == ["a1", "b2", "c1"]

    assert source.log == ["given", "closed"]


@pytest.mark.parametrize("capacity", [1, 5], ids=["waits for room", "is being asked"])
@pytest.mark.parametrize("way", ["left", "failed", "cancelled"])
async def test_a_scope_round_a_yield_is_left_as_it_was_entered_on_every_way_out(
    open_operator: OpenOperator, capacity: int, way: str
) -> None:
    """Reading and closing are one task's, and no scope of ours lies between the two."""
    second = "b!" if way == "failed" else "b99"
    source = ScopedSource("a1", second, "c99", "d99", pause=0.25, silence=999)
    config = OperatorConfig("ordered", capacity)

    with anyio.move_on_after(3 if way == "cancelled" else 99):
        async with open_operator(config, Sleeper(), source.read()) as results:
            if way == "failed":
                assert type(await failure_of(results)) is CallFailed
            else:
                assert await anext(results) == Record("a1")
            if way == "cancelled":
                await anext(results)

    assert source.log == ["closed"]


async def test_a_scope_round_a_yield_that_times_out_while_nobody_asks_is_the_sources(
    open_operator: OpenOperator,
) -> None:
    """The operator waits for room, and is cancelled by nobody; the source sees it when it goes on.

    Whatever waits within the scope is cancelled with it, and that is the reading task.
    """
    source = ScopedSource("a2", "b2", "c2", scope=anyio.CancelScope(deadline=3))

    async with open_operator(OperatorConfig("ordered", 1), Sleeper(), source.read()) as results:
        out = await read_all(results)

    assert out == ["a2", "b2", "c2"][: len(out)]
    assert len(out) >= 2
    assert source.log == ["caught", "closed"]


async def test_a_task_group_round_a_yield_fails_as_the_source(
    open_operator: OpenOperator,
) -> None:
    """A child of it fails while the operator waits for room; what was read comes out first."""

    async def fail() -> None:
        await anyio.sleep(3)
        raise OSError("child")

    async def source() -> AsyncIterator[Element]:
        async with anyio.create_task_group() as group:
            group.start_soon(fail)
            for value in ("a2", "b2", "c2"):
                yield Record(value)

    async with open_operator(OperatorConfig("ordered", 1), Sleeper(), source()) as results:
        out = [await anext(results), await anext(results)]
        error: Any = None
        while error is None:
            try:
                await anext(results)
            except ExceptionGroup as caught:
                error = caught

    assert out == [Record("a2"), Record("b2")]
    assert [repr(each) for each in error.exceptions] == ["OSError('child')"]


class Iterated:
    """An iterable that is not its own iterator, and notes what of it is closed."""

    def __init__(self, *, errors: bool = False) -> None:
        self.log: list[str] = []
        self.errors = errors

    async def __aiter__(self) -> AsyncIterator[Element]:
        try:
            for value in ("a1", "b99"):
                yield Record(value)
            await anyio.sleep(999)
        finally:
            self.log.append("iterator")
            if self.errors:
                raise OSError("iterator")

    async def aclose(self) -> None:
        """Note it."""
        self.log.append("iterable")
        if self.errors:
            raise OSError("iterable")


async def test_an_iterable_and_the_iterator_that_it_makes_are_both_closed(
    open_operator: OpenOperator,
) -> None:
    """Nothing is left to the garbage collector."""
    source = Iterated()

    async with open_operator(OperatorConfig(), Sleeper(), source) as results:
        assert await anext(results) == Record("a1")

    assert source.log == ["iterator", "iterable"]


async def test_an_iterable_that_can_not_be_closed_has_its_iterator_closed(
    open_operator: OpenOperator,
) -> None:
    """It is the iterator that holds things."""
    source: Any = Iterated()
    source.aclose = None

    async with open_operator(OperatorConfig(), Sleeper(), source) as results:
        await anext(results)

    assert source.log == ["iterator"]


async def test_both_are_closed_although_both_raise(open_operator: OpenOperator) -> None:
    """The first error comes out, and the other is a note on it."""
    source = Iterated(errors=True)

    with pytest.raises(OSError, match=r"^iterator") as caught:
        async with open_operator(OperatorConfig("ordered", 1), Sleeper(), source):
            await anyio.sleep(0.5)

    assert source.log == ["iterator", "iterable"]
    assert caught.value.__notes__ == ["Closing the operator raised, too: OSError('iterable')"]


async def test_a_source_that_can_not_be_closed_will_do(open_operator: OpenOperator) -> None:
    """It has no `aclose` at all."""

    class Plain:
        def __init__(self) -> None:
            self.left = ["b", "a"]

        def __aiter__(self) -> "Plain":
            return self

        async def __anext__(self) -> Element:
            if not self.left:
                raise StopAsyncIteration
            return Record(self.left.pop())

    async with open_operator(OperatorConfig(), echo, Plain()) as results:
        assert await read_all(results) == ["a", "b"]


async def test_a_source_whose_iteration_does_not_begin_has_failed(
    open_operator: OpenOperator,
) -> None:
    """It is closed all the same."""
    reason = OSError("no")

    class Broken(Source):
        def __aiter__(self) -> AsyncIterator[Element]:
            raise reason

    source = Broken()
    async with open_operator(OperatorConfig(), echo, source) as results:
        assert await failure_of(results) is reason
    assert source.log == ["closed"]


@pytest.mark.parametrize("script", [["a1"], ["a1", 99], ["a1", OSError()]], ids=str)
async def test_closing_that_waits_is_waited_for_and_happens_once(
    open_operator: OpenOperator, script: list[Any]
) -> None:
    """At the end, when it is left, and when it has failed."""
    source = Source(*script)
    source.clean_up = 7

    async with open_operator(OperatorConfig(), Sleeper(), source) as results:
        assert await anext(results) == Record("a1")
        if 99 not in script:
            await anyio.sleep(3)

    assert seconds_now() == (8 if 99 in script else 7)
    assert source.log[-1] == "closed"
    assert source.log.count("closed") == 1


@pytest.mark.parametrize(
    "error", [OSError("busy"), asyncio.CancelledError("odd"), GeneratorExit("odd")], ids=repr
)
@pytest.mark.parametrize("script", [["a1"], ["a1", 99]], ids=["at the end", "left"])
async def test_what_closing_raises_comes_out_on_leaving(
    open_operator: OpenOperator, error: BaseException, script: list[Any]
) -> None:
    """Plainly, whatever it is, and the output is whole."""
    source = Source(*script)
    source.closing_error = error

    with pytest.raises(type(error)) as caught:  # noqa: PT012 - it is raised on leaving
        async with open_operator(OperatorConfig(), Sleeper(), source) as results:
            assert await anext(results) == Record("a1")
            await anyio.sleep(1)

    assert caught.value is error
    assert source.log.count("closed") == 1


async def test_a_source_that_the_body_has_closed_is_closed_once_more(
    open_operator: OpenOperator,
) -> None:
    """It is the operator's to close, and a generator does not mind."""

    async def give() -> AsyncIterator[Element]:
        while True:
            yield Record("a1")

    source = give()
    async with open_operator(OperatorConfig("ordered", 1), Sleeper(), source) as results:
        await anyio.sleep(0.5)
        await source.aclose()  # type: ignore[attr-defined]
        assert await read_all(results) == ["a1", "a1"]


async def test_the_source_is_not_cancelled_in_its_read_while_the_operator_runs(
    open_operator: OpenOperator,
) -> None:
    """Neither for a deadline nor for a marker nor for anything else that happens meanwhile."""
    fn: Any = Sleeper()
    fn.timeout = silent
    source = Source("a9", "b1", LatencyMarker(1), 20, "c9", 20)

    async with open_operator(OperatorConfig("ordered", 2, timeout=3), fn, source) as results:
        with pytest.raises(StopAsyncIteration):  # noqa: PT012 - with requests in between
            while True:
                with anyio.move_on_after(0.5):
                    while True:
                        await anext(results)
                results.request_snapshot(1)
        assert source.log == ["closed"]


async def test_a_source_that_cancels_itself_has_failed(open_operator: OpenOperator) -> None:
    """Nobody else has cancelled it: the error comes out, last and unchanged."""
    error = asyncio.CancelledError("odd")

    async with open_operator(OperatorConfig(), Sleeper(), Source("a3", error)) as results:
        assert await anext(results) == Record("a3")
        assert await failure_of(results) is error
        assert await failure_of(results) is error


@pytest.mark.parametrize(
    "error",
    [
        CallFailed(Record("a3"), "of another operator"),
        CallTimedOut(Record("z"), "of another operator"),
        InvalidResult(None, "of another operator"),
        TooManyAbandonedCalls(None, "of another operator"),
        ExceptionGroup("odd", [ValueError()]),
        GeneratorExit("odd"),
    ],
    ids=repr,
)
async def test_an_error_of_the_source_is_the_sources_whatever_its_class(
    open_operator: OpenOperator, error: BaseException
) -> None:
    """It comes out after everything that was read, unchanged."""
    async with open_operator(OperatorConfig(), Sleeper(), Source("a3", error)) as results:
        assert await anext(results) == Record("a3")
        assert await failure_of(results) is error
        assert error.__cause__ is None
    assert await failure_of(results) is error


async def test_an_error_that_is_false_is_an_error(open_operator: OpenOperator) -> None:
    """An exception may have a length, and it may be zero."""

    class Empty(Exception):
        def __len__(self) -> int:
            return 0

    error = Empty()
    async with open_operator(OperatorConfig(), Sleeper(), Source("a3", error)) as results:
        assert await anext(results) == Record("a3")
        assert await failure_of(results) is error
    assert await failure_of(results) is error


async def test_a_source_that_was_not_read_by_then_is_not_read_after_a_failure(
    open_operator: OpenOperator,
) -> None:
    """What was restored waits for room before it; then the first call fails."""
    read: list[str] = []

    async def source() -> AsyncIterator[Element]:
        read.append("c")
        yield Record("c")

    async def fails(_: str) -> list[str]:
        await anyio.sleep(1)
        raise ValueError

    restore = Snapshot(1, (Record("a"), Record("b")))
    async with open_operator(OperatorConfig(capacity=1), fails, source(), restore) as results:
        with pytest.raises(CallFailed):
            await anext(results)
        await anyio.sleep(1)

    assert read == []
