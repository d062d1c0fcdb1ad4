"""The life of an operator: entered, running in one task, left.

enter ── open() ──┬── restore ── process input ── drain ── finish ──┬── leave ── close()
                  ├── an error on the way ── fail ──────────────────┤
                  └── left early ───────────────────────────────────┘
"""

from collections.abc import AsyncIterable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

import anyio

from asyncwait.reference._stream import StreamHandling
from asyncwait.spec import (
    Element,
    OpenOperator,
    OperatorConfig,
    Snapshot,
    Statistics,
    Stored,
    check_arguments,
    join_errors,
    plain_error,
    run_hook,
)


class Operator(StreamHandling):
    """The reference operator: the context manager that opens it, and its results.

    One task runs the mailbox, and whatever happens elsewhere (a call ends, a timer fires, an
    element is read, the consumer takes one) reaches it as a mail. The consumer takes elements in
    its own task, on the same loop, in one step; so no two steps overlap.

    As in Flink since 1.10, elements are processed one by one, and while one of them waits for
    room, or the end for what is in flight, mails are run in place.

    Args:
        config: mode, capacity, timeout.
        fn: the user's function.
        elements: the input.
        restore: what an earlier operator had in flight.

    Raises:
        InvalidConfig: an argument is not what it should be.
    """

    def __init__(
        self,
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> None:
        parts = check_arguments(config, fn, elements, restore, "the reference operator")
        stored = () if restore is None else restore.in_flight
        super().__init__(config, parts, elements, stored)

    # The consumer's side

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Element:
        return await self._output.take()

    def statistics(self) -> Statistics:
        """Return the present figures."""
        runs = not self._output.is_over
        waiting = min(self._read, sum(isinstance(e, Stored) for e in self._backlog))
        return Statistics(
            in_flight=self._in_flight * runs,
            waiting=waiting * runs,
            held=(self._in_flight - self._undecided) * runs,
            calls=self._calls.started,
            timeouts=self._timeouts,
            abandoned=self._calls.abandoned,
            max_in_flight=self._max_in_flight,
        )

    # Entering and leaving

    async def __aenter__(self) -> Self:
        self._set_up()
        with ExitStack() as scopes:
            self._guard = scopes.enter_context(anyio.CancelScope())
            try:
                await self._open()
            except BaseException as error:
                self._guard.shield = True
                await self._source.close()
                join_errors(error, self._source.trouble)
                raise
            self._scopes = scopes.pop_all()
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        self._group.start_soon(self._run)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Let nothing more out, cancel what still runs, and wait for what cleans up (END-3).

        The task group is not told what the body raised, as it would wrap that into a group. It
        is shielded: a cancellation from outside changes nothing any more.

        Raises:
            BaseException: it is for the whole program, or cancels the task; or closing the source
                or the function raised it, and the body nothing.
        """
        with self._scopes:
            self._output.leave()
            reason = await self._end_tasks()
            trouble = await self._close()
            first = join_errors(error if reason is None else reason, self._source.trouble, trouble)
            if first is not None and first is not error:
                raise first

    async def _end_tasks(self) -> BaseException | None:
        """Cancel all tasks and wait for them; return what must come out, whatever the body raised.

        That is what the tasks raised, or asyncio's cancellation of the task that waits here, which
        no scope holds up.
        """
        self._group.cancel_scope.cancel()
        self._group.cancel_scope.shield = True
        try:
            await self._group.__aexit__(None, None, None)
        except BaseExceptionGroup as group:
            return plain_error(group)
        except anyio.get_cancelled_exc_class() as cancelled:
            return cancelled
        return None

    async def _open(self) -> None:
        """Run the function's own `open`, before any call (END-6)."""
        await run_hook(self._parts.open)

    async def _close(self) -> Exception | None:
        """Close the source if that is yet to be done, and run the function's own `close`.

        Both run to their ends even where a cancellation from outside is the reason for leaving. The
        shield is a scope that was entered before `open`, which may have left one open for `close`.

        Returns:
            What `close` raised; what the source raised is to be found with its reader.
        """
        self._guard.shield = True
        try:
            await self._source.close()
        finally:
            trouble = await self._close_function()
        return trouble

    async def _close_function(self) -> Exception | None:
        try:
            await run_hook(self._parts.close)
        except Exception as error:
            return error
        return None

    # The operator's task

    async def _run(self) -> None:
        """Run from the first stored element until everything is gone, or until a failure."""
        interruption: BaseException | None = None
        async with anyio.create_task_group() as self._tasks:
            try:
                await self._restore()
                await self._process_input()
                await self._drain()
                self._finish()
                await self._settle()
            except Exception as error:
                self._fail(error)
            except anyio.get_cancelled_exc_class():
                self._output.interrupt()
                raise
            except (KeyboardInterrupt, SystemExit) as error:
                interruption = error
            finally:
                self._stop()
        if interruption is not None:
            self._output.interrupt()
            raise interruption  # in a group asyncio would not let it out

    def _fail(self, error: BaseException) -> None:
        """End the output at once; what is finished and not taken stays inside (FAIL-3)."""
        self._output.cut(error)

    def _stop(self) -> None:
        """Leave nothing running: no mail, no timer, no call, no reader (END-4)."""
        self._mailbox.close()
        self._timers.close()
        self._source.stop()
        self._tasks.cancel_scope.cancel()


def open_with(operator_class: type[Operator]) -> OpenOperator:
    """Return the function that opens operators of a class.

    Args:
        operator_class: the reference, or a variation of it.
    """

    def open_operator(
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> Operator:
        """Open an operator; see `asyncwait.spec.OpenOperator`."""
        return operator_class(config, fn, elements, restore)

    return open_operator
