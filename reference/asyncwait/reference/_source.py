"""Reading the input, never more than one element ahead of what has found room."""

from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass
from typing import Any

import anyio

from asyncwait.reference._outcomes import must_pass, was_asked_for
from asyncwait.spec import Element


@dataclass(frozen=True, slots=True)
class End:
    """The input has ended: well, or with `error`."""

    error: BaseException | None = None


class SourceReader:
    """Takes elements from the source, each one when the last one has found room (CAP-3).

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
        self._elements = elements
        self._on_element = on_element
        self._on_end = on_end
        self._wanted = anyio.Event()
        self._closed = False
        self.trouble: Exception | None = None
        """What closing the source raised."""

    def proceed(self) -> None:
        """Let the next element be taken."""
        self._wanted.set()

    async def run(self) -> None:
        """Read to the end, and close the source in the task that reads it (END-5)."""
        try:
            self._on_end(End(await self._read_all()))
        finally:
            await self.close()

    async def close(self) -> None:
        """Close the source if it can be closed, once; a cancellation can't cut that short.

        What it raises is noted, and raised on leaving: by then all that it gave may be out.
        """
        if self._closed:
            return
        self._closed = True
        aclose = getattr(self._elements, "aclose", None)
        if aclose is not None:
            try:
                with anyio.CancelScope(shield=True):
                    await aclose()
            except Exception as error:
                self.trouble = error

    async def _read_all(self) -> BaseException | None:
        """Return what the source raised, or None."""
        try:
            async for element in self._elements:
                await self._hand_over(element)
        except BaseException as error:
            if must_pass(error) or was_asked_for(error):
                raise
            return error
        return None

    async def _hand_over(self, element: Any) -> None:
        """Pass an element on, and wait until it has found room.

        Raises:
            TypeError: it is no element.
        """
        if not isinstance(element, Element):
            raise TypeError(
                f"elements gave {element!r}, which is not an element; try Record({element!r})"
            )
        self._wanted = wanted = anyio.Event()
        self._on_element(element)
        await wanted.wait()
