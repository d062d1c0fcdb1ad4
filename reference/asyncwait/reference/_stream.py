"""Opening and leaving of an operator.

enter ── open() ── the task runs ── leave ── close()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asyncwait.spec import Element, OperatorConfig, Snapshot
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import HomeLoop, OperatorContext, check_arguments

if TYPE_CHECKING:
    from collections.abc import AsyncIterable

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
