"""Leaving, failing, being cancelled: at any moment, and none of it takes longer than clean-up."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import nullcontext
from typing import Any

import anyio
import pytest
from operators import Sleeper, Source, echo, failure_of, read_all, seconds_now

from asyncwait.spec import (
    CallFailed,
    Element,
    OpenOperator,
    OperatorConfig,
    Record,
    Snapshot,
    SnapshotOnDemand,
)

pytestmark = pytest.mark.anyio

SILENT = 10**6
"""Seconds for which a source gives nothing: longer than any test of these may take."""


class Hooked(Sleeper):
    """Notes its hooks, which take a second each.

    Args:
        log: where to.
    """

    def __init__(self, log: list[str]) -> None:
        super().__init__()
        self.log = log

    async def open(self) -> None:
        """Take a second."""
        await anyio.sleep(1)
        self.log.append("open")

    async def close(self) -> None:
        """Take a second."""
        await anyio.sleep(1)
        self.log.append("close")


class Case:
    """An operator with a call that cleans up for 2 s, and a source that closes for 3 s."""

    def __init__(self, open_operator: OpenOperator, *script: Any) -> None:
        self.source = Source(*script)
        self.source.clean_up = 3
        self.fn = Hooked(self.source.log)
        self.fn.clean_up = 2
        self.context = open_operator(OperatorConfig(), self.fn, self.source)

    def assert_over(self, at: float) -> None:
        """Assert that everything is over at a time, and closed."""
        assert seconds_now() == at
        assert self.fn.running == []
        assert self.source.log[-2:] == ["closed", "close"]
        assert self.source.log.count("closed") == 1


async def test_leaving_takes_no_longer_than_the_clean_up(open_operator: OpenOperator) -> None:
    """The source is silent, and would speak again in days only."""
    case = Case(open_operator, "a1", "b99", SILENT)

    async with case.context as results:
        assert await anext(results) == Record("a1")

    case.assert_over(2 + 3 + 1)
    with pytest.raises(StopAsyncIteration):
        await anext(results)


async def test_failing_takes_no_longer_than_the_clean_up(open_operator: OpenOperator) -> None:
    """The error is there at once, and leaving waits for nothing else."""
    case = Case(open_operator, "a9", "b!", SILENT)

    async with case.context as results:
        error = await failure_of(results)
        assert seconds_now() == 1

    assert type(error) is CallFailed
    case.assert_over(1 + 3 + 1)
    assert await failure_of(results) is error


async def test_being_cancelled_takes_no_longer_than_the_clean_up(
    open_operator: OpenOperator,
) -> None:
    """The scope that was cancelled sees it, and reads after leaving report the end."""
    case = Case(open_operator, "a99", SILENT)

    with anyio.move_on_after(2) as scope:
        async with case.context as results:
            await anext(results)

    assert scope.cancelled_caught
    case.assert_over(2 + 3 + 1)
    with pytest.raises(StopAsyncIteration):
        await anext(results)


async def test_an_operator_whose_source_has_said_nothing_can_be_left(
    open_operator: OpenOperator,
) -> None:
    """Nothing was read and nothing called."""
    case = Case(open_operator, SILENT)

    async with case.context:
        await anyio.sleep(1)

    case.assert_over(2 + 3 + 1)


async def test_a_consumer_that_shields_itself_from_a_cancellation_is_told(
    open_operator: OpenOperator,
) -> None:
    """The tasks that work for it are cancelled, and waiting for them would last for ever."""
    case = Case(open_operator, "a99", SILENT)

    with anyio.move_on_after(2) as scope:
        async with case.context as results:
            with anyio.CancelScope(shield=True), anyio.fail_after(99):
                error = await failure_of(results)
                assert await failure_of(results) is error

    assert type(error) is RuntimeError
    assert str(error) == "the operator was cancelled from outside, and its consumer reads on"
    assert not scope.cancelled_caught  # nothing was left to be cancelled
    case.assert_over(2 + 3 + 1)
    with pytest.raises(StopAsyncIteration):
        await anext(results)


@pytest.mark.parametrize("script", [["a1", "b1"], [SILENT], ["a1", SILENT]], ids=str)
async def test_no_shielded_consumer_hangs_whatever_the_operator_waited_for(
    open_operator: OpenOperator, script: list[Any]
) -> None:
    """Calls, room, the source, or nothing but the consumer itself."""
    fn, source = Sleeper(), Source(*script)

    with anyio.CancelScope() as scope:
        async with open_operator(OperatorConfig("ordered", 1), fn, source) as results:
            await anyio.sleep(5)
            scope.cancel()
            with anyio.CancelScope(shield=True), anyio.fail_after(50):
                await anyio.sleep(5)
                with pytest.raises(RuntimeError, match="cancelled from outside"):
                    await failure_of_stream(results)
    assert source.log[-1] == "closed"


async def failure_of_stream(results: Any) -> None:
    """Read until something else than an element comes."""
    while True:
        await anext(results)


async def test_a_cancellation_while_entering_closes_the_source(
    open_operator: OpenOperator,
) -> None:
    """`open` is cut short, the context is not entered, and nothing is called."""
    case = Case(open_operator, "a1")

    with anyio.move_on_after(0.5) as scope:
        async with case.context:
            pytest.fail("the body must not run")

    assert scope.cancelled_caught
    assert case.source.log == ["closed"]
    assert seconds_now() == 3.5


async def test_a_cancellation_before_entering_closes_everything(
    open_operator: OpenOperator,
) -> None:
    """It arrives with the first thing that waits."""
    source = Source("a9", SILENT)

    with anyio.CancelScope() as scope:
        scope.cancel()
        async with open_operator(OperatorConfig(), Sleeper(), source) as results:
            await anext(results)

    assert scope.cancelled_caught
    assert source.log[-1] == "closed"


@pytest.mark.parametrize("at", [2.5, 4.5, 6.5], ids=["in calls", "in the source", "in close"])
async def test_a_cancellation_while_leaving_cuts_nothing_short(
    open_operator: OpenOperator, at: float
) -> None:
    """Calls end, the source is closed, and so is the function."""
    case = Case(open_operator, "a99", SILENT)
    case.fn.clean_up = 2
    case.source.clean_up = 5

    with anyio.move_on_after(at):
        async with case.context:
            await anyio.sleep(0.5)

    case.assert_over(1.5 + 5 + 1)


@pytest.mark.parametrize("at", [0.5, 1.2, 1.7, 4.2, 5.2])
async def test_a_native_cancellation_at_any_moment_passes_and_leaves_nothing(
    open_operator: OpenOperator, anyio_backend_name: str, at: float
) -> None:
    """As `asyncio.timeout` round the operator does it: entering, in the body, while leaving."""
    if anyio_backend_name == "trio":
        return  # it has scopes only
    case = Case(open_operator, "a99", SILENT)
    before = asyncio.all_tasks()

    async def host() -> None:
        async with case.context:
            await anyio.sleep(0.5)

    task = asyncio.ensure_future(host())
    await anyio.sleep(at)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert task.cancelled()
    assert asyncio.all_tasks() == before
    assert case.fn.running == []
    assert case.source.log.count("closed") == 1


async def test_what_closing_raises_is_a_note_on_a_native_cancellation(
    open_operator: OpenOperator, anyio_backend_name: str
) -> None:
    """No error is lost, also if the cancellation arrives while the operator waits for calls."""
    if anyio_backend_name == "trio":
        return  # as above
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


class BodyError(Exception):
    """What a body raises."""


@pytest.mark.parametrize(
    "error", [BodyError(), StopAsyncIteration(), StopIteration(), ExceptionGroup("x", [KeyError()])]
)
async def test_the_error_of_the_body_comes_out_plainly(
    open_operator: OpenOperator, error: Exception
) -> None:
    """The very object, with nothing attached."""
    case = Case(open_operator, "a99", SILENT)

    with pytest.raises(type(error)) as caught:  # noqa: PT012 - the body is the point
        async with case.context:
            await anyio.sleep(0.5)
            raise error

    assert caught.value is error
    assert error.__cause__ is error.__context__ is None
    assert not hasattr(error, "__notes__")
    case.assert_over(1.5 + 3 + 1)


async def test_a_cancellation_of_the_consumer_passes_through_the_body(
    open_operator: OpenOperator,
) -> None:
    """The consumer's own scope catches it, and the operator goes on."""
    async with open_operator(OperatorConfig(), Sleeper(), Source("a5")) as results:
        with anyio.move_on_after(2) as scope:
            await anext(results)
        assert scope.cancelled_caught
        assert await read_all(results) == ["a5"]


