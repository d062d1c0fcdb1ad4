"""An open operator on its own loop, for callers without one."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from asyncwait.spec import Statistics


class Batches(Protocol):
    """Results of an operator that can be taken many at a time."""

    async def __anext__(self) -> Any:
        """Return the next result."""
        ...

    def take_ready(self, limit: int) -> list[Any]:
        """Take the results that are ready, without waiting."""
        ...

    def statistics(self) -> Statistics:
        """Return the present figures."""
        ...


class OperatorHost:
    """Opens an operator, and leaves it in the task that has opened it.

    All methods but `figures` run on the loop; other threads call them through a `LoopThread`.

    Args:
        open_operator: called on the loop.
    """

    def __init__(self, open_operator: Callable[[], AbstractAsyncContextManager[Any]]) -> None:
        self._open = open_operator
        self._opened = asyncio.Event()
        self._leaving = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._results: Batches | None = None

    async def open(self) -> None:
        """Open the operator."""
        self._task = asyncio.create_task(self._live())
        self._task.add_done_callback(self._over)
        await self._opened.wait()
        if self._task.done():
            self._task.result()

    def _over(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled():
            task.exception()  # The error is raised, even if it breaks out of the loop before.
        self._opened.set()

    async def _live(self) -> None:
        """Hold the context open: the scopes in it belong to the one task that enters it."""
        async with self._open() as self._results:
            self._opened.set()
            await self._leaving.wait()

    async def take(self, limit: int) -> list[Any]:
        """Wait for the next result, and take all further ready results; return none at the end."""
        assert self._results is not None
        try:
            first = await anext(self._results)
        except StopAsyncIteration:
            return []
        return [first, *self._results.take_ready(limit - 1)]

    async def statistics(self) -> Statistics:
        """Return the present figures."""
        return self.figures()

    def figures(self) -> Statistics:
        """Return the figures; for any thread, even after the loop has closed."""
        return Statistics() if self._results is None else self._results.statistics()

    async def close(self) -> None:
        """Leave the operator, and wait for its end; cancel it if it is not open yet."""
        self._leaving.set()
        task = self._task
        # An earlier error was raised by `open`, or breaks out of loops.
        if task is not None and not task.done():
            if is_given_up := not self._opened.is_set():
                task.cancel()
            await asyncio.wait([task])
            if not (is_given_up and task.cancelled()):
                task.result()
