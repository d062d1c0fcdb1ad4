"""The event loop of an operator, and its tasks: their wake-up, cancellation and end.

This module imports neither trio nor anyio: an operator that uses them has imported them.

Only a call itself sees the context variables that it sets, and each call sees the variables that
were set when the operator was opened. The task of a call in coroutine form ensures this; functions
that an operator runs in its own tasks run in a copy of that context.
"""

import asyncio
import math
import sys
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import AbstractContextManager
from contextvars import Context, copy_context
from functools import partial
from types import coroutine
from typing import Any, ParamSpec, Protocol, Self, TypeAlias, TypeVar

from asyncwait.spec import AsyncWaitError
from asyncwait.spec.mailbox import Loop

P = ParamSpec("P")
T = TypeVar("T")

_WITHOUT_CODE = (list, tuple)
"""Types whose reading runs no code that could set a variable."""


def isolated(function: Callable[P, T], context: Context) -> Callable[P, T]:
    """Return a function that runs `function`, each time in a fresh copy of `context`."""

    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return context.copy().run(function, *args, **kwargs)

    return run


def supplied(supplier: Callable[[], T]) -> T:
    """Call `supplier` in a copy of the context, which keeps its variables; return its result."""
    return copy_context().run(supplier)


def read_whole(collection: Any) -> tuple[Any, ...]:
    """Return the items of a collection; variables set by reading it stay in a copied context."""
    if type(collection) in _WITHOUT_CODE:
        return tuple(collection)
    return copy_context().run(tuple, collection)


@coroutine
def driven(call: Coroutine[Any, Any, T], run: Callable[..., Any]) -> Generator[Any, Any, T]:
    """Await `call`, each step of which is made by `run`; its task and its cancellation stay.

    Args:
        call: not begun.
        run: calls the function that it is given with the other arguments; `Context.run`, for
            example, keeps the variables of the call in a context of its own.
    """
    step: Callable[[Any], Any] = call.send
    sent: Any = None
    while True:
        try:
            awaited = run(step, sent)
        except StopIteration as end:
            result: T = end.value
            return result
        try:
            sent = yield awaited
            step = call.send
        except GeneratorExit:
            run(call.close)
            raise
        except BaseException as error:
            step, sent = call.throw, error


_INTERRUPTIONS = (KeyboardInterrupt, SystemExit)


def running_loop() -> Loop:
    """Return the loop that runs the caller, of asyncio or trio.

    Raises:
        RuntimeError: no loop runs the caller.
    """
    trio = running_trio()
    if trio is not None:
        clock, token = trio.lowlevel.current_clock(), trio.lowlevel.current_trio_token()
        return Loop(clock.current_time, token.run_sync_soon, None)
    loop = asyncio.get_running_loop()
    return Loop(loop.time, loop.call_soon_threadsafe, loop.call_at)


def reraise_fatal(error: BaseException) -> None:
    """Raise an error for the whole program plainly; return if `error` is an outcome of a call.

    Raises:
        KeyboardInterrupt: `error` is a KeyboardInterrupt, or a group with one.
        SystemExit: the same for SystemExit.
    """
    for leaf in _leaves(error):
        if isinstance(leaf, _INTERRUPTIONS):
            raise leaf


def is_own_cancellation(error: BaseException) -> bool:
    """Return whether `error` is a cancellation by a scope round the present task.

    If user code raised it, or it comes from another, cancelled task, no such scope is cancelled,
    and it is an error like any other (FAIL-5); so it is outside of any task.
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
    """Return an error of cancelled code; None if the error is the cancellation itself."""
    trio = running_trio()
    cancelled = asyncio.CancelledError if trio is None else trio.Cancelled
    if isinstance(error, BaseExceptionGroup):
        return error.split(cancelled)[1]
    return None if isinstance(error, cancelled) else error


def plain_error(group: BaseExceptionGroup[Any]) -> BaseException:
    """Return the plain error of an operator whose tasks have raised `group`.

    It is an error for the whole program if the group has one, else the first error. asyncio has
    raised a KeyboardInterrupt or a SystemExit of a task where the loop is run; raised again, it
    would end the loop during its shutdown. So the operator's task gets a cancellation there, like
    all other tasks.
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

    The task sleeps by the primitives of its own loop: an event of anyio takes three times as long.
    """

    __slots__ = ("_falls_asleep", "sleeper")

    def __init__(self) -> None:
        self.sleeper: Sleeper | None = None
        """The waiting task; None without a waiting task, or if it is woken already."""
        self._falls_asleep: Callable[[], Sleeper] | None = None

    async def wait(self) -> None:
        """Sleep until the next ring."""
        if self._falls_asleep is None:
            trio = running_trio()
            self._falls_asleep = (
                asyncio.get_running_loop().create_future
                if trio is None
                else lambda: _TrioSleeper(trio)
            )
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
        """Prevent that a later ring wakes a cancelled task for a second time."""
        self._done = True
        return self._trio.lowlevel.Abort.SUCCEEDED

    def done(self) -> bool:
        """Return whether it was woken or cancelled."""
        return self._done

    def set_result(self, _: None) -> None:
        """Wake the task."""
        self._done = True
        self._trio.lowlevel.reschedule(self._task)


Sleeper: TypeAlias = "asyncio.Future[None] | _TrioSleeper"


def start_task(group: Any, function: Callable[..., Any], *args: Any) -> None:
    """Start a task that leaves nothing behind, even if it is cancelled before its first step.

    If an interruption ends the loop, asyncio cancels all tasks, and never runs a task that has not
    begun. Python would warn about a coroutine in such a task, which was never awaited. A generator
    gives no such warning, so this function makes the coroutine at the first step. Older releases of
    anyio, without `TaskHandle`, do not accept it; trio runs each task to its first checkpoint.

    Args:
        group: task group of anyio.
        function: coroutine function that the task runs.
        args: arguments of the function.
    """
    if running_trio() is not None or not hasattr(sys.modules["anyio"], "TaskHandle"):
        group.start_soon(function, *args)
        return
    name = f"{function.__module__}.{function.__qualname__}"
    group.start_soon(_late_coroutine, function, args, name=name)


def _steps(function: Callable[..., Any], args: tuple[Any, ...]) -> Generator[Any, Any, Any]:
    return (yield from function(*args).__await__())


# For a plain generator function, `coroutine` would return no `Coroutine`, which anyio requires.
_late_coroutine = coroutine(lambda function, args: _steps(function, args))  # noqa: PLW0108


class HomeLoop:
    """The event loop that enters an operator: the running loop at construction."""

    def __init__(self) -> None:
        self._loop = _current_loop()

    def require(self, what: str) -> None:
        """Refuse a use on another loop, where a waiting task would never wake.

        Args:
            what: the use of the operator, as a participle.

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
    """A read from a stream of plain values that was left before all of its results were read."""

    def __str__(self) -> str:
        return (
            "the operator was left before the end of its results was read: read them inside the "
            "`with` or `async with` block"
        )