def nothing(_: Any) -> None:
    """Do nothing."""


@pytest.mark.parametrize(
    "request_one", [nothing, lambda results: results.request_snapshot(7)], ids=["read", "request"]
)
@pytest.mark.parametrize("fails", [False, True], ids=["ended", "failed"])
async def test_nothing_comes_out_after_the_end(
    open_operator: OpenOperator, request_one: Callable[[Any], None], *, fails: bool
) -> None:
    """A request for a snapshot gives nothing and raises nothing, in the context or behind it."""
    source = Source("a!") if fails else Source("a1")

    async with open_operator(OperatorConfig(), Sleeper(), source) as results:
        assert isinstance(results, SnapshotOnDemand)
        if fails:
            await anyio.sleep(2)
        else:
            assert await read_all(results) == ["a1"]
        request_one(results)
        await assert_over(results, fails=fails)
        request_one(results)
        await assert_over(results, fails=fails)
    request_one(results)
    await assert_over(results, fails=fails)


async def assert_over(results: Any, *, fails: bool) -> None:
    """One more read gives the end, or the failure."""
    with pytest.raises(CallFailed if fails else StopAsyncIteration):
        await anext(results)


async def test_a_request_after_leaving_gives_nothing(open_operator: OpenOperator) -> None:
    """Whatever was in flight."""
    async with open_operator(OperatorConfig(), Sleeper(), Source("a1", "b9", 99)) as results:
        assert await anext(results) == Record("a1")
        results.request_snapshot(6)
    results.request_snapshot(7)

    with pytest.raises(StopAsyncIteration):
        await anext(results)


