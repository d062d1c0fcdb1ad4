"""How a consumer is cancelled, and how that is told from a read that failed.

asyncio cancels a task once. Trio, and on asyncio the scopes of anyio, cancel a task in each wait
until it has left the scope. What leaves correctly in the one way may hang or leak in the other.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TypeAlias

import anyio

from asyncwait.conformance.harness._run import LoopName
from asyncwait.spec.scenario import Scenario

Alarm: TypeAlias = Callable[[Callable[[], None]], None]
"""Is given what cancels a wait, and calls it later from another task."""


class Cancelling(Protocol):
    """A way to cancel a consumer.

    Attributes:
        repeats: it cancels each wait until the consumer has left, and not one alone.
        swallowed: the consumer was cancelled once, and left the context as if it were not.
    """

    repeats: bool
    swallowed: bool

    def around(self) -> AbstractContextManager[None]:
        """Return a context in which the consumer can be cancelled, and which swallows that."""
        ...

    def cancel(self) -> None:
        """Cancel the consumer from another task, unless it has left the context."""
        ...

    async def within(self, seconds: float, wait: Callable[[], Awaitable[None]]) -> bool:
        """Have the consumer wait so long at most; return whether the wait came to its end."""
        ...

    async def until(self, alarm: Alarm, wait: Callable[[], Awaitable[None]]) -> bool:
        """Have the consumer wait until `alarm` cancels that; return whether it came to its end."""
        ...


def way_to_cancel(scenario: Scenario, loop: LoopName) -> Cancelling:
    """Return how the consumer of `scenario` is cancelled on `loop`."""
    return Once() if loop == "asyncio" and scenario.cancel == "once" else Scope()


class Once:
    """As asyncio does."""

    repeats = False

    def __init__(self) -> None:
        self.swallowed = False
        self._task: asyncio.Task[Any] | None = None
        self._called = False

    @contextmanager
    def around(self) -> Generator[None]:
        """See `Cancelling`."""
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
        """See `Cancelling`."""
        if self._task is not None:
            self._called = True
            self._task.cancel()

    async def within(self, seconds: float, wait: Callable[[], Awaitable[None]]) -> bool:
        """See `Cancelling`."""
        try:
            async with asyncio.timeout(seconds):
                await wait()
        except TimeoutError:
            return False
        return True

    async def until(self, alarm: Alarm, wait: Callable[[], Awaitable[None]]) -> bool:
        """See `Cancelling`."""
        task, called = asyncio.current_task(), False
        assert task is not None

        def cancel() -> None:
            nonlocal called
            called = True
            task.cancel()

        alarm(cancel)
        try:
            await wait()
        except asyncio.CancelledError:
            if not called or task.cancelling() > 1:
                raise
            return False
        finally:
            if called:
                task.uncancel()
        return True


class Scope:
    """As trio and anyio do; what is swallowed here comes again in the next wait."""

    repeats, swallowed = True, False

    def __init__(self) -> None:
        self._scope = anyio.CancelScope()

    def around(self) -> AbstractContextManager[None]:
        """See `Cancelling`."""
        return _plain(self._scope)

    def cancel(self) -> None:
        """See `Cancelling`."""
        self._scope.cancel()

    async def within(self, seconds: float, wait: Callable[[], Awaitable[None]]) -> bool:
        """See `Cancelling`."""
        with anyio.move_on_after(seconds) as scope:
            await wait()
        return not scope.cancelled_caught

    async def until(self, alarm: Alarm, wait: Callable[[], Awaitable[None]]) -> bool:
        """See `Cancelling`."""
        with anyio.CancelScope() as scope:
            alarm(scope.cancel)
            await wait()
        return not scope.cancelled_caught


@contextmanager
def _plain(scope: anyio.CancelScope) -> Generator[None]:
    with scope:
        yield


def is_for_the_harness(error: BaseException) -> bool:
    """Whether `error` is no failure of the operator: the program ends, or the harness cancels.

    A CancelledError that nobody asked for is one: the operator let it out of a call.
    """
    if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit):
        return True
    return isinstance(error, anyio.get_cancelled_exc_class()) and _is_being_cancelled()


def interruption(error: BaseException) -> BaseException | None:
    """Return the planned error in `error` that ends the program; None where there is none.

    On trio it comes out of the harness's own nursery, in a group.
    """
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(interruption, error.exceptions)), None)
    planned = isinstance(error, KeyboardInterrupt | SystemExit) and error.args == ("planned",)
    return error if planned else None


def _is_being_cancelled() -> bool:
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return True  # On trio nobody else can raise it.
    asked = task is not None and task.cancelling() > 0
    return asked or anyio.current_effective_deadline() == -math.inf