class JoinableTasks:
    """The tasks of an operator, in a group whose end any task can wait for.

    Args:
        group: task group of anyio, just entered by the present task, and left by `join`.
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
        """Error of leaving, and of later reads, if another task entered; else None."""
        return self._misplaced if self.is_elsewhere else None

    def scopes(self, entered: AbstractContextManager[Any]) -> AbstractContextManager[Any]:
        """Return the entered scopes to leave in; in another task, a shield."""
        if not self.is_elsewhere:
            return entered
        anyio: Any = sys.modules["anyio"]  # which made the group
        shield: AbstractContextManager[Any] = anyio.CancelScope(shield=True)
        return shield

    def _start_counted(self, function: Any, *args: Any) -> None:
        """Start and count a task of trio, because only the entering task can wait for its group."""
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

        Cancelled scopes in the tasks have to be shielded before: if the present task is cancelled
        meanwhile, anyio counts their `uncancel` calls for this task.

        Returns:
            An error that replaces any error of the body: an error of the tasks for the whole
            program; asyncio's own cancellation of the waiting task, which no scope shields; or a
            RuntimeError, because another task entered. None without such an error.
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


class CallScope(Protocol):
    """Cancel scope of a call, or of several calls in a row in one task, or of reading a source.

    Only its operator cancels a call. On asyncio the operator calls `Task.cancel()` once, as
    `asyncio.timeout` does, and the clean-up of the call may await to its end. On trio the operator
    cancels a scope, which also cancels each await of the clean-up without a shield.

    A task that enters the scope checks whether it is cancelled already, and makes no call then.

    Attributes:
        shield: whether `cancel` no longer cancels.
    """

    shield: bool

    @property
    def cancel_called(self) -> bool:
        """Whether it was cancelled, so that it serves no further call."""
        ...

    def cancel(self) -> None:
        """Cancel the running call, if any; further calls of this method do nothing."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: Any, error: Any, traceback: Any, /) -> bool | None:
        """Leave, and stop the exception of its own cancellation."""
        ...


def call_scope(*, shield: bool | None = None) -> CallScope:
    """Return a new scope for calls on the running loop.

    Args:
        shield: whether it shields from outer scopes; None for a shield on asyncio only.
    """
    trio = running_trio()
    scope: CallScope = (
        _OnceScope(shield=shield is not False)
        if trio is None
        else trio.CancelScope(shield=bool(shield))
    )
    return scope


class _OnceScope:
    """Cancels a task of asyncio once; a shield excludes outer scopes of anyio, which repeat it."""

    __slots__ = ("_before", "_loop", "_outside", "_task", "_was_sent", "cancel_called", "shield")

    def __init__(self, *, shield: bool) -> None:
        self.cancel_called = self.shield = False
        self._was_sent = False
        self._task: asyncio.Task[Any] | None = None
        self._loop = asyncio.get_running_loop()
        anyio = sys.modules.get("anyio") if shield else None
        self._outside: Any = None if anyio is None else anyio.CancelScope(shield=True)

    def cancel(self) -> None:
        if not self.cancel_called:
            self.cancel_called = True
            if self._task is asyncio.current_task():
                # The task may end without an await, and the cancellation would stay pending.
                self._loop.call_soon(self._send)
            else:
                self._send()

    def _send(self) -> None:
        if self._task is not None and not self.shield:
            self._was_sent = self._task.cancel()

    def __enter__(self) -> Self:
        if self._outside is not None:
            self._outside.__enter__()
        self._task = task = asyncio.current_task()
        assert task is not None
        self._before = task.cancelling()
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        task, self._task = self._task, None
        assert task is not None
        # Further cancellations of the task come from other code, which handles them.
        is_ours = self._was_sent and task.uncancel() <= self._before
        if self._outside is not None:
            self._outside.__exit__(kind, error, traceback)
        return is_ours and isinstance(error, asyncio.CancelledError)
