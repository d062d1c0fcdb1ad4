"""Entering, ending, leaving early, being cancelled; hooks and the source on every way."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from asyncwait.conformance.harness import VirtualLoop
from asyncwait.reference import open_operator
from asyncwait.spec import (
    Barrier,
    CallFailed,
    InvalidConfig,
    OperatorConfig,
    Record,
    Snapshot,
)

pytestmark = pytest.mark.anyio


class Source:
    """An endless source of one-second calls that notes when it is closed."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.closed: list[float] = []
        self.error = error

    def __aiter__(self) -> AsyncIterator[Record]:
        return self

    async def __anext__(self) -> Record:
        await anyio.lowlevel.checkpoint()
        return Record(1)

    async def aclose(self) -> None:
        """Note that the operator is done with the source."""
        await anyio.lowlevel.checkpoint()
        self.closed.append(anyio.current_time())
        if self.error is not None:
            raise self.error


class Service:
    """Replies after so many seconds; cleans up for a while when cancelled; notes its hooks."""

    def __init__(self, clean_up: float = 0) -> None:
        self.clean_up = clean_up
        self.log: list[tuple[str, float]] = []

    async def __call__(self, seconds: float) -> list[float]:
        """Reply."""
        self.note("call")
        try:
            await anyio.sleep(seconds)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await anyio.sleep(self.clean_up)
            self.note("cleaned up")
            raise
        return [seconds]

    async def open(self) -> None:
        """Take a second."""
        await anyio.sleep(1)
        self.note("open")

    async def close(self) -> None:
        """Pass a checkpoint."""
        await anyio.lowlevel.checkpoint()
        self.note("close")

    def note(self, what: str) -> None:
        """Write down what happens, and when."""
        self.log.append((what, anyio.current_time()))


@pytest.fixture
def source() -> Source:
    """A fresh source."""
    return Source()


