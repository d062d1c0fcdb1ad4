"""How a call is cancelled: as its loop does it, and by nobody but its operator.

On asyncio that is by one `Task.cancel()`, as `asyncio.timeout` does it: whatever the call awaits in
its clean-up runs to its end. On trio it is by a scope: there what is awaited in a clean-up is
cancelled, too, unless it is shielded.
"""

import asyncio
import sys
from contextlib import suppress
from types import TracebackType
from typing import Any, Protocol, Self

from asyncwait.spec import Record
from asyncwait.toolkit._loop import running_trio
from asyncwait.toolkit._outcomes import awaitable_of


class CallScope(Protocol):
    """In which a call runs, and maybe others before it, one after the other, in one task.

    Whoever enters one that is cancelled already has to look, and to call nobody.
    """

    @property
    def cancel_called(self) -> bool:
        """Whether it was cancelled; it serves no further call then."""
        ...

    def cancel(self) -> None:
        """Cancel the call that runs, if there is one; once, however often this is called."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> bool | None:
        """Leave; an exception by which its own cancellation has ended the call goes no further."""
        ...


def call_scope() -> CallScope:
    """Return a scope for calls on the loop that runs, in which no task is yet."""
    trio = running_trio()
    scope: CallScope = _OnceScope() if trio is None else trio.CancelScope()
    return scope


async def outcome_of(record: Record, returned: Any, scope: CallScope) -> Any:
    """Return what a call in coroutine form gives, with all that it has done to its task.

    One that has cancelled its own task, and awaited nothing since, ends by that: else whoever runs
    in that task next would.

    Args:
        record: for which the function was called.
        returned: what it returned.
        scope: in which it runs; what that cancels is not the call's own doing.

    Raises:
        BaseException: what the call raises; CallFailed where the function returned no awaitable.
    """
    try:
        result = await awaitable_of(record, returned)
    except BaseException:
        with suppress(asyncio.CancelledError):
            await raise_self_cancellation(scope)
        raise
    await raise_self_cancellation(scope)
    return result


async def raise_self_cancellation(scope: CallScope) -> None:
    """Raise the cancellation of its own task that a call has left behind, on asyncio.

    Args:
        scope: of the call, which has just ended in this task.

    Raises:
        asyncio.CancelledError: there is one.
    """
    task = None if running_trio() is not None else asyncio.current_task()
    # Until Python 3.13 one stays that was taken back before anything was awaited.
    is_due = task is not None and (task.cancelling() or getattr(task, "_must_cancel", False))
    if is_due and not scope.cancel_called:
        await asyncio.sleep(0)


class _OnceScope:
    """Cancels a task of asyncio once.

    The scopes of anyio round it, which would do so again and again, do not reach into it.
    """

    __slots__ = ("_loop", "_shield", "_task", "_was_sent", "cancel_called")

    def __init__(self) -> None:
        self.cancel_called = False
        self._was_sent = False
        self._task: asyncio.Task[Any] | None = None
        self._loop = asyncio.get_running_loop()
        anyio = sys.modules.get("anyio")
        self._shield: Any = None if anyio is None else anyio.CancelScope(shield=True)

    def cancel(self) -> None:
        if not self.cancel_called:
            self.cancel_called = True
            if self._task is asyncio.current_task():
                # It may be through, or nearly: a cancellation that nothing awaits would stay.
                self._loop.call_soon(self._send)
            else:
                self._send()

    def _send(self) -> None:
        if self._task is not None:
            self._was_sent = self._task.cancel()

    def __enter__(self) -> Self:
        if self._shield is not None:
            self._shield.__enter__()
        self._task = asyncio.current_task()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        task, self._task = self._task, None
        assert task is not None
        # If somebody else cancels the task besides, it is for them.
        is_ours = self._was_sent and task.uncancel() == 0
        if self._shield is not None:
            self._shield.__exit__(kind, error, traceback)
        return is_ours and isinstance(error, asyncio.CancelledError)
