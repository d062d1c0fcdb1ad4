"""Cancellation of consumers and calls, and how it differs from a read that failed.

asyncio cancels a task once. Trio, and on asyncio the scopes of anyio, cancel a task in each wait
until the task has left the scope. An operator that leaves correctly under one kind of cancellation
may hang or leak under the other. A cancelled call of the harness cleans up as most programs do:
without a shield.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

import anyio
import anyio.lowlevel

from asyncwait.conformance.harness._run import LoopName
from asyncwait.spec.scenario import Scenario

_NOTHING = 1e-6
"""Tolerance of a sum of times, in seconds; a shorter sleep moves no virtual clock."""


async def outlast(seconds: float) -> None:
    """Wait for `seconds`, however often the present task is cancelled meanwhile."""
    end = anyio.current_time() + seconds
    with anyio.CancelScope(shield=True):
        while True:
            # The shield holds off scopes of anyio; on asyncio, a task can be cancelled directly.
            with suppress(asyncio.CancelledError):
                await anyio.sleep(max(0.0, end - anyio.current_time()))
            if anyio.current_time() >= end - _NOTHING:
                return


async def clean_up_unshielded(seconds: float, *, in_a_group: bool) -> str:
    """Clean up for `seconds` as most programs do; return what is wrong with the cancellation."""
    end, wrong = anyio.current_time() + seconds, ""
    if isinstance(present_task(), asyncio.Task):
        try:
            await (_in_a_group(seconds) if in_a_group else asyncio.sleep(seconds))
        except asyncio.CancelledError:
            wrong = "was cancelled again"
    else:
        with suppress(anyio.get_cancelled_exc_class()):
            await anyio.lowlevel.checkpoint()
            wrong = "was cancelled, but not its scope"
    await outlast(max(0.0, end - anyio.current_time()))
    return wrong


async def _in_a_group(seconds: float) -> None:
    """Wait in structured concurrency, which counts the cancellations of its task."""
    async with asyncio.timeout(seconds + 1), asyncio.TaskGroup() as group:
        group.create_task(asyncio.sleep(seconds))


def present_task() -> Any:
    """Return the running task of asyncio or trio; None outside of a task."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        import trio  # an extra, and here it runs already

        return trio.lowlevel.current_task()


def way_to_cancel(scenario: Scenario, loop: LoopName) -> "Once | Scope":
    """Return the way in which the consumer of `scenario` is cancelled on `loop`."""
    return Once() if loop == "asyncio" and scenario.cancel == "once" else Scope()


class Once:
    """Cancels a consumer as asyncio does: one wait only."""

    repeats = False
    """Whether every wait is cancelled until the consumer has left, rather than one wait."""

    def __init__(self) -> None:
        self.swallowed = False
        """Whether the consumer was cancelled, and left the context as if it had not been."""
        self._task: asyncio.Task[Any] | None = None
        self._called = False

    @contextmanager
    def around(self) -> Generator[None]:
        """Give a context in which the consumer can be cancelled; it swallows the cancellation."""
        task = self._task = asyncio.current_task()
        assert task is not None
        try:
            yield
        except asyncio.CancelledError:
            if not self._called:
                raise
        else:
            self.swallowed = self._called
        finally:
            self._task = None
            for _ in range(task.cancelling()):
                task.uncancel()

    def cancel(self) -> None:
        """Cancel the consumer from another task, unless it has left the context."""
        if self._task is not None:
            self._called = True
            self._task.cancel()

    async def within(self, seconds: float, wait: Callable[[], Awaitable[None]]) -> bool:
        """Have the consumer wait at most `seconds`; return whether the wait finished."""
        try:
            async with asyncio.timeout(seconds):
                await wait()
        except TimeoutError:
            return False
        return True


class Scope:
    """Cancels as trio and anyio do: each wait, even after the consumer swallowed a cancellation."""

    repeats, swallowed = True, False

    def __init__(self) -> None:
        self._scope = anyio.CancelScope()

    def around(self) -> AbstractContextManager[object]:
        """See `Once`."""
        return self._scope

    def cancel(self) -> None:
        """See `Once`."""
        self._scope.cancel()

    async def within(self, seconds: float, wait: Callable[[], Awaitable[None]]) -> bool:
        """See `Once`."""
        with anyio.move_on_after(seconds) as scope:
            await wait()
        return not scope.cancelled_caught


def is_for_the_harness(error: BaseException) -> bool:
    """Whether `error` is no failure of the operator: the program ends, or the harness cancels.

    A CancelledError without a cancellation is a failure: the operator let it out of a call.
    """
    if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit):
        return True
    return isinstance(error, anyio.get_cancelled_exc_class()) and _is_being_cancelled()


def interruption(error: BaseException) -> BaseException | None:
    """Return the planned error in `error` that ends the program; None without one.

    On trio the error comes out of the harness's own nursery, in a group.
    """
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(interruption, error.exceptions)), None)
    planned = isinstance(error, KeyboardInterrupt | SystemExit) and error.args == ("planned",)
    return error if planned else None


def _is_being_cancelled() -> bool:
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return True  # On trio only a cancellation can raise it.
    asked = task is not None and task.cancelling() > 0
    return asked or anyio.current_effective_deadline() == -math.inf
