"""CTX: operators that mix up context variables."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from contextvars import Context, copy_context
from typing import Any

import anyio

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import (
    AsyncWaitOperator,
    Attempt,
    Output,
    ResultStream,
    SourceReader,
    StreamTask,
)
from asyncwait.spec import Element
from asyncwait.toolkit import close_source, run_hook


@breaks("CTX-1")
class CallsInAnEmptyContext(Attempt):
    """Starts each call in an empty context, as a new thread does."""

    def start(self) -> None:
        Context().run(super().start)


@breaks("CTX-1")
class CallsAsItReads(StreamTask):
    """Starts a call where its record is read, and thus in the context of the source."""

    def on_element(self, element: Element) -> None:
        super().on_element(element)
        if not self.is_back_pressured():
            self.process(self.backlog.popleft())
            self.let_read()


@breaks("CTX-2")
class KeepsTheContextOfACall(Attempt):
    """Starts a call in the context in which the last call ended."""

    def start(self) -> None:
        getattr(self.operator, "last_context", copy_context()).run(super().start)

    async def invoke(self) -> Any:
        try:
            return await super().invoke()
        finally:
            self.operator.last_context = copy_context()  # type: ignore[attr-defined]


@breaks("CTX-3")
class AsksInItsOwnContext(AsyncWaitOperator):
    """Runs handlers, predicates and callbacks in its own context, not in copies of it."""

    async def open(self) -> None:
        await run_hook(self.function.open)


@breaks(
    "CTX-4",
    behind="CTX-1",
    why="what the source sets in the consumer's context is seen by the calls",
)
class LooksAtItsSourceFirst(ResultStream):
    """Reads the first element on entering, in the consumer's task."""

    async def __aenter__(self) -> Output:
        source: Any = aiter(self.elements)
        self.elements = _ReadAhead(await anext(source), source, self.elements)
        return await super().__aenter__()


class _ReadAhead(AsyncIterator[Element]):
    """A source whose first element has been read already."""

    def __init__(self, first: Element, *opened: Any) -> None:
        self._first, self._opened = [first], opened

    async def __anext__(self) -> Element:
        return self._first.pop() if self._first else await anext(self._opened[0])

    async def aclose(self) -> None:
        """Close the source: first the iterator, then the object that made it."""
        if (error := await close_source(*self._opened)) is not None:
            raise error


@breaks("CTX-5")
class AsksItsSourceInTasks(SourceReader):
    """Reads each element in a task of its own."""

    async def read_all(self) -> None:
        self.elements = self.asked_in_tasks(aiter(self.elements))
        await super().read_all()

    async def asked_in_tasks(self, source: Any) -> AsyncIterator[Element]:
        """Yield the source's elements; the group of each task wraps the source's errors."""
        given: list[Any] = []

        async def ask() -> None:
            given.append(await anext(source, None))

        async with aclosing(source):
            while not given or given[-1] is not None:
                async with anyio.create_task_group() as group:
                    group.start_soon(ask)
                if given[-1] is not None:
                    yield given[-1]
