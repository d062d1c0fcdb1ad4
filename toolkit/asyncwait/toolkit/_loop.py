"""The event loop of an operator, and its tasks: how they wake and end.

This module imports neither trio nor anyio: an operator that uses them has imported them.

Only a call itself sees the context variables that it sets, and each call sees the variables that
were set when the operator was opened. A call in coroutine form with its own task behaves so
without help; functions that an operator runs in its own tasks run in a copy of that context.
"""

import asyncio
import math
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from contextvars import Context, copy_context
from functools import partial
from types import coroutine
from typing import Any, ParamSpec, TypeAlias, TypeVar

from asyncwait.spec import AsyncWaitError
from asyncwait.spec.mailbox import Loop

P = ParamSpec("P")
T = TypeVar("T")

_WITHOUT_CODE = (list, tuple)
"""To read one of these runs nothing that could set a variable."""


def isolated(function: Callable[P, T], context: Context) -> Callable[P, T]:
    """Return a function that runs `function`, each time in a fresh copy of `context`."""

    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return context.copy().run(function, *args, **kwargs)

    return run


def supplied(supplier: Callable[[], T]) -> T:
    """Return what `supplier` gives; the variables that it sets stay in a copy of the context."""
    return copy_context().run(supplier)


def read_whole(collection: Any) -> tuple[Any, ...]:
    """Return the items of a collection; variables set by reading it stay in a copied context."""
    if type(collection) in _WITHOUT_CODE:
        return tuple(collection)
    return copy_context().run(tuple, collection)


_INTERRUPTIONS = (KeyboardInterrupt, SystemExit)


def running_loop() -> Loop:
    """Return the loop that runs the caller, be it asyncio's or trio's.

    Raises:
        RuntimeError: there is none.
    """
    trio = running_trio()
    if trio is not None:
        clock, token = trio.lowlevel.current_clock(), trio.lowlevel.current_trio_token()
        return Loop(clock.current_time, token.run_sync_soon, None)
    loop = asyncio.get_running_loop()
    return Loop(loop.time, loop.call_soon_threadsafe, loop.call_at)


def reraise_fatal(error: BaseException) -> None:
    """Return if `error` is an outcome; raise what is meant for the whole program, plainly.

    Raises:
        KeyboardInterrupt: it is one, or a group that holds one.
        SystemExit: the same.
    """
    for leaf in _leaves(error):
        if isinstance(leaf, _INTERRUPTIONS):
            raise leaf


def is_own_cancellation(error: BaseException) -> bool:
    """Say whether `error` is a cancellation that a scope round the present task asks for.

    If user code has made it up, or it comes from a task that somebody else has cancelled, no such
    scope is cancelled, and it is an error like any other (FAIL-5). So it is outside of any task.
    """
    trio = running_trio()
    if trio is not None:
        cancelled, scopes = trio.Cancelled, trio
    else:
        cancelled, scopes = asyncio.CancelledError, sys.modules.get("anyio")
    if scopes is None or not isinstance(error, cancelled):
        return False
    if trio is None and asyncio.current_task() is None:
        return False
    return bool(scopes.current_effective_deadline() == -math.inf)


def unless_cancelled(error: BaseException) -> BaseException | None:
    """Return what was raised by who was cancelled; None if that is the cancellation itself."""
    trio = running_trio()
    cancelled = asyncio.CancelledError if trio is None else trio.Cancelled
    if isinstance(error, BaseExceptionGroup):
        return error.split(cancelled)[1]
    return None if isinstance(error, cancelled) else error


def plain_error(group: BaseExceptionGroup[Any]) -> BaseException:
    """Return what is to leave an operator whose tasks have raised `group`: a plain error.

    That is an error for the whole program if there is one, else the first. asyncio has let a
    KeyboardInterrupt or a SystemExit of a task out where the loop is run. Once more, it would end
    the loop amid its shutdown: there, the host of the operator is cancelled like all other tasks.
    """
    leaves = list(_leaves(group))
    for leaf in leaves:
        if isinstance(leaf, _INTERRUPTIONS):
            return asyncio.CancelledError() if running_trio() is None else leaf
    return leaves[0]


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def running_trio() -> Any:
    """Return trio if it runs the caller, else None."""
    trio = sys.modules.get("trio")
    return trio if trio is not None and trio.lowlevel.in_trio_run() else None


