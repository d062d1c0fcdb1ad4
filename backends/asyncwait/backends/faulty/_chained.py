"""A chain of two shipped operators, the first of which does nothing: from outside, one operator."""

from collections.abc import AsyncIterable
from types import TracebackType
from typing import Any, Self

from msgspec.structs import replace

from asyncwait.backends import pool
from asyncwait.backends.chain import chain
from asyncwait.reference import open_operator
from asyncwait.spec import Element, OperatorConfig, Snapshot, Statistics

_ONE_AT_A_TIME = OperatorConfig(capacity=1)
_open_chain = chain(pool.open_operator, open_operator)


async def _hand_on(value: Any) -> list[Any]:
    return [value]


class HasAnotherInFront:
    """Is a chain of two, whose first operator hands each record on as it is."""

    # Its source sees what the first function has set on opening, not what the second has.
    lacks = ("statistics", "on-demand-snapshot", "contexts")

    def __init__(
        self,
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> None:
        if isinstance(restore, Snapshot):  # what came out is the snapshot of one operator
            restore = replace(restore, upstream=Snapshot(restore.checkpoint_id, ()))
        configs, functions = (_ONE_AT_A_TIME, config), (_hand_on, fn)
        self._results = _open_chain(configs, functions, elements, restore)

    async def __aenter__(self) -> Self:
        await self._results.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return await self._results.__aexit__(kind, error, traceback)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Element:
        element = await anext(self._results)
        if not isinstance(element, Snapshot):
            return element
        first = element.upstream
        assert first is not None
        in_flight = element.in_flight + first.in_flight
        return replace(first, in_flight=in_flight)

    def statistics(self) -> Statistics:
        """Return the figures of both."""
        return self._results.statistics()
