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
    """The input has ended; `error` is what it ended with, None if all was well."""

    error: BaseException | None = None


class SourceReader:
    """Takes elements from the source, the next one only when the last was processed.

    Args:
        elements: the input.
        on_element: told of each element as soon as it was taken.
        on_end: told of the end, once.
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

    def proceed(self) -> None:
        """Let the next element be taken: the last one needs no room any more."""
        self._wanted.set()

    async def run(self) -> None:
        """Read to the end, and close the source in the same task, whatever happens."""
        end = End()
        try:
            async for element in self._elements:
                self._wanted = anyio.Event()
                self._on_element(self._check(element))
                await self._wanted.wait()
        except BaseException as error:
            if must_pass(error) or is_being_cancelled():
                raise
            end = End(error)
        finally:
            await close_elements(self._elements)
        self._on_end(end)

    def _check(self, element: Any) -> Element:
        if isinstance(element, ELEMENTS):
            return element
        names = ", ".join(kind.__name__ for kind in ELEMENTS)
        message = f"expected an element ({names}) from elements, got {element!r}; is it Record(…)?"
        raise TypeError(message)


async def close_elements(elements: AsyncIterable[Element]) -> None:
    """Close `elements` if that can be done; a cancellation from outside can't cut it short."""
    aclose = getattr(elements, "aclose", None)
    if aclose is not None:
        with anyio.CancelScope(shield=True):
            await aclose()
