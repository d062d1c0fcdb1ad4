"""Reading the input, never more than one element ahead of what has found room."""

from collections.abc import AsyncIterable, AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import anyio

from asyncwait.spec import Element
from asyncwait.spec.texts import shown
from asyncwait.toolkit import (
    call_scope,
    close_source,
    join_errors,
    reraise_fatal,
    unless_cancelled,
)


@dataclass(frozen=True, slots=True)
class End:
    """The input has ended: well, or with `error`."""

    error: BaseException | None = None


class SourceReader:
    """Takes elements from the source, each one when the last one has found room (CAP-3).

    One task does all the reading and the closing. A source may hold a scope open round its `yield`:
    the task is within that scope then whenever it waits, and no scope that it enters meanwhile may
    be open when the source goes on. What the source's scope does is the source's own affair.

    Args:
        elements: the input.
        on_element: told of an element in the step in which it was taken.
        on_end: told of the end.
    """

    def __init__(
        self,
        elements: AsyncIterable[Element],
        on_element: Callable[[Element], Any],
        on_end: Callable[[End], Any],
    ) -> None:
        self.elements = elements
        self.on_element = on_element
        self.on_end = on_end
        self.iterator: AsyncIterator[Element] | None = None
        self.wanted = anyio.Event()
        self.stopped = False
        self.closed = False
        self.scope = call_scope(shield=True)
        self.trouble: BaseException | None = None
        """What closing the source raised, be it in a read that was cancelled."""

    def proceed(self) -> None:
        """Let the next element be taken."""
        self.wanted.set()

    def stop(self) -> None:
        """Read no further, and give up the source if it is being asked (END-11)."""
        self.stopped = True
        self.wanted.set()
        self.scope.cancel()

    async def run(self) -> None:
        """Read to the end, and close the source (END-5); a cancellation can't cut that short.

        The first element is wanted when all that was stored has found room.
        """
        with self.scope, anyio.CancelScope() as guard:
            try:
                await self.wanted.wait()
                if not self.stopped:
                    self.on_end(End(await self.read_all()))
            finally:
                self.scope.shield = guard.shield = True
                await self.close()

    async def close(self) -> None:
        """Close the source, and the iterator that it made, once.

        What that raises is noted, and raised on leaving: by then all that it gave may be out.
        """
        if not self.closed:
            self.closed = True
            trouble = await close_source(self.iterator, self.elements)
            self.trouble = join_errors(self.trouble, trouble)

    async def read_all(self) -> BaseException | None:
        """Return what the source raised, or None."""
        try:
            self.iterator = aiter(self.elements)
            async for element in self.iterator:
                await self.hand_over(element)
                del element  # it may be gone, and the next may be long in coming
                if self.stopped:
                    break
        except BaseException as error:
            reraise_fatal(error)
            if self.scope.cancel_called:
                self.trouble = unless_cancelled(error)
                return None
            return error
        return None

    async def hand_over(self, element: Any) -> None:
        """Pass an element on, and wait until it has found room.

        Raises:
            TypeError: it is no element.
        """
        if not isinstance(element, Element):
            raise TypeError(
                f"elements gave {shown(element)}, which is not an element; "
                f"try Record({shown(element)})"
            )
        self.wanted = wanted = anyio.Event()
        self.on_element(element)
        if self.stopped:
            return
        try:
            await wanted.wait()
        except anyio.get_cancelled_exc_class():
            # Perhaps by a scope of the source's own. If it is by the operator's end, that is told.
            with anyio.CancelScope(shield=True):
                await wanted.wait()
