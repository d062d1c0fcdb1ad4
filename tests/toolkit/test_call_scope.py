"""A call is cancelled as its loop does it."""

import asyncio
from typing import Any

import anyio
import pytest
from operators import seconds_now, virtual_loop

from asyncwait.toolkit import call_scope, running_trio, unless_cancelled

pytestmark = pytest.mark.anyio

on_asyncio = pytest.mark.parametrize("anyio_backend", [virtual_loop("asyncio")], ids=["asyncio"])


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    return virtual_loop(request.param)


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
