"""Reading the input, never more than one element ahead of what was admitted."""

from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass
from typing import Any

import anyio

from asyncwait.reference._calls import is_being_cancelled, must_pass
from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)

ELEMENTS = (Record, Watermark, WatermarkStatus, LatencyMarker, Barrier, Snapshot)


@dataclass(frozen=True, slots=True)
class End:
    """The input has ended; with `error`, or well if that is None."""

    error: BaseException | None = None


class SourceReader:
    """Takes elements from the source one by one, each only when the last one has found room.

    Args:
        elements: the input.
        on_element: told of each element in the moment in which it was taken.
        on_end: told of the end.
    """

    def __init__(
        self,
        elements: AsyncIterable[Element],
        on_element: Callable[[Element], object],
        on_end: Callable[[End], object],
    ) -> None:
        self._elements = elements
        self._on_element = on_element
        self._on_end = on_end
        self._wanted = anyio.Event()
        self._closed = False

    def proceed(self) -> None:
        """Let the next element be taken: the last one has found room, or needs none."""
        self._wanted.set()

    async def run(self) -> None:
        """Read to the end, and close the source in the task that reads it, whatever happens."""
        self._on_end(End(await self._read_all()))

    async def close(self) -> None:
        """Close the source, once, if that can be done; a cancellation doesn't cut it short."""
        if self._closed:
            return
        self._closed = True
        aclose = getattr(self._elements, "aclose", None)
        if aclose is not None:
            with anyio.CancelScope(shield=True):
                await aclose()

    async def _read_all(self) -> BaseException | None:
        """Return what the source raised, or None."""
        try:
            try:
                async for element in self._elements:
                    await self._hand_over(self._check(element))
            finally:
                await self.close()
        except BaseException as error:
            if must_pass(error) or is_being_cancelled():
                raise
            return error
        return None

    async def _hand_over(self, element: Element) -> None:
        """Wait until `element` no longer waits for room, so that at most one ever does."""
        self._wanted = anyio.Event()
        self._on_element(element)
        await self._wanted.wait()

    def _check(self, element: Any) -> Element:
        if isinstance(element, ELEMENTS):
            return element
        raise TypeError(f"elements gave {element!r}, which is no element; try Record({element!r})")