async def test_a_request_before_the_end_is_told_still_comes_out(
    open_operator: OpenOperator,
) -> None:
    """The end is the end when the consumer has seen it."""
    async with open_operator(OperatorConfig(), echo, Source("a")) as results:
        assert await anext(results) == Record("a")
        await anyio.sleep(1)
        results.request_snapshot(7)
        assert await read_all(results) == [Snapshot(7, (), 1)]


async def test_nothing_is_in_flight_when_the_operator_was_left(
    open_operator: OpenOperator,
) -> None:
    """The figures of this moment are none; those of the whole life stay."""
    async with open_operator(
        OperatorConfig("ordered", 2), Sleeper(), Source("a1", "b9", "c9", 99)
    ) as results:
        assert await anext(results) == Record("a1")
        await anyio.sleep(1)
        now = results.statistics()
    then = results.statistics()

    assert (now.in_flight, now.waiting, now.held, now.calls, now.max_in_flight) == (2, 0, 0, 3, 2)
    assert (then.in_flight, then.waiting, then.held, then.calls, then.max_in_flight) == (
        0,
        0,
        0,
        3,
        2,
    )


@pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")
def test_an_operator_in_a_generator_that_is_dropped_is_closed_by_the_loop(
    open_operator: OpenOperator,
    anyio_backend: tuple[str, dict[str, Any]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The loop finalises the generator in another task: all is closed, and an error says so."""
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
    with pytest.raises(RuntimeError, match="corrupted") if name == "trio" else nullcontext():
        anyio.run(drop_it, backend=name, backend_options=options)
    (said,) = [each.exc_info[1] for each in caplog.records if each.exc_info]
    assert type(said) is RuntimeError
    assert "left by another task than entered it" in str(said)