def census() -> tuple[int, int]:
    """Count the tasks and the timers on asyncio; trio knows no way to lose either."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return 0, 0
    assert isinstance(loop, VirtualLoop)
    return len(asyncio.all_tasks()), loop.pending_timers()


async def test_the_stream_ends_once_everything_came_out_and_stays_ended(feed: Any) -> None:
    """Each further read says so, also after the context was left."""
    async with open_operator(OperatorConfig(), Service(), feed(Record(2), Record(1))) as results:
        assert [element.value async for element in results] == [2, 1]
        assert anyio.current_time() == 3  # open took 1
        with pytest.raises(StopAsyncIteration):
            await anext(results)
    with pytest.raises(StopAsyncIteration):
        await anext(results)


async def test_hooks_run_once_each_round_all_calls(feed: Any) -> None:
    """Open before the first call, close after the last."""
    fn = Service()

    async with open_operator(OperatorConfig(), fn, feed(Record(1), Record(2))) as results:
        assert len([element async for element in results]) == 2

    assert fn.log == [("open", 1), ("call", 1), ("call", 1), ("close", 3)]


async def test_leaving_early_cancels_what_runs_and_waits_for_it(source: Source) -> None:
    """Nothing comes out any more, and close runs when the last call has cleaned up."""
    fn = Service(clean_up=5)
    before = census()

    async with open_operator(OperatorConfig("ordered", 2), fn, source) as results:
        await anyio.sleep(0.5)
    with pytest.raises(StopAsyncIteration):
        await anext(results)

    assert fn.log == [
        ("open", 1),
        ("call", 1),
        ("call", 1),
        ("cleaned up", 6.5),
        ("cleaned up", 6.5),
        ("close", 6.5),
    ]
    assert source.closed == [1.5]
    assert census() == before


async def test_what_the_body_raises_passes_unchanged(source: Source) -> None:
    """It is neither wrapped nor replaced."""
    error = ValueError("body")

    with pytest.raises(ValueError, match="body") as caught:
        async with open_operator(OperatorConfig(), Service(), source):
            raise error

    assert caught.value is error
    assert caught.value.__context__ is None
    assert source.closed == [1]


async def test_leaving_after_a_failure_raises_nothing(feed: Any) -> None:
    """The failure belongs to whoever reads."""

    async def fail(value: str) -> list[str]:
        raise ValueError(value)

    async with open_operator(OperatorConfig(), fail, feed(Record("a"))) as results:
        await anyio.sleep(1)
    with pytest.raises(CallFailed):
        await anext(results)


async def test_a_cancellation_from_outside_ends_the_operator(source: Source) -> None:
    """Calls are cancelled and waited for, hooks and source see their ends."""
    fn = Service(clean_up=5)
    before = census()

    with anyio.move_on_after(3) as scope:
        async with open_operator(OperatorConfig("ordered", 1), fn, source) as results:
            async for _ in results:
                pass

    assert scope.cancelled_caught
    assert fn.log == [
        ("open", 1),
        ("call", 1),
        ("call", 2),
        ("cleaned up", 8),
        ("close", 8),
    ]
    assert source.closed == [3]
    assert census() == before


async def test_a_task_cancelled_the_asyncio_way_ends_the_operator(
    source: Source, anyio_backend_name: str
) -> None:
    """Its CancelledError arrives where it should, once everything is cleaned up."""
    if anyio_backend_name == "trio":
        return  # tasks can't be cancelled there except by scopes
    fn = Service(clean_up=5)
    ended: list[float] = []

    async def consume() -> None:
        try:
            async with open_operator(OperatorConfig("ordered", 1), fn, source) as results:
                async for _ in results:
                    pass
        except asyncio.CancelledError:
            ended.append(anyio.current_time())
            raise

    task = asyncio.create_task(consume())
    await asyncio.sleep(2.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert ended == [7.5]
    assert fn.log[-2:] == [("cleaned up", 7.5), ("close", 7.5)]


async def test_a_cancellation_while_leaving_waits_for_the_clean_up(source: Source) -> None:
    """Structured concurrency: no call outlives its operator."""
    fn = Service(clean_up=5)

    with anyio.move_on_after(3):
        async with open_operator(OperatorConfig("ordered", 1), fn, source):
            await anyio.sleep(0.5)

    assert fn.log[-2:] == [("cleaned up", 6.5), ("close", 6.5)]
    assert anyio.current_time() == 6.5


async def test_a_wait_that_is_given_up_loses_nothing(feed: Any) -> None:
    """However often the consumer gives up, also in the very instant of a result."""
    values: list[float] = []
    source = feed(*(Record(2) for _ in range(5)))

    async with open_operator(OperatorConfig("ordered", 1), _only_call, source) as results:
        while len(values) < 5:
            with anyio.move_on_after(1):
                values.append((await anext(results)).value)

    assert values == [2] * 5


async def _only_call(seconds: float) -> list[float]:
    await anyio.sleep(seconds)
    return [seconds]


async def test_only_one_task_can_wait_for_results(feed: Any) -> None:
    """The second one is told so; the first goes on waiting."""
    async with (
        open_operator(OperatorConfig(), _only_call, feed(Record(5))) as results,
        anyio.create_task_group() as tasks,
    ):

        async def wait() -> None:
            assert await anext(results) == Record(5)

        tasks.start_soon(wait)
        await anyio.sleep(1)
        with pytest.raises(RuntimeError) as caught:
            await anext(results)
        assert str(caught.value) == "another task is waiting in __anext__; one can at a time"


async def test_a_task_that_waits_for_results_is_told_when_the_context_is_left(feed: Any) -> None:
    """Nobody waits for an operator that is over."""
    async with (
        anyio.create_task_group() as tasks,
        open_operator(OperatorConfig(), _only_call, feed(Record(5))) as results,
    ):

        async def wait() -> None:
            with pytest.raises(StopAsyncIteration):
                await anext(results)

        tasks.start_soon(wait)
        await anyio.sleep(1)
    assert anyio.current_time() == 1


async def test_an_open_that_raises_keeps_the_operator_from_opening(source: Source) -> None:
    """Its error comes out of entering; nothing is called, and the source is closed."""

    class Broken(Service):
        async def open(self) -> None:
            raise OSError("no connection")

    fn = Broken()
    with pytest.raises(OSError, match="no connection"):
        async with open_operator(OperatorConfig(), fn, source):
            pytest.fail("the body must not run")

    assert fn.log == []
    assert source.closed == [0]


async def test_an_error_of_close_comes_out_plainly(source: Source) -> None:
    """It is the user's own, and there is nowhere else for it to go."""

    class Broken(Service):
        async def close(self) -> None:
            raise OSError("still busy")

    with pytest.raises(OSError, match="still busy"):
        async with open_operator(OperatorConfig(), Broken(), source):
            pass
    assert source.closed == [1]


