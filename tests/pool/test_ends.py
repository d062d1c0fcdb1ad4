"""Opening, leaving, cancelling, and what is left behind: nothing."""

import asyncio
import gc
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from asyncwait.backends.pool import open_operator
from asyncwait.spec import (
    CallFailed,
    Element,
    InvalidConfig,
    OperatorConfig,
    Record,
    Snapshot,
    Statistics,
)

pytestmark = pytest.mark.anyio


async def test_the_end_comes_when_everything_in_flight_is_out(
    feed: Any, sleeper: Any, read: Any
) -> None:
    """And it comes again, on each further read, also after leaving."""
    source = feed("a3", "b1")

    async with open_operator(OperatorConfig(), sleeper, source) as results:
        out = await read(results)
        again = await read(results)
        figures = results.statistics()

    assert out == [(3, "a3"), (3, "b1")]
    assert again == await read(results) == []
    assert figures == Statistics(calls=2, max_in_flight=2, max_held=2)
    assert source.closed == 1


async def test_an_empty_source_ends_at_once(feed: Any, sleeper: Any, read: Any) -> None:
    """Nothing in, nothing out."""
    async with open_operator(OperatorConfig(), sleeper, feed()) as results:
        assert await read(results) == []


async def test_the_end_comes_when_the_last_record_had_no_results(feed: Any, read: Any) -> None:
    """A consumer that waits is told, though nothing comes out."""

    async def silent(value: str) -> list[str]:
        await anyio.sleep(2)
        return []

    async with open_operator(OperatorConfig(), silent, feed("a", "b")) as results:
        assert await read(results) == []

    assert anyio.current_time() == 2


async def test_leaving_early_cancels_what_runs_and_waits_for_its_clean_up(
    feed: Any, sleeper: Any, now: Any
) -> None:
    """Nothing is emitted any more, the source is closed, and no call runs on."""
    sleeper.clean_up = 5
    source = feed("a1", "b9", "c9", 99, "d1")

    async with open_operator(OperatorConfig(), sleeper, source) as results:
        assert await anext(results) == Record("a1")

    assert now() == 6
    assert sorted(sleeper.cancelled) == [(1, "b9"), (1, "c9")]
    assert sleeper.running == []
    assert source.closed == 1
    with pytest.raises(StopAsyncIteration):
        await anext(results)


async def test_an_error_of_the_body_passes_unchanged(feed: Any, sleeper: Any) -> None:
    """It is no group, and nothing of the operator's is attached."""
    reason = LookupError("body")

    with pytest.raises(LookupError) as caught:  # noqa: PT012 - the body is the point
        async with open_operator(OperatorConfig(), sleeper, feed("a9")):
            await anyio.sleep(1)
            raise reason

    assert caught.value is reason
    assert caught.value.__cause__ is None
    assert not hasattr(reason, "__notes__")


async def test_a_failure_that_the_body_lets_through_leaves_as_it_was_raised(
    feed: Any, sleeper: Any
) -> None:
    """The plain error, on both loops."""
    with pytest.raises(CallFailed, match=r"^Record 'x!': the call failed: ValueError"):
        async with open_operator(OperatorConfig(), sleeper, feed("x!", "a9")) as results:
            await anext(results)


async def test_a_failure_that_nobody_reads_is_not_raised_on_leaving(
    feed: Any, sleeper: Any
) -> None:
    """Leaving raises nothing of its own."""
    async with open_operator(OperatorConfig(), sleeper, feed("x!")):
        await anyio.sleep(1)


async def test_a_cancelled_wait_loses_no_output(feed: Any, sleeper: Any, read: Any) -> None:
    """An element leaves the operator only when it is surely returned."""
    taken: list[Element] = []

    async with open_operator(OperatorConfig(), sleeper, feed("a2", "b3", "c4")) as results:
        while len(taken) < 3:
            with anyio.move_on_after(0.5):
                taken.append(await anext(results))
        rest = await read(results)

    assert taken == [Record("a2"), Record("b3"), Record("c4")]
    assert rest == []


async def test_a_second_consumer_at_the_same_time_is_refused(feed: Any, sleeper: Any) -> None:
    """Who gets what would be a matter of luck."""

    async def read_one(results: AsyncIterator[Element], into: list[Element]) -> None:
        into.append(await anext(results))

    taken: list[Element] = []
    async with (
        open_operator(OperatorConfig(), sleeper, feed("a2")) as results,
        anyio.create_task_group() as group,
    ):
        group.start_soon(read_one, results, taken)
        await anyio.sleep(1)
        with pytest.raises(RuntimeError, match=r"^another task waits for the next element; "):
            await anext(results)

    assert taken == [Record("a2")]


