"""Opening and leaving of an operator, and reading of its input.

enter ── open() ── the task runs ── leave ── close()
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from asyncwait.spec import Element, OperatorConfig, Snapshot
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import HomeLoop, OperatorContext, SourceTask, check_arguments

if TYPE_CHECKING:
    from asyncwait.reference._output import Output
    from asyncwait.reference._parts import Parts


class ResultStream(OperatorContext["Output"]):
    """The context manager that opens an operator, and returns its results.

    Args:
        parts: classes of the operator's parts.
        config: mode, capacity, timeout.
        fn: the user's function.
        elements: the input.
        restore: snapshot of an earlier operator.

    Raises:
        InvalidConfig: an argument is invalid.
    """

    def __init__(
        self,
        parts: Parts,
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> None:
        name = "the reference operator"
        known = "retry", "max_held", "batch", "cache", "limits"
        super().__init__(check_arguments(config, fn, elements, restore, name, *known))
        self.parts = parts
        self.config = config
        self.elements = elements
        self.stored: tuple[Stored, ...] = () if restore is None else restore.in_flight

    def prepare(self) -> None:
        self.task = self.parts.task(
            self.parts, self.config, self.function, self.elements, self.stored
        )
        self.stored = ()  # This object must not keep the elements alive.

    async def open(self) -> None:
        await self.task.operator.open()

    def start(self) -> Output:
        self.group.start_soon(self.task.live)
        self.task.output.home = HomeLoop()
        return self.task.output

    def stop(self, error: RuntimeError | None) -> None:
        self.task.output.leave(error)
        self.task.cancel()

    async def close_source(self) -> BaseException | None:
        await self.task.source.close()
        return self.task.source.trouble

    async def close_function(self) -> Exception | None:
        return await self.task.operator.close()


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
