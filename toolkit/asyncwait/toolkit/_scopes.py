"""Cancellation of a call, or of the read of a source, by the means of the loop.

A call is cancelled as its loop does it, and by nobody but its operator. On asyncio that is by one
`Task.cancel()`, as `asyncio.timeout` does it: whatever the call awaits in its clean-up runs to its
end. On trio it is by a scope: there what is awaited in a clean-up is cancelled, too, unless it is
shielded.
"""

import asyncio
import sys
from typing import Any, Protocol, Self

from asyncwait.toolkit._loop import running_trio


class CallScope(Protocol):
    """In which a call runs, and maybe others before it, one after the other, in one task.

    A task that reads a source runs in a scope, too. A task that enters a scope checks whether it
    is cancelled already, and makes no call then.

    Attributes:
        shield: whether `cancel` no longer cancels.
    """

    shield: bool

    @property
    def cancel_called(self) -> bool:
        """Whether it was cancelled; it serves no further call then."""
        ...

    def cancel(self) -> None:
        """Cancel the call that runs, if there is one; once, however often this is called."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: Any, error: Any, traceback: Any, /) -> bool | None:
        """Leave; an exception by which its own cancellation has ended the call goes no further."""
        ...


def call_scope(*, shield: bool | None = None) -> CallScope:
    """Return a scope for calls on the loop that runs, in which no task is yet.

    Args:
        shield: scopes outside don't reach into it; None for asyncio alone.
    """
    trio = running_trio()
    scope: CallScope = (
        _OnceScope(shield=shield is not False)
        if trio is None
        else trio.CancelScope(shield=bool(shield))
    )
    return scope


class _OnceScope:
    """Cancels a task of asyncio once.

    The scopes of anyio round it, which would do so again and again, do not reach into a shield.
    """

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
                # It may be through, or nearly: a cancellation that nothing awaits would stay.
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
        # Another cancellation of the task belongs to its sender.
        is_ours = self._was_sent and task.uncancel() <= self._before
        if self._outside is not None:
            self._outside.__exit__(kind, error, traceback)
        return is_ours and isinstance(error, asyncio.CancelledError)
