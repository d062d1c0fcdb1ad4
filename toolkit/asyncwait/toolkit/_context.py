"""How an operator is opened and left, in the order that the rules want."""

import sys
from abc import ABC, abstractmethod
from contextlib import ExitStack
from typing import Any, Generic, TypeVar

from asyncwait.toolkit._calls import run_hook
from asyncwait.toolkit._function import FunctionParts, SingleEntry, join_errors
from asyncwait.toolkit._loop import JoinableTasks

R = TypeVar("R")


class OperatorContext(ABC, Generic[R]):
    """Opens and leaves an operator whose tasks are anyio's; a subclass fills in the steps.

    enter ── prepare ── open ── start ── its tasks run ── leave ── stop ── close

    Args:
        function: the user's.

    Attributes:
        group: where `start` starts tasks.
        guard: a scope round all from `open` to `close`, which shields both.
    """

    def __init__(self, function: FunctionParts) -> None:
        self.function = function
        self.single_entry = SingleEntry()
        self.source_trouble: BaseException | None = None
        """What closing the source has raised, once it is closed."""
        self.notes: list[str] = []
        """Texts about errors of cancelled calls, for the error that is raised on leaving."""

    async def __aenter__(self) -> R:
        self.single_entry.enter()
        self.prepare()
        anyio: Any = sys.modules["anyio"]  # imported by each subclass: the toolkit itself does not
        with ExitStack() as scopes:
            # Outside of whatever scope `open` leaves open for `close`, so that it can shield both.
            self.guard = scopes.enter_context(anyio.CancelScope())
            try:
                await self.open()
            except BaseException as error:
                self.guard.shield = True
                join_errors(error, await self.close_source())
                raise
            self.scopes = scopes.pop_all()
        self.group = JoinableTasks(await anyio.create_task_group().__aenter__())
        return self.start()

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Let nothing more out, cancel what still runs, and wait for what cleans up (END-3).

        Raises:
            BaseException: it is for the whole program, or cancels the task; or closing the source
                or the function raised it, and the body nothing.
        """
        self.single_entry.leave()
        with self.group.scopes(self.scopes):
            self.stop(self.group.misplaced)
            reason = await self.end_tasks()
            trouble = await self.close()
            reason = error if reason is None else reason
            first = join_errors(reason, self.source_trouble, trouble)
            if first is not None:
                for note in self.notes:
                    first.add_note(note)
                if first is not error:
                    raise first

    def prepare(self) -> None:
        """Make what `open` and `close_source` need."""

    async def open(self) -> None:
        """Run the function's own `open`; if it raises, the source is closed (END-12)."""
        await run_hook(self.function.open)

    @abstractmethod
    def start(self) -> R:
        """Start the tasks in the group, which is entered, without an error; return the results."""

    @abstractmethod
    def stop(self, error: RuntimeError | None) -> None:
        """Let nothing more out, and end the tasks; a later read gets `error`, or the end."""

    async def end_tasks(self) -> BaseException | None:
        """Wait for the tasks; return what must come out, whatever the body raised."""
        return await self.group.join()

    async def close(self) -> Exception | None:
        """Close source and function, whatever cancels that; return what the latter raised."""
        if not self.group.is_elsewhere:
            self.guard.shield = True
        try:
            self.source_trouble = await self.close_source()
        finally:
            trouble = await self.close_function()
        return trouble

    @abstractmethod
    async def close_source(self) -> BaseException | None:
        """Close the source if it is open; return what closing it has raised.

        If `open` fails, this runs without a `start` before it.
        """

    async def close_function(self) -> Exception | None:
        """Run the function's own `close`; return what that raised."""
        try:
            await run_hook(self.function.close)
        except Exception as error:
            return error
        return None