async def test_an_error_of_closing_the_source_comes_out_plainly() -> None:
    """As above; close runs nevertheless."""
    fn = Service()

    with pytest.raises(OSError, match="source"):
        async with open_operator(OperatorConfig(), fn, Source(OSError("source"))):
            await anyio.sleep(0.5)
    assert fn.log[-1] == ("close", 1.5)


async def test_what_closing_raises_is_a_note_on_the_error_of_the_body() -> None:
    """The body's error comes out, and says what else went wrong, in the order in which it did."""

    class Broken(Service):
        async def close(self) -> None:
            raise OSError("still busy")

    error = LookupError("body")
    with pytest.raises(LookupError) as caught:
        async with open_operator(OperatorConfig(), Broken(), Source(OSError("source"))):
            raise error

    assert caught.value is error
    assert error.__notes__ == [
        "Closing the operator raised, too: OSError('source')",
        "Closing the operator raised, too: OSError('still busy')",
    ]


async def test_the_first_of_two_errors_on_closing_comes_out() -> None:
    """The second is a note on it: no error is lost."""

    class Broken(Service):
        async def close(self) -> None:
            raise OSError("still busy")

    with pytest.raises(OSError, match="source") as caught:
        async with open_operator(OperatorConfig(), Broken(), Source(OSError("source"))):
            await anyio.sleep(0.5)

    assert caught.value.__notes__ == ["Closing the operator raised, too: OSError('still busy')"]


async def test_an_error_of_open_is_not_hidden_by_one_of_closing_the_source() -> None:
    """The source is closed because of the first, which is the one to look at."""

    class Broken(Service):
        async def open(self) -> None:
            raise LookupError("no connection")

    with pytest.raises(LookupError, match="no connection") as caught:
        async with open_operator(OperatorConfig(), Broken(), Source(OSError("source"))):
            pytest.fail("the body must not run")

    assert caught.value.__notes__ == ["Closing the operator raised, too: OSError('source')"]


async def test_a_generator_is_closed_in_the_task_that_reads_it() -> None:
    """It may hold what belongs to a task, such as a cancel scope or a context variable."""
    tasks: list[int] = []

    async def generate() -> AsyncIterator[Record]:
        tasks.append(anyio.get_current_task().id)
        try:
            while True:
                yield Record(1)
        finally:
            await anyio.sleep(1)
            tasks.append(anyio.get_current_task().id)

    async with open_operator(OperatorConfig("ordered", 1), _only_call, generate()):
        await anyio.sleep(0.5)

    assert anyio.current_time() == 1.5
    assert len(tasks) == 2
    assert tasks[0] == tasks[1]


async def test_nothing_begins_after_leaving(feed: Any) -> None:
    """Leaving and an arrival in one instant: the record is not called any more."""
    for _ in range(20):
        fn = Service()
        source = feed(2, Record(1))
        left = anyio.current_time() + 3

        async with open_operator(OperatorConfig(), fn, source):
            await anyio.sleep_until(left)
        called = [time for what, time in fn.log if what == "call"]

        assert len(called) <= 1
        assert fn.log[-1][0] == "close"


async def test_arguments_are_checked_when_the_operator_is_made(feed: Any) -> None:
    """Before anything is entered, and by name."""
    for arguments, message in [
        (({}, _only_call, feed()), "config must be an OperatorConfig, got {} (dict)"),
        ((OperatorConfig(), 7, feed()), "fn must be a coroutine function or have async_invoke()"),
        ((OperatorConfig(), _only_call, [1]), "elements must be an async iterable of elements"),
        ((OperatorConfig(), _only_call, feed(), b"x"), "restore must be a Snapshot or None"),
        (
            (OperatorConfig(), _only_call, feed(), Snapshot(1, ("a",))),  # type: ignore[arg-type]
            "restore.in_flight must be records, watermarks and statuses, got 'a' (str)",
        ),
    ]:
        with pytest.raises(InvalidConfig) as caught:
            open_operator(*arguments)  # type: ignore[arg-type]
        assert message in str(caught.value)


async def test_an_operator_ends_without_input(feed: Any) -> None:
    """An empty stream is a stream; an empty snapshot is one, too."""
    async with open_operator(OperatorConfig(), _only_call, feed(), Snapshot(1)) as results:
        assert [element async for element in results] == []
    async with open_operator(OperatorConfig(), _only_call, feed(Barrier(1))) as results:
        assert [element async for element in results] == [Snapshot(1)]
