"""Calls into the loop from threads, and the origin of an exception."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from operators import virtual_loop

from asyncwait.spec.mailbox import Loop
from asyncwait.toolkit import is_own_cancellation, plain_error, reraise_fatal, running_loop


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    return virtual_loop(request.param)


@pytest.mark.anyio
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


@pytest.mark.anyio
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


@pytest.mark.anyio
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


@pytest.mark.anyio
async def test_the_error_of_a_group_is_plain() -> None:
    error = ValueError()
    group = ExceptionGroup("x", [ExceptionGroup("y", [error]), OSError()])

    assert plain_error(group) is error


@pytest.mark.anyio
async def test_an_interruption_in_a_group_is_the_error(anyio_backend_name: str) -> None:
    error = KeyboardInterrupt()

    plain = plain_error(BaseExceptionGroup("x", [OSError(), error]))

    if anyio_backend_name == "trio":
        assert plain is error
    else:
        assert type(plain) is asyncio.CancelledError
