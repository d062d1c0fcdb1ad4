"""The loop: calls from threads, the cancellation of calls, and the origin of an exception."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from operators import seconds_now, virtual_loop

from asyncwait.spec.mailbox import Loop
from asyncwait.toolkit import (
    call_scope,
    close_source,
    is_own_cancellation,
    join_errors,
    plain_error,
    reraise_fatal,
    running_loop,
    running_trio,
    unless_cancelled,
)

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    return virtual_loop(request.param)


async def test_the_door_lets_other_threads_in() -> None:
    loop, event, threads = running_loop(), anyio.Event(), list[threading.Thread]()

    def enter() -> None:
        threads.append(threading.current_thread())
        event.set()

    thread = threading.Thread(target=loop.call_from_thread, args=[enter])
    thread.start()
    thread.join()
    assert threads == []
    await event.wait()

    assert threads == [threading.current_thread()]


def test_the_door_of_a_loop_that_is_gone_is_closed_in_silence(anyio_backend: Any) -> None:
    name, options = anyio_backend

    async def main() -> Loop:
        return running_loop()

    loop = anyio.run(main, backend=name, backend_options=options)

    loop.call_from_thread(lambda: pytest.fail("nobody runs this"))


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize(
    "wrapped",
    [
        lambda error: error,
        lambda error: BaseExceptionGroup("x", [ValueError(), error]),
        lambda error: BaseExceptionGroup("x", [BaseExceptionGroup("y", [error]), OSError()]),
    ],
    ids=["alone", "in a group", "in a group of groups"],
)
def test_what_is_meant_for_the_program_is_raised_plainly(
    kind: type[BaseException], wrapped: Callable[[BaseException], BaseException]
) -> None:
    error = kind("over")

    with pytest.raises(kind) as caught:
        reraise_fatal(wrapped(error))

    assert caught.value is error


@pytest.mark.parametrize(
    "error",
    [ValueError(), GeneratorExit(), asyncio.CancelledError(), ExceptionGroup("x", [OSError()])],
    ids=repr,
)
def test_whatever_else_is_raised_is_an_outcome(error: BaseException) -> None:
    reraise_fatal(error)


async def test_a_cancellation_by_a_scope_is_own() -> None:
    seen: list[bool] = []

    with anyio.CancelScope() as outer, anyio.CancelScope():
        outer.cancel()
        try:
            await anyio.sleep(1)
        except BaseException as error:
            seen += [is_own_cancellation(error), is_own_cancellation(ValueError())]
            with anyio.CancelScope(shield=True):  # noqa: ASYNC100 - to be looked at, not waited in
                seen.append(is_own_cancellation(error))
            raise

    assert seen == [True, False, False]


async def test_a_cancellation_that_user_code_makes_up_is_not(anyio_backend_name: str) -> None:
    error = asyncio.CancelledError()

    assert not is_own_cancellation(error)
    with anyio.CancelScope() as scope:  # noqa: ASYNC100 - to be looked at, not waited in
        scope.cancel()
        assert is_own_cancellation(error) == (anyio_backend_name == "asyncio")


def test_a_cancellation_in_a_callback_of_the_loop_is_not() -> None:
    seen: list[bool] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.call_soon(lambda: seen.append(is_own_cancellation(asyncio.CancelledError())))
        await asyncio.sleep(0)

    asyncio.run(main())

    assert seen == [False]


async def test_the_error_of_a_group_is_plain() -> None:
    error = ValueError()
    group = ExceptionGroup("x", [ExceptionGroup("y", [error]), OSError()])

    assert plain_error(group) is error


async def test_an_interruption_in_a_group_is_the_error(anyio_backend_name: str) -> None:
    error = KeyboardInterrupt()

    plain = plain_error(BaseExceptionGroup("x", [OSError(), error]))

    if anyio_backend_name == "trio":
        assert plain is error
    else:
        assert type(plain) is asyncio.CancelledError


on_asyncio = pytest.mark.parametrize("anyio_backend", [virtual_loop("asyncio")], ids=["asyncio"])


@on_asyncio
async def test_a_call_that_cancels_its_own_scope_when_it_is_through_leaves_no_trace() -> None:
    scope = call_scope()
    with scope:
        await asyncio.sleep(1)
        scope.cancel()
    await asyncio.sleep(1)
    task = asyncio.current_task()
    assert task is not None
    assert (task.cancelling(), seconds_now()) == (0, 2)


@on_asyncio
async def test_a_call_that_cancels_its_own_scope_and_waits_is_cancelled() -> None:
    scope = call_scope()
    with scope:
        scope.cancel()
        await asyncio.sleep(9)
    assert seconds_now() == 0


@on_asyncio
async def test_what_others_cancel_passes() -> None:
    scope = call_scope()

    async def run() -> None:
        with scope:
            await asyncio.sleep(9)

    task = asyncio.create_task(run())
    await asyncio.sleep(1)
    scope.cancel()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@on_asyncio
async def test_a_cancellation_that_is_swallowed_is_counted_no_more() -> None:
    """The next `asyncio.timeout` in that task would take it for its own."""
    scope = call_scope()
    asyncio.get_running_loop().call_later(1, scope.cancel)
    task = asyncio.current_task()
    assert task is not None
    with scope:
        try:
            await asyncio.sleep(9)
        except asyncio.CancelledError:
            assert task.cancelling() == 1
    assert task.cancelling() == 0


@on_asyncio
async def test_a_cancellation_from_before_is_no_other_ones() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.sleep(9)
    with call_scope() as scope:
        asyncio.get_running_loop().call_later(1, scope.cancel)
        await asyncio.sleep(9)
    assert (task.uncancel(), seconds_now()) == (0, 1)


async def test_what_a_cancelled_task_raises_besides_is_told_from_its_cancellation() -> None:
    cancelled, wrong = asyncio.CancelledError(), ValueError("no")
    if running_trio() is not None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            try:
                await anyio.sleep(9)
            except BaseException as error:
                cancelled = error
                raise
    assert unless_cancelled(cancelled) is None
    assert unless_cancelled(wrong) is wrong
    left = unless_cancelled(BaseExceptionGroup("both", [cancelled, wrong]))
    assert isinstance(left, ExceptionGroup)
    assert left.exceptions == (wrong,)


def test_an_interruption_of_the_program_passes() -> None:
    class Ending:
        async def aclose(self) -> None:
            raise SystemExit

    with pytest.raises(SystemExit):
        anyio.run(close_source, Ending())


def test_the_first_of_several_errors_is_told_of_the_others() -> None:
    first, second, third = LookupError("1"), OSError("2"), OSError("3")

    assert join_errors(None, first, None, second, first, third) is first
    assert first.__notes__ == [
        "Closing the operator raised, too: OSError('2')",
        "Closing the operator raised, too: OSError('3')",
    ]
    assert join_errors(None, None) is None
