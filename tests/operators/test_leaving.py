"""Leaving and cancellation, by scopes, by tasks and by readers that hold on; contexts."""

import asyncio
import contextvars
import math
from collections.abc import AsyncGenerator
from contextlib import nullcontext
from contextvars import ContextVar
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from operators import Sleeper, Source, failure_of, read_all, read_timed, seconds_now, virtual_loop

from asyncwait.spec import CallFailed, Element, OpenOperator, OperatorConfig, Record

pytestmark = pytest.mark.anyio

SILENT = 10**6
"""Seconds for which a source gives nothing: longer than any test of these may take."""


class Hooked(Sleeper):
    def __init__(self, log: list[str]) -> None:
        super().__init__()
        self.log = log
        self.closing_error: BaseException | None = None

    async def open(self) -> None:
        await anyio.sleep(1)
        self.log.append("open")

    async def close(self) -> None:
        await anyio.sleep(1)
        self.log.append("close")
        if self.closing_error is not None:
            raise self.closing_error


class Case:
    def __init__(self, open_operator: OpenOperator, *script: Any) -> None:
        self.source = Source(*script)
        self.source.clean_up = 3
        self.fn = Hooked(self.source.log)
        self.fn.clean_up = 2
        self.context = open_operator(OperatorConfig(), self.fn, self.source)

    def assert_over(self, at: float) -> None:
        assert seconds_now() == at
        assert self.fn.running == []
        assert self.source.log[-2:] == ["closed", "close"]
        assert self.source.log.count("closed") == 1


