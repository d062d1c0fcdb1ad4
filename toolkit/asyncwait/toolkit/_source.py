"""The task that reads and closes the source of an operator."""

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from typing import Any

from asyncwait.spec import Element
from asyncwait.spec.texts import shown
from asyncwait.toolkit._function import close_source, join_errors
from asyncwait.toolkit._loop import reraise_fatal, unless_cancelled
from asyncwait.toolkit._scopes import call_scope


class SourceTask:
    """Reading and closing of a source in one task (END-5, 11, 13, 16, 17, CTX-5, FAIL-7, FAIL-13).

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
            `stop` was called before. A TypeError stands in the place of what is no element.
        begin: coroutine function, awaited before the first element is read: the elements of a
            snapshot go first (REST-4).
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
        """Error that leaving has to raise: of closing the source, or of its cancelled read."""
        self._take, self._on_end, self._begin = take, on_end, begin

    async def run(self) -> None:
        """Read until the end or `stop`, and close the source; no cancellation cuts that short."""
        with self.scope, call_scope(shield=False) as guard:
            try:
                error = await self.read()
                if not self.stopped:
                    self._on_end(error)
            finally:
                self.scope.shield = guard.shield = True
                await self.close()

    def stop(self) -> None:
        """Read nothing more, and cancel the read that waits, once (END-11)."""
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
        """Pass an element to `take`, and wait for that.

        Raises:
            TypeError: the source gave something else than an element.
        """
        if not isinstance(element, Element):
            raise TypeError(
                f"elements gave {shown(element)}, which is not an element; "
                f"try Record({shown(element)})"
            )
        assert self._take is not None
        await self._take(element)

    async def close(self) -> None:
        """Close the source, and the iterator that it made, once; keep what that raises."""
        if not self.closed:
            self.closed = True
            trouble = await close_source(self.iterator, self.elements)
            self.trouble = join_errors(self.trouble, trouble)