class Bell:
    """Wakes one waiting task; a ring without a waiting task does nothing and costs very little.

    The task checks the state before it waits, and again afterwards. No await lies between the check
    and the wait, so no ring is missed. A bell serves tasks of one loop.

    The task sleeps by the means of its own loop: an event of anyio takes three times as long.
    """

    __slots__ = ("_falls_asleep", "sleeper")

    def __init__(self) -> None:
        self.sleeper: Sleeper | None = None
        """The waiting task; None without one, and when it is woken already."""
        self._falls_asleep: Callable[[], Sleeper] | None = None

    async def wait(self) -> None:
        """Sleep until the next ring."""
        if self._falls_asleep is None:
            self._falls_asleep = _way_to_sleep()
        self.sleeper = sleeper = self._falls_asleep()
        try:
            await sleeper
        finally:
            self.sleeper = None

    def ring(self) -> None:
        """Wake the waiting task, if there is one."""
        sleeper = self.sleeper
        if sleeper is not None:
            self.sleeper = None
            if not sleeper.done():  # or cancelled, and it does not run yet
                sleeper.set_result(None)


class _TrioSleeper:
    """Counterpart of an asyncio future for the present task of trio."""

    __slots__ = ("_done", "_task", "_trio")

    def __init__(self, trio: Any) -> None:
        self._trio = trio
        self._task = trio.lowlevel.current_task()
        self._done = False

    def __await__(self) -> Generator[Any, Any, None]:
        yield from self._trio.lowlevel.wait_task_rescheduled(self._give_up).__await__()

    def _give_up(self, _raise_cancelled: Any) -> Any:
        """Wake no cancelled task: it would be woken twice."""
        self._done = True
        return self._trio.lowlevel.Abort.SUCCEEDED

    def done(self) -> bool:
        """Return whether nothing may wake it any more."""
        return self._done

    def set_result(self, _: None) -> None:
        """Wake it."""
        self._done = True
        self._trio.lowlevel.reschedule(self._task)


Sleeper: TypeAlias = "asyncio.Future[None] | _TrioSleeper"


def _way_to_sleep() -> Callable[[], Sleeper]:
    trio = running_trio()
    return asyncio.get_running_loop().create_future if trio is None else lambda: _TrioSleeper(trio)


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


class HomeLoop:
    """The event loop that has entered an operator, from its construction on."""

    def __init__(self) -> None:
        self._loop = _current_loop()

    def require(self, what: str) -> None:
        """Refuse a use on another loop, where nothing would ever wake the waiting task.

        Args:
            what: the operator should have been used for, as a participle.

        Raises:
            RuntimeError: another loop runs the caller.
        """
        if _current_loop() is not self._loop:
            raise RuntimeError(
                f"the operator was entered in another event loop, and can only be {what} there: "
                "enter, read and leave it within one `asyncio.run`"
            )


def _current_loop() -> Any:
    trio = running_trio()
    return asyncio.get_running_loop() if trio is None else trio.lowlevel.current_trio_token()


class LeftEarly(AsyncWaitError, RuntimeError):
    """A read from a stream of plain values that was left before the end of its results was read."""

    def __str__(self) -> str:
        return (
            "the operator was left before the end of its results was read: read them inside the "
            "`with` or `async with` block"
        )


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
            "`async with contextlib.aclosing(generator)`, and enter an operator in the test itself "
            "where fixtures of pytest are set up and torn down in tasks of their own"
        )
        self._running = 0
        self._bell = Bell()
        self.start_soon: Callable[..., object] = partial(start_task, group)
        """Starts a task, given its function and arguments."""
        if running_trio() is not None:
            self.start_soon = self._start_counted

    @property
    def is_elsewhere(self) -> bool:
        """Whether the running task did not enter the group, so that it can exit no scope."""
        return self._entered_by is not _current_task()

    @property
    def misplaced(self) -> RuntimeError | None:
        """Error of leaving, and of later reads, if another task leaves than entered; else None."""
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
        """Wait until the tasks have ended, even if this wait is cancelled.

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
