"""Reading of an operator's input."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass
from typing import Any

import anyio

from asyncwait.spec import Element
from asyncwait.toolkit import SourceTask


@dataclass(frozen=True, slots=True)
class End:
    """End of the input, with or without an error."""

    error: BaseException | None = None


class SourceReader(SourceTask):
    """Takes elements from the source, each when the previous element has room (CAP-3).

    It takes the first element when all restored elements have room.

    Args:
        elements: the input.
        on_element: called with an element in the step in which the element is taken.
        on_end: called with the end.
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
        """Read no further, and cancel a waiting read of the source (END-11)."""
        self.wanted.set()
        super().stop()

    async def take(self, element: Element) -> None:
        """Pass an element on, and wait until it has room."""
        self.wanted = anyio.Event()
        self.on_element(element)
        if self.stopped:
            return
        try:
            await self.until_wanted()
        except anyio.get_cancelled_exc_class():
            # A scope of the source itself may have cancelled this task; `stop` ends the wait, too.
            with anyio.CancelScope(shield=True):
                await self.until_wanted()

    async def until_wanted(self) -> None:
        """Wait until the next element may be taken."""
        await self.wanted.wait()