async def test_cancelling_the_host_from_outside_passes_through(
    feed: Any, sleeper: Any, now: Any
) -> None:
    """The scope that was cancelled sees it; calls that clean up are waited for all the same."""
    sleeper.clean_up = 3
    source = feed("a9", 99)
    after = "not reached"

    with anyio.move_on_after(2) as scope:
        async with open_operator(OperatorConfig(), sleeper, source) as results:
            await anext(results)
        after = "reached"

    assert scope.cancelled_caught
    assert after == "not reached"
    assert now() == 5
    assert sleeper.cancelled == [(2, "a9")]
    assert source.closed == 1
    with pytest.raises(StopAsyncIteration):
        await anext(results)


async def test_cancelling_the_host_task_natively_passes_through(
    anyio_backend_name: str, feed: Any, sleeper: Any
) -> None:
    """As it does out of asyncio's own task groups."""
    if anyio_backend_name == "trio":
        return
    source = feed("a9", 99)
    before = asyncio.all_tasks()

    async def host() -> None:
        async with open_operator(OperatorConfig(), sleeper, source) as results:
            await anext(results)

    task = asyncio.ensure_future(host())
    await asyncio.sleep(2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert task.cancelled()
    assert sleeper.cancelled == [(2, "a9")]
    assert source.closed == 1
    assert asyncio.all_tasks() == before


async def test_a_consumer_that_shields_itself_from_a_cancelled_operator_is_told(
    feed: Any, sleeper: Any
) -> None:
    """The tasks that work for it are gone, and waiting for them would last for ever."""
    with anyio.CancelScope() as scope:
        async with open_operator(OperatorConfig(), sleeper, feed("a9")) as results:
            await anyio.sleep(1)
            scope.cancel()
            with (
                anyio.CancelScope(shield=True),
                pytest.raises(RuntimeError, match=r"^the operator was cancelled from outside, "),
            ):
                await anext(results)
    with pytest.raises(StopAsyncIteration):
        await anext(results)


async def test_no_task_and_no_timer_is_left(
    anyio_backend_name: str, feed: Any, sleeper: Any
) -> None:
    """Whether the operator ended, failed or was left."""
    before = asyncio.all_tasks() if anyio_backend_name == "asyncio" else set()
    for script in (["a1", "b1"], ["a9", "x!"], ["a1", "b9", 99]):
        async with open_operator(OperatorConfig(timeout=50), sleeper, feed(*script)) as results:
            await anyio.sleep(1.5)
            results.take_ready(9)
    if anyio_backend_name == "asyncio":
        assert asyncio.all_tasks() == before
        assert asyncio.get_running_loop().pending_timers() == 0  # type: ignore[attr-defined]
    assert sleeper.running == []


async def test_hooks_run_once_round_all_calls(feed: Any) -> None:
    """Plain or coroutine functions; `close` comes after the last call has ended."""
    log = []

    class Hooked:
        async def __call__(self, value: str) -> list[str]:
            try:
                log.append("call")
                await anyio.sleep(9)
            finally:
                log.append("ended")
            return [value]

        async def open(self) -> None:
            await anyio.sleep(1)
            log.append("open")

        def close(self) -> None:
            log.append("close")

    async with open_operator(OperatorConfig(), Hooked(), feed("a")):
        await anyio.sleep(1)

    assert log == ["open", "call", "ended", "close"]


async def test_a_cancelled_host_does_not_keep_close_from_running(feed: Any) -> None:
    """It is awaited to its end on every way out."""
    log = []

    class Hooked:
        async def __call__(self, value: str) -> list[str]:
            await anyio.sleep_forever()
            return []

        async def close(self) -> None:
            await anyio.sleep(1)
            log.append(anyio.current_time())

    with anyio.move_on_after(2):
        async with open_operator(OperatorConfig(), Hooked(), feed("a")) as results:
            await anext(results)

    assert log == [3]


async def test_an_error_of_open_is_raised_on_entering_and_the_source_closed(feed: Any) -> None:
    """No call was made, and `close` has nothing to close."""
    log = []

    class Hooked:
        async def __call__(self, value: str) -> list[str]:
            return [value]

        def open(self) -> None:
            raise OSError("open")

        def close(self) -> None:
            log.append("close")

    source = feed("a")
    with pytest.raises(OSError, match=r"^open$"):
        async with open_operator(OperatorConfig(), Hooked(), source):
            log.append("body")

    assert log == []
    assert (source.taken, source.closed) == (0, 1)


async def test_an_error_of_close_is_raised_on_leaving(feed: Any, read: Any) -> None:
    """Nobody else would hear of it."""

    class Hooked:
        async def __call__(self, value: str) -> list[str]:
            return [value]

        def close(self) -> None:
            raise OSError("close")

    with pytest.raises(OSError, match=r"^close$"):
        async with open_operator(OperatorConfig(), Hooked(), feed("a")) as results:
            assert await read(results) == [(0, "a")]


async def test_an_error_of_close_is_a_note_on_the_bodys_error(feed: Any) -> None:
    """What the body raised passes, unchanged."""

    class Hooked:
        async def __call__(self, value: str) -> list[str]:
            return [value]

        def close(self) -> None:
            raise OSError("close")

    with pytest.raises(LookupError, match="body") as caught:
        async with open_operator(OperatorConfig(), Hooked(), feed("a")):
            raise LookupError("body")

    assert caught.value.__notes__ == ["Closing the operator raised, too: OSError('close')"]


async def test_an_error_on_closing_the_source_is_raised_on_leaving(feed: Any, sleeper: Any) -> None:
    """As `contextlib.aclosing` does it."""

    async def stuck() -> None:
        raise OSError("stuck")

    source = feed("a1")
    source.aclose = stuck

    with pytest.raises(OSError, match=r"^stuck$"):
        async with open_operator(OperatorConfig(), sleeper, source) as results:
            await anext(results)


async def test_what_closing_raises_is_told_by_notes_on_what_went_wrong_first(feed: Any) -> None:
    """Of the body, the source and `close`, the first that raises is raised; no error is lost."""

    class Hooked:
        async def __call__(self, value: str) -> list[str]:
            return [value]

        def close(self) -> None:
            raise OSError("close")

    async def stuck() -> None:
        raise OSError("stuck")

    notes = [f"Closing the operator raised, too: OSError('{name}')" for name in ("stuck", "close")]
    for error in (LookupError("body"), None):
        source = feed("a")
        source.aclose = stuck
        with pytest.raises(LookupError if error else OSError) as caught:  # noqa: PT012 - two ways
            async with open_operator(OperatorConfig(), Hooked(), source):
                if error is not None:
                    raise error
        assert caught.value.__notes__ == (notes if error else notes[1:])


async def test_an_error_of_open_is_not_hidden_by_one_of_closing_the_source(feed: Any) -> None:
    """The source is closed because of the first, which is the one to look at."""

    class Hooked:
        async def __call__(self, value: str) -> list[str]:
            return [value]

        def open(self) -> None:
            raise LookupError("open")

    async def stuck() -> None:
        raise OSError("stuck")

    source = feed("a")
    source.aclose = stuck
    with pytest.raises(LookupError, match=r"^open") as caught:
        async with open_operator(OperatorConfig(), Hooked(), source):
            pytest.fail("the body must not run")

    assert caught.value.__notes__ == ["Closing the operator raised, too: OSError('stuck')"]


async def test_an_iterable_without_aclose_will_do(sleeper: Any, read: Any) -> None:
    """What its `__aiter__` makes is closed if it can be."""
    log = []

    class Plain:
        async def __aiter__(self) -> AsyncIterator[Element]:
            try:
                yield Record("a1")
                yield Record("b9")
            finally:
                log.append("closed")

    async with open_operator(OperatorConfig("ordered", 1), sleeper, Plain()) as results:
        assert await anext(results) == Record("a1")

    assert log == ["closed"]


@pytest.mark.parametrize("capacity", [1, 5], ids=["waits for room", "is being asked"])
async def test_a_generator_with_a_cancel_scope_round_its_yield_can_be_a_source(
    sleeper: Any, capacity: int
) -> None:
    """It is read and closed by one task, and finds its scope on top whenever it goes on."""
    log = []

    async def source() -> AsyncIterator[Element]:
        with anyio.CancelScope():
            try:
                for value in ("a1", "b9", "c9"):
                    yield Record(value)
                await anyio.sleep(99)
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(3)
                log.append(anyio.current_time())

    config = OperatorConfig("ordered", capacity)
    with anyio.move_on_after(2):
        async with open_operator(config, sleeper, source()) as results:
            assert await anext(results) == Record("a1")
            await anext(results)

    assert log == [5]


async def test_an_operator_leaves_nothing_for_the_garbage_collector_to_complain_of(
    feed: Any, sleeper: Any
) -> None:
    """No coroutine that was never awaited, no generator that was never closed."""
    context = open_operator(OperatorConfig(), sleeper, feed("a1"))
    async with context:
        pass
    del context
    gc.collect()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"config": "ordered"}, "config must be an OperatorConfig, got 'ordered' (str)"),
        ({"fn": 7}, "fn must be a coroutine function or have async_invoke(), got 7 (int)"),
        ({"elements": [1]}, "elements must be an async iterable of elements, got [1] (list)"),
        ({"restore": b"x"}, "restore must be a Snapshot or None, got b'x' (bytes)"),
        (
            {"restore": Snapshot(1, (7,))},  # type: ignore[arg-type]
            "restore.in_flight must be records, watermarks and statuses, got 7 (int)",
        ),
    ],
)
async def test_wrong_arguments_are_refused_where_they_are_given(
    feed: Any, sleeper: Any, arguments: dict[str, Any], message: str
) -> None:
    """Before anything is opened, with name, value and type."""
    right = {"config": OperatorConfig(), "fn": sleeper, "elements": feed(), "restore": None}

    with pytest.raises(InvalidConfig) as caught:
        open_operator(**(right | arguments))

    assert str(caught.value) == message
