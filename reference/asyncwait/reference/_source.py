"""Reading the input, never more than one element ahead of what has found room."""

from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass
from typing import Any

import anyio

from asyncwait.spec import Element
from asyncwait.toolkit import SourceTask


@dataclass(frozen=True, slots=True)
class End:
    """The input has ended: well, or with `error`."""

    error: BaseException | None = None


class SourceReader(SourceTask):
    """Takes elements from the source, each one when the last one has found room (CAP-3).

    The first element is wanted when all that was stored has found room.

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
        self.on_element = on_element
        self.on_end = on_end
        self.wanted = anyio.Event()
        super().__init__(
            elements, self.take, lambda error: self.on_end(End(error)), self.until_wanted
        )

    def proceed(self) -> None:
        """Let the next element be taken."""
        self.wanted.set()

    def stop(self) -> None:
        """Read no further, and give up the source if it is being asked (END-11)."""
        self.wanted.set()
        super().stop()

    async def take(self, element: Element) -> None:
        """Pass an element on, and wait until it has found room."""
        self.wanted = anyio.Event()
        self.on_element(element)
        if self.stopped:
            return
        try:
            await self.until_wanted()
        except anyio.get_cancelled_exc_class():
            # Perhaps by a scope of the source's own. If it is by the operator's end, that is told.
            with anyio.CancelScope(shield=True):
                await self.until_wanted()

    async def until_wanted(self) -> None:
        """Wait until the next element may be taken."""
        await self.wanted.wait()
