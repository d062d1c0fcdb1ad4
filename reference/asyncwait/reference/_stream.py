"""How an operator is opened and left.

enter ── open() ── the task runs ── leave ── close()
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import anyio

from asyncwait.spec import Element, OperatorConfig, Snapshot, Stored
from asyncwait.toolkit import JoinableTasks, SingleEntry, check_arguments, join_errors

if TYPE_CHECKING:
    from collections.abc import AsyncIterable

    from asyncwait.reference._output import Output
    from asyncwait.reference._parts import Parts


class ResultStream:
    """The context manager that opens an operator; what it gives are the results.

    Args:
        parts: the classes that the operator is put together from.
        config: mode, capacity, timeout.
        fn: the user's function.
        elements: the input.
        restore: what an earlier operator had in flight.

    Raises:
        InvalidConfig: an argument is not what it should be.
    """

    def __init__(
        self,
        parts: Parts,
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> None:
        self.function = check_arguments(
            config, fn, elements, restore, "the reference operator", "retry", "max_held"
        )
        self.single_entry = SingleEntry()
        self.parts = parts
        self.config = config
        self.elements = elements
        self.stored: tuple[Stored, ...] = () if restore is None else restore.in_flight

    async def __aenter__(self) -> Output:
        self.single_entry.enter()
        self.task = task = self.parts.task(
            self.parts, self.config, self.function, self.elements, self.stored
        )
        self.stored = ()  # emitted one day, and not to be kept
        with ExitStack() as scopes:
            self.guard = scopes.enter_context(anyio.CancelScope())
            try:
                await task.operator.open()
            except BaseException as error:
                self.guard.shield = True
                await task.source.close()
                join_errors(error, task.source.trouble)
                raise
            self.scopes = scopes.pop_all()
        self.group = JoinableTasks(await anyio.create_task_group().__aenter__())
        self.group.start_soon(task.live)
        return task.output

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Let nothing more out, cancel what still runs, and wait for what cleans up (END-3).

        The task group is not told what the body raised, as it would wrap that into a group. It
        is shielded: a cancellation from outside changes nothing any more.

        Raises:
            BaseException: it is for the whole program, or cancels the task; or closing the source
                or the function raised it, and the body nothing.
        """
        self.single_entry.leave()
        with self.group.scopes(self.scopes):
            self.task.output.leave(self.group.misplaced)
            reason = await self.end_tasks()
            trouble = await self.close()
            first = join_errors(
                error if reason is None else reason, self.task.source.trouble, trouble
            )
            if first is not None and first is not error:
                raise first

    async def end_tasks(self) -> BaseException | None:
        """Cancel all tasks and wait for them; return what must come out, whatever the body raised.

        That is what the tasks raised, or asyncio's cancellation of the task that waits here, which
        no scope holds up.
        """
        self.task.cancel()
        return await self.group.join()

    async def close(self) -> Exception | None:
        """Close the source if that is yet to be done, and run the function's own `close`.

        Both run to their ends even where a cancellation from outside is the reason for leaving. The
        shield is a scope that was entered before `open`, which may have left one open for `close`.

        Returns:
            What `close` raised; what the source raised is to be found with its reader.
        """
        if not self.group.is_elsewhere:
            self.guard.shield = True
        try:
            await self.task.source.close()
        finally:
            trouble = await self.task.operator.close()
        return trouble
