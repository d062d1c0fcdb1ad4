"""Opening and leaving of an operator in the order of the rules, and the task of its source."""

import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from contextlib import ExitStack
from typing import Any, Generic, TypeVar

from asyncwait.spec import Element
from asyncwait.spec.texts import shown
from asyncwait.toolkit._calls import run_hook
from asyncwait.toolkit._function import FunctionParts, SingleEntry, close_source, join_errors
from asyncwait.toolkit._loop import JoinableTasks, call_scope, reraise_fatal, unless_cancelled

R = TypeVar("R")


class OperatorContext(ABC, Generic[R]):
    """Opens and leaves an operator with tasks of anyio; a subclass implements the steps.

    enter ── prepare ── open ── start ── its tasks run ── leave ── stop ── close

    Args:
        function: parts of the user's function.

    Attributes:
        group: group in which `start` starts tasks.
        guard: a scope from before `open` until after `close`, which shields both.
    """

    def __init__(self, function: FunctionParts) -> None:
        self.function = function
        self.single_entry = SingleEntry()
        self.source_trouble: BaseException | None = None
        """Error of closing the source; None before, and without one."""
        self.notes: list[str] = []
        """Texts about errors of cancelled calls, for the error that is raised on leaving."""

    async def __aenter__(self) -> R:
        self.single_entry.enter()
        self.prepare()
        anyio: Any = sys.modules["anyio"]  # imported by each subclass: the toolkit itself does not
        with ExitStack() as scopes:
            # Outside of any scope that `open` leaves open for `close`, so that it can shield both.
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
        """Emit nothing more, cancel all tasks, and wait for their clean-up (END-3).

        Raises:
            BaseException: an error for the whole program, or a cancellation of the task; or the
                error of closing the source or the function, if the body raised nothing.
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
        """Make the objects that `open` and `close_source` need."""

    async def open(self) -> None:
        """Run the function's own `open`; if it raises, the source is closed (END-12)."""
        await run_hook(self.function.open)

    @abstractmethod
    def start(self) -> R:
        """Start the tasks in the group, which is entered, without an error; return the results."""

    @abstractmethod
    def stop(self, error: RuntimeError | None) -> None:
        """Emit nothing more, and end the tasks; a later read raises `error`, or the end."""

    async def end_tasks(self) -> BaseException | None:
        """Wait for the tasks; return an error that replaces any error of the body."""
        return await self.group.join()

    async def close(self) -> Exception | None:
        """Close source and function, shielded from cancellation; return the function's error."""
        if not self.group.is_elsewhere:
            self.guard.shield = True
        try:
            self.source_trouble = await self.close_source()
        finally:
            trouble = await self.close_function()
        return trouble

    @abstractmethod
    async def close_source(self) -> BaseException | None:
        """Close the source if it is open; return the error of closing it.

        If `open` fails, this runs without a `start` before it.
        """

    async def close_function(self) -> Exception | None:
        """Run the function's own `close`; return its error."""
        try:
            await run_hook(self.function.close)
        except Exception as error:
            return error
        return None


class SourceTask:
    """Reading and closing of a source in one task (END-5, 11, 13, 17, FAIL-7).

    When `open` has run, an operator starts `run` in a task of its own. On each way out it calls
    `stop`, waits for that task, even if it is cancelled meanwhile, and raises `trouble`. If the
    task may be cancelled before its first step, the operator awaits `close` behind it.

    The task enters no scope between two elements. So a generator with a cancel scope round its
    `yield` finds the stack of scopes as it left it, as long as `take` leaves what it enters.

    Args:
        elements: the source.
        take: coroutine function, called with each element; the next one is read when it returns.
            None for a subclass that overrides `read_all`.
        on_end: called once with the error that the source raised, or with None at its end, unless
            `stop` was called before. The error is a TypeError if the source gave another object
            than an element.
        begin: coroutine function, awaited before the first element is read: the elements of a
            snapshot precede the input (REST-4).
    """

    def __init__(
        self,
        elements: AsyncIterable[Any],
        take: Callable[[Any], Awaitable[object]] | None,
        on_end: Callable[[BaseException | None], object],
        begin: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        self.elements = elements
        self.iterator: AsyncIterator[Any] | None = None
        """Iterator of the source; None before the first read."""
        self.scope = call_scope(shield=True)
        self.stopped = self.closed = False
        self.trouble: BaseException | None = None
        """Error of closing the source, or of its cancelled read, which leaving has to raise."""
        self._take, self._on_end, self._begin = take, on_end, begin

    async def run(self) -> None:
        """Read until the end or `stop`, and close the source, shielded from cancellation."""
        with self.scope, call_scope(shield=False) as guard:
            try:
                error = await self.read()
                if not self.stopped:
                    self._on_end(error)
            finally:
                self.scope.shield = guard.shield = True
                await self.close()

    def stop(self) -> None:
        """Read nothing more, and cancel a waiting read once (END-11)."""
        self.stopped = True
        self.scope.cancel()

    async def read(self) -> BaseException | None:
        """Read until the end or `stop`; return the error that the source raised before `stop`."""
        try:
            if self._begin is not None and not self.stopped:
                await self._begin()
            if not self.stopped:
                await self.read_all()
        except BaseException as error:
            reraise_fatal(error)
            if not self.stopped:
                return error
            self.trouble = unless_cancelled(error)
        return None

    async def read_all(self) -> None:
        """Pass each element on until the source ends or raises, or `stop` is called."""
        self.iterator = aiter(self.elements)
        async for element in self.iterator:
            await self.hand_over(element)
            del element  # The operator may emit it long before the next element comes.
            if self.stopped:
                break

    async def hand_over(self, element: Any) -> None:
        """Pass an element to `take`, and wait for its return.

        Raises:
            TypeError: the source gave another object than an element.
        """
        if not isinstance(element, Element):
            raise TypeError(
                f"elements gave {shown(element)}, which is not an element; "
                f"try Record({shown(element)})"
            )
        assert self._take is not None
        await self._take(element)

    async def close(self) -> None:
        """Close the source, and the iterator that it made, once; keep the error in `trouble`."""
        if not self.closed:
            self.closed = True
            trouble = await close_source(self.iterator, self.elements)
            self.trouble = join_errors(self.trouble, trouble)
