"""A repeated step while the body of an `async with` runs."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

import anyio

from asyncwait.backends.watching._watched import Interval
from asyncwait.spec.texts import shown
from asyncwait.toolkit import JoinableTasks


class Watcher(Protocol):
    """Looks at an operator. All methods are called on the loop, one at a time."""

    def begin(self) -> None:
        """Look for the first time."""

    def look(self) -> None:
        """Look again."""

    def end(self, error: BaseException | None) -> None:
        """Look for the last time; `error` is the error of the body."""


class WhileOpen(AbstractAsyncContextManager[None]):
    """Lets a watcher look at regular times, in a task of its own, while the body runs.

    An error of the watcher does not affect the body. The watcher stops looking, and the error is
    raised on leaving: by itself, or as a note on the body's error.

    Args:
        watcher: the watcher to call.
        every: seconds from one look to the next.

    Raises:
        RuntimeError: it is entered again.
    """

    def __init__(self, watcher: Watcher, every: float) -> None:
        self._watcher = watcher
        self._every = every
        self._was_entered = False
        self._trouble: Exception | None = None

    async def __aenter__(self) -> None:
        if self._was_entered:
            raise RuntimeError("entered before: an operator is watched by a new context each time")
        self._was_entered = True
        self._watcher.begin()
        self._scope = anyio.CancelScope()
        self._group = JoinableTasks(await anyio.create_task_group().__aenter__())
        self._group.start_soon(
            self._watch, Interval(self._every, anyio.current_time() + self._every)
        )

    async def _watch(self, interval: Interval) -> None:
        with self._scope:
            while self._trouble is None:
                await interval.wait()
                try:
                    self._watcher.look()
                except Exception as error:
                    self._trouble = error

    async def __aexit__(self, _: object, exc: BaseException | None, __: object) -> None:
        self._scope.shield = True  # cancelled in a task of the group: see `JoinableTasks`
        self._scope.cancel()
        reason = await self._group.join()
        first = exc if reason is None else reason
        self._end(first)
        if first is None:
            first = self._trouble
        elif self._trouble is not None:
            first.add_note(f"Watching the operator raised, too: {shown(self._trouble)}")
        if first is not None and first is not exc:
            raise first

    def _end(self, error: BaseException | None) -> None:
        try:
            self._watcher.end(error)
        except Exception as trouble:
            if self._trouble is None:
                self._trouble = trouble