async def test_what_closing_raises_is_a_note_on_a_native_cancellation(
    open_operator: OpenOperator, anyio_backend_name: str
) -> None:
    if anyio_backend_name == "trio":
        return  # it has scopes only
    before = asyncio.all_tasks()
    case = Case(open_operator, "a99", SILENT)
    case.source.closing_error = OSError("source")
    notes: list[str] = []

    async def host() -> None:
        try:
            async with case.context:
                await anyio.sleep(0.5)
        except asyncio.CancelledError as error:
            notes.extend(error.__notes__)
            raise

    task = asyncio.ensure_future(host())
    await anyio.sleep(2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert notes == ["Closing the operator raised, too: OSError('source')"]
    assert asyncio.all_tasks() == before


@pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")
def test_an_operator_in_a_generator_that_is_dropped_is_closed_by_the_loop(
    open_operator: OpenOperator,
    anyio_backend: tuple[str, dict[str, Any]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    name, options = anyio_backend

    async def drop_it() -> None:
        case = Case(open_operator, "a1", "b99", SILENT)

        async def results() -> AsyncGenerator[Element]:
            async with case.context as given:
                async for each in given:
                    yield each

        async for each in results():
            assert each == Record("a1")
            break
        await anyio.sleep(7)
        case.assert_over(2 + 7)

    # The scopes of this task, which nobody else can exit, are still entered: trio minds.
    with pytest.raises(RuntimeError) if name == "trio" else nullcontext():
        anyio.run(drop_it, backend=name, backend_options=options)
    (said,) = [each.exc_info[1] for each in caplog.records if each.exc_info]
    assert type(said) is RuntimeError
    assert "left by another task than entered it" in str(said)


async def test_hooks_run_in_the_task_that_enters_and_leaves(open_operator: OpenOperator) -> None:
    seen = contextvars.ContextVar("seen", default="nothing")
    source = Source("a1")
    fn: Any = Sleeper()

    async def open_() -> None:
        fn.group = await anyio.create_task_group().__aenter__()
        fn.group.start_soon(anyio.sleep_forever)
        seen.set("by open")

    async def close() -> None:
        fn.group.cancel_scope.cancel()
        await fn.group.__aexit__(None, None, None)

    fn.open, fn.close = open_, close
    async with open_operator(OperatorConfig(), fn, source) as results:
        assert seen.get() == "by open"
        assert await read_all(results) == ["a1"]


async def test_results_may_be_read_in_another_task_than_the_one_that_entered(
    open_operator: OpenOperator,
) -> None:
    taken: list[tuple[float, Any]] = []

    async with (
        anyio.create_task_group() as group,
        open_operator(OperatorConfig(), Sleeper(), Source("a1", "b9")) as results,
    ):

        async def read() -> None:
            taken.extend(await read_timed(results))
            taken.append((seconds_now(), "end"))

        group.start_soon(read)
        await anyio.sleep(2)

    assert taken == [(1, "a1"), (2, "end")]


async def test_a_consumer_that_shields_itself_from_a_cancellation_is_told(
    open_operator: OpenOperator,
) -> None:
    case = Case(open_operator, "a99", SILENT)

    with anyio.move_on_after(2) as scope:
        async with case.context as results:
            with anyio.CancelScope(shield=True), anyio.fail_after(99):
                error = await failure_of(results)
                assert await failure_of(results) is error

    assert type(error) is RuntimeError
    assert "cancelled from outside" in str(error)
    assert not scope.cancelled_caught  # nothing was left to be cancelled
    case.assert_over(2 + 3 + 1)
    with pytest.raises(StopAsyncIteration):
        await anext(results)


on_asyncio = pytest.mark.parametrize("anyio_backend", [virtual_loop("asyncio")], ids=["asyncio"])
"""For what trio does not have."""


def present_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


@on_asyncio
@pytest.mark.parametrize("times", [1, 2, 3])
async def test_each_cancellation_of_its_task_is_counted(
    open_operator: OpenOperator, times: int
) -> None:
    fn = Sleeper()
    fn.clean_up = 3.0
    counts: list[int] = []

    async def use() -> None:
        try:
            async with open_operator(OperatorConfig(), fn, Source("a99")) as results:
                await read_all(results)
        finally:
            counts.append(present_task().cancelling())

    user = asyncio.create_task(use())
    await asyncio.sleep(1)
    for _ in range(times):
        user.cancel()
        await asyncio.sleep(0.5)
    with pytest.raises(asyncio.CancelledError):
        await user

    assert counts == [times]
    assert seconds_now() == 4


class _Awkward:
    """Is equal to nothing: to ask raises, as with an array."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("ambiguous")

    __hash__ = object.__hash__


async def test_a_variable_may_hold_what_can_not_be_compared(open_operator: OpenOperator) -> None:
    held: ContextVar[Any] = ContextVar("held")
    base = _Awkward()
    held.set(base)
    seen: list[Any] = []

    async def fn(value: str) -> list[str]:
        seen.append(held.get())
        held.set(_Awkward())
        return [value]

    async with open_operator(OperatorConfig(capacity=1), fn, Source(*"abc")) as results:
        assert [each.value async for each in results] == list("abc")

    assert [one is base for one in seen] == [True] * 3


@pytest.mark.parametrize("before", ["the body", "close"])
async def test_what_closing_the_source_raises_is_a_note_on_the_error_before_it(
    open_operator: OpenOperator, before: str
) -> None:
    case = Case(open_operator, "a1")
    case.source.closing_error = OSError("source")
    error = ValueError(before)

    if before == "close":
        case.fn.closing_error = error

    async def use() -> None:
        async with case.context as results:
            assert await read_all(results) == ["a1"]
            if before == "the body":
                raise error

    with pytest.raises((ValueError, OSError)) as caught:
        await use()

    raised = {repr(caught.value), *(note.partition(": ")[2] for note in caught.value.__notes__)}
    assert raised == {repr(error), "OSError('source')"}
    assert before == "close" or caught.value is error


async def test_a_second_reader_is_refused_although_an_element_is_ready(
    open_operator: OpenOperator,
) -> None:
    taken: list[Element] = []

    async with (
        open_operator(OperatorConfig(), Sleeper(), Source("a9")) as results,
        anyio.create_task_group() as group,
    ):

        async def read() -> None:
            taken.append(await anext(results))

        group.start_soon(read)
        await anyio.sleep(1)
        results.request_snapshot(7)  # type: ignore[attr-defined]
        with pytest.raises(RuntimeError, match=r"^another task "):
            await anext(results)

    assert [type(element).__name__ for element in taken] == ["Snapshot"]


class Watched(Sleeper):
    """A function that keeps the task of each call, and its time limit and cancellations."""

    def __init__(self) -> None:
        super().__init__()
        self.tasks: dict[str, asyncio.Task[Any]] = {}
        self.seen: list[tuple[float, int]] = []
        self.counts: list[int] = []

    async def __call__(self, value: str) -> list[str]:
        task = self.tasks[value] = present_task()
        self.seen.append((anyio.current_effective_deadline(), task.cancelling()))
        try:
            return await super().__call__(value)
        except asyncio.CancelledError:
            self.counts.append(task.cancelling())
            raise

    def timeout(self, value: str) -> list[str]:
        return [f"no {value}"]


@on_asyncio
async def test_a_call_has_its_task_to_itself_and_sees_no_deadline(
    open_operator: OpenOperator,
) -> None:
    fn = Watched()
    config = OperatorConfig("ordered", 2, timeout=2)
    async with open_operator(config, fn, Source("a1", "b9", "c1", "d1")) as results:
        assert await read_all(results) == ["a1", "no b9", "c1", "d1"]

    assert len({*fn.tasks.values(), present_task()}) == 5
    assert fn.seen == [(math.inf, 0)] * 4
    assert fn.counts == [1]


@on_asyncio
async def test_the_task_of_a_running_call_may_be_cancelled_by_others(
    open_operator: OpenOperator,
) -> None:
    fn = Watched()
    async with open_operator(OperatorConfig(), fn, Source("a1", "b9", 99)) as results:
        assert await anext(results) == Record("a1")
        fn.tasks["b9"].cancel()
        error = await failure_of(results)

    assert isinstance(error, CallFailed)
    assert (error.record, type(error.__cause__)) == (Record("b9"), asyncio.CancelledError)


@on_asyncio
@pytest.mark.parametrize("when", [1.5, 3, 4.5], ids=["as b runs", "as c is read", "idle"])
async def test_who_cancels_the_task_of_a_call_that_is_over_ends_nothing(
    open_operator: OpenOperator, when: float
) -> None:
    fn = Watched()
    source = Source("a1", 1, "b1", 2, "c1", 2, "d1")
    async with open_operator(OperatorConfig(), fn, source) as results:
        await anyio.sleep(0.5)
        asyncio.get_running_loop().call_at(when, fn.tasks["a1"].cancel)
        assert await read_all(results) == ["a1", "b1", "c1", "d1"]
