"""What is between source and first operator, and between that and the second."""

from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Generator
from contextlib import contextmanager
from typing import Self

import anyio
from msgspec.structs import replace

from asyncwait.spec import Element, InvalidConfig, OperatorResults, Record
from asyncwait.toolkit import close_source


class Gate:
    """The source of the first operator: gives nothing unless the second one waits for input.

    So nothing is read that would wait between the two, beyond what the first may have in flight.

    Args:
        elements: the source of the chain.
        capacity: elements in the first operator at most, undecided or held.
        inside: elements in it from the start, because they are restored.
    """

    def __init__(self, elements: AsyncIterable[Element], capacity: int, inside: int) -> None:
        if not isinstance(elements, AsyncIterable):
            raise InvalidConfig.of("elements", elements, "an async iterable of elements")
        self._elements = elements
        self._iterator: AsyncIterator[Element] | None = None
        self._capacity = capacity
        self._inside = inside
        self._is_wanted = self._is_closed = False
        self._news: anyio.Event | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Element:
        if self._iterator is None:  # not before: what iterating raises is an error of the source
            self._iterator = aiter(self._elements)
        while not self._is_wanted or self._inside >= self._capacity:
            self._news = anyio.Event()
            await self._news.wait()
        element = await anext(self._iterator)
        self._inside += 1
        return element

    async def aclose(self) -> None:
        """Close the source, once."""
        is_closed, self._is_closed = self._is_closed, True
        error = None if is_closed else await close_source(self._iterator, self._elements)
        if error is not None:
            raise error

    @contextmanager
    def wanted(self) -> Generator[None]:
        """Be open meanwhile: the second operator waits for input."""
        self._is_wanted = True
        self._tell()
        try:
            yield
        finally:
            self._is_wanted = False

    def note_gone(self) -> None:
        """Note that an element has come out of the first operator, with all its results."""
        self._inside -= 1
        self._tell()

    def _tell(self) -> None:
        if self._news is not None:
            self._news.set()


class Between:
    """The source of the second operator: what the first puts out, its batches taken apart.

    Attributes:
        results: of the first operator, once it is open.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._apart: deque[Record] = deque()
        self.results: OperatorResults | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Element:
        while not self._apart:
            assert self.results is not None
            with self._gate.wanted():
                element = await anext(self.results)
            self._gate.note_gone()
            if not isinstance(element, Record):
                return element
            self._apart.extend(replace(element, value=result) for result in element.value)
        return self._apart.popleft()
