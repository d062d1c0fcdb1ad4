"""Cancellation of a call, or of the read of a source, in the way of the loop.

Only its operator cancels a call. On asyncio the operator calls `Task.cancel()` once, as
`asyncio.timeout` does, and the clean-up of the call may await to its end. On trio the operator
cancels a scope, which also cancels each await of the clean-up without a shield.
"""

import asyncio
import sys
from typing import Any, Protocol, Self

from asyncwait.toolkit._loop import running_trio


class CallScope(Protocol):
    """Cancel scope of a call, or of several calls in a row in one task, or of reading a source.

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
