"""The tasks of an operator: their waits and their end."""

import contextvars
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, NoReturn

import anyio
import anyio.abc

from asyncwait.toolkit import Bell, start_task


async def outlast(bell: Bell) -> None:
    """Wait for a bell, even if the present task is cancelled meanwhile; return early then.

    Only the task that reads waits in this way, and checks the state afterwards. A scope that the
    source keeps open around its `yield` concerns only the source, and a cancellation of the
    operator rings the bell.
    """
    # The shield stops every scope; the exception is asyncio's own cancellation.
    with suppress(anyio.get_cancelled_exc_class()), anyio.CancelScope(shield=True):
        await bell.wait()


class Life:
    """The life of an operator, up to the moment after which nothing comes out.

    Attributes:
        is_over: whether that moment has come.
        source_error: the error with which the source has ended; it is raised last (FAIL-7).
    """

    def __init__(self) -> None:
        self.is_over = False
        self.source_error: BaseException | None = None
        self._error: BaseException | None = None
        self._traceback: Any = None
        self._is_interrupted = False
        self._at_the_end: list[Callable[[], object]] = []

    def when_over(self, step: Callable[[], object]) -> None:
        """Run a step when the life is over."""
        self._at_the_end.append(step)

    def fail(self, error: BaseException) -> None:
        """End at once with an error, unless the life is over already (FAIL-2, FAIL-3, FAIL-4)."""
        self._end(error)

    def finish(self) -> None:
        """End as the source has ended, after all outputs."""
        self._end(self.source_error)

    def interrupt(self) -> None:
        """End because the operator is cancelled from outside, or the program ends.

        Usually the consumer is cancelled too; a consumer that shields itself must not wait forever.
        """
        if not self.is_over:
            self._is_interrupted = True
            text = "the operator was cancelled from outside, and its consumer reads on"
            self._end(RuntimeError(text))

    def leave(self, error: BaseException | None = None) -> None:
        """End because the context is left, with `error` if there is one; an earlier end stays."""
        self._end(error)
        if self._is_interrupted:
            self._error = error

    @property
    def is_interrupted(self) -> bool:
        """Whether a consumer that reads on gets the error of an interrupted operator."""
        return self._is_interrupted and self._error is not None

    def raise_end(self) -> NoReturn:
        """Raise the end or the error, the same object each time (FAIL-6, END-7)."""
        if self._error is None:
            raise StopAsyncIteration
        # Without this each further read would add its frames to the error.
        raise self._error.with_traceback(self._traceback)

    def _end(self, error: BaseException | None) -> None:
        if self.is_over:
            return
        self.is_over = True
        self._error = error
        self._traceback = None if error is None else error.__traceback__
        for step in self._at_the_end:
            step()


class Tasks:
    """The group of an operator's tasks, all of which end when one of them fails.

    Each task begins in the context that was current when the operator was opened (CTX-1).

    Args:
        life: of the operator; when it is over, all tasks are cancelled.
    """

    def __init__(self, life: Life) -> None:
        self._life = life
        self._context = contextvars.copy_context()
        self._group: anyio.abc.TaskGroup | None = None
        life.when_over(self.stop)

    async def run(self, *functions: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Run tasks, and the tasks that they start, to their ends."""
        if self._life.is_over:
            return
        async with anyio.create_task_group() as self._group:
            for function in functions:
                self.start(function)

    def start(self, function: Callable[..., Coroutine[Any, Any, object]], *args: Any) -> None:
        """Start a task; a running task may start further tasks."""
        if self._group is not None:
            _ = self._context.copy().run(start_task, self._group, self._live, function, *args)

    def stop(self) -> None:
        """Cancel all tasks."""
        if self._group is not None:
            self._group.cancel_scope.cancel()

    async def _live(self, function: Callable[..., Coroutine[Any, Any, object]], *args: Any) -> None:
        try:
            await function(*args)
        except BaseException:
            self._life.interrupt()
            raise
