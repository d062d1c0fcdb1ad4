"""The tasks of an operator, and the end of them."""

import asyncio
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from functools import partial
from types import coroutine
from typing import Any

from asyncwait.toolkit._bell import Bell
from asyncwait.toolkit._loop import plain_error, running_trio


def start_task(group: Any, function: Callable[..., Any], *args: Any) -> None:
    """Start a task that leaves nothing behind, even if it is cancelled before its first step.

    Where an interruption ends the loop, asyncio cancels all tasks, and never runs one that has not
    begun. The task is anyio's; a coroutine in it would be dropped, and Python would warn that it
    was never awaited. A generator may be dropped, so the coroutine is made at the first step.
    Releases of anyio that know no handles of tasks put none round a coroutine, and take no other;
    trio runs each task to its first checkpoint.

    Args:
        group: of anyio.
        function: what the task runs.
        args: of the function.
    """
    if running_trio() is not None or not hasattr(sys.modules["anyio"], "TaskHandle"):
        group.start_soon(function, *args)
        return
    name = f"{function.__module__}.{function.__qualname__}"
    group.start_soon(_late_coroutine, function, args, name=name)


def _steps(function: Callable[..., Any], args: tuple[Any, ...]) -> Generator[Any, Any, Any]:
    return (yield from function(*args).__await__())


# Of a generator function itself it would make no `Coroutine`, and anyio takes nothing else.
_late_coroutine = coroutine(lambda function, args: _steps(function, args))  # noqa: PLW0108


class JoinableTasks:
    """The tasks of an operator, in a group whose end any task can wait for.

    Args:
        group: of anyio, just entered by the present task, and left by `join`.
    """

    def __init__(self, group: Any) -> None:
        self._group = group
        self._entered_by = _current_task()
        self._misplaced = RuntimeError(
            "the operator was left by another task than entered it; all of it is closed, but that "
            "task keeps its cancel scopes: leave an async generator around an operator by "
            "`async with contextlib.aclosing(generator)`"
        )
        self._running = 0
        self._bell = Bell()
        self.start_soon: Callable[..., object] = partial(start_task, group)
        """Starts a task, given its function and arguments."""
        if running_trio() is not None:
            self.start_soon = self._start_counted

    @property
    def is_elsewhere(self) -> bool:
        """Whether another task runs than the one that entered, so that no scope can be exited."""
        return self._entered_by is not _current_task()

    @property
    def misplaced(self) -> RuntimeError | None:
        """What leaving raises, and each read after it, where another task leaves than entered."""
        return self._misplaced if self.is_elsewhere else None

    def scopes(self, entered: AbstractContextManager[Any]) -> AbstractContextManager[Any]:
        """Return what to leave in: the scopes that were entered; in another task, a shield."""
        if not self.is_elsewhere:
            return entered
        anyio: Any = sys.modules["anyio"]  # whose group it is
        shield: AbstractContextManager[Any] = anyio.CancelScope(shield=True)
        return shield

    def _start_counted(self, function: Any, *args: Any) -> None:
        """Start a task of trio, whose groups tell only the task that entered of their end."""
        self._running += 1
        self._group.start_soon(self._run, function, args, name=function)

    async def _run(self, function: Any, args: tuple[Any, ...]) -> None:
        try:
            await function(*args)
        finally:
            self._running -= 1
            self._bell.ring()

    async def join(self) -> BaseException | None:
        """Wait until the tasks have ended, whoever cancels whoever waits.

        Scopes that are cancelled in the tasks have to be shielded by then: anyio counts what they
        take back as if it were the present task's, if that is cancelled meanwhile.

        Returns:
            What has to come out, whatever the body raised: an error of the tasks that is for the
            whole program; asyncio's own cancellation of the waiting task, which no scope holds up;
            or a RuntimeError, because the task that entered is another one.
        """
        if self.is_elsewhere:
            return await self._join_elsewhere()
        trio = running_trio()
        cancelled = asyncio.CancelledError if trio is None else trio.Cancelled
        self._group.cancel_scope.shield = True
        try:
            await self._group.__aexit__(None, None, None)
        except BaseExceptionGroup as raised:
            return plain_error(raised)
        except cancelled as error:
            return error
        return None

    async def _join_elsewhere(self) -> BaseException:
        """Wait for the tasks; their group stays open, as only the task that entered can exit it."""
        if running_trio() is None:
            try:
                await self._group.__aexit__(None, None, None)
            except RuntimeError as error:  # about the scope of the group, when all tasks have ended
                if isinstance(error.__context__, BaseExceptionGroup):
                    return plain_error(error.__context__)
        while self._running:
            await self._bell.wait()
        return self._misplaced


def _current_task() -> Any:
    trio = running_trio()
    return asyncio.current_task() if trio is None else trio.lowlevel.current_task()
