"""The reference, made to refuse for real what a backend does not declare."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import copy_context
from typing import Any

from asyncwait.reference import open_operator
from asyncwait.spec import (
    Barrier,
    LatencyMarker,
    OpenOperator,
    OperatorConfig,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
    check_arguments,
)
from asyncwait.spec.scenario import Capability

Setting = tuple[OperatorConfig, Any, Snapshot | None]

ASKED: dict[Capability, Callable[[OperatorConfig, Any, Snapshot | None], bool]] = {
    Capability.ORDERED: lambda config, fn, restore: config.mode == "ordered",
    Capability.UNORDERED: lambda config, fn, restore: config.mode == "unordered",
    Capability.KEY_ORDERED: lambda config, fn, restore: config.mode == "key-ordered",
    Capability.TIMEOUTS: lambda config, fn, restore: (
        config.timeout is not None or hasattr(fn, "timeout")
    ),
    Capability.RETRY: lambda config, fn, restore: config.retry is not None,
    Capability.CONTEXTS: lambda config, fn, restore: any(
        var.name == "asyncwait.conformance.whose" for var in copy_context()
    ),
    Capability.FAILURE_HANDLER: lambda config, fn, restore: hasattr(fn, "failure"),
    Capability.COPIES: lambda config, fn, restore: config.copy is not None,
    Capability.MAX_HELD: lambda config, fn, restore: config.max_held is not None,
    Capability.CALLBACKS: lambda config, fn, restore: hasattr(fn, "async_invoke"),
    Capability.EVENT_TIME: lambda config, fn, restore: (
        restore is not None and any(not isinstance(each, Record) for each in restore.in_flight)
    ),
    Capability.RESTORE: lambda config, fn, restore: restore is not None,
}
"""Whether an operator is opened in a way that asks for a profile."""

KINDS: dict[Capability, tuple[type, ...]] = {
    Capability.EVENT_TIME: (Watermark, WatermarkStatus, LatencyMarker),
    Capability.SNAPSHOTS: (Barrier, Snapshot),
}
"""The elements that belong to a profile."""


class Refused(Exception):
    """The operator was asked for what it does not have."""


def refusing(*lacked: Capability) -> OpenOperator:
    """Return the reference without `lacked`: it raises where it is asked for any of them."""
    kinds = tuple(kind for each in lacked for kind in KINDS.get(each, ()))

    def open_refusing(
        config: OperatorConfig, fn: Any, elements: Any, restore: Snapshot | None = None
    ) -> AbstractAsyncContextManager[Any]:
        name = "an operator that refuses"
        check_arguments(config, fn, elements, restore, name, "retry", "max_held")
        for each in lacked:
            if each in ASKED and ASKED[each](config, fn, restore):
                raise Refused(each)
        return _open(config, fn, _Picky(elements, kinds), restore, lacked)

    return open_refusing


@asynccontextmanager
async def _open(
    config: OperatorConfig,
    fn: Any,
    elements: Any,
    restore: Snapshot | None,
    lacked: tuple[Capability, ...],
) -> AsyncIterator[Any]:
    async with open_operator(config, fn, elements, restore) as opened:
        results: Any = opened
        if Capability.STATISTICS in lacked:
            results.statistics = _OneFigure(results.statistics)
        if {Capability.SNAPSHOTS, Capability.ON_DEMAND_SNAPSHOT} & set(lacked):
            yield _WithoutRequests(results)
        else:
            yield results


class _Picky:
    """The source of an operator that chokes on elements of some kinds."""

    def __init__(self, elements: Any, refused: tuple[type, ...]) -> None:
        self._elements = elements
        self._refused = refused
        self._iterator: Any = None

    def __aiter__(self) -> "_Picky":
        self._iterator = aiter(self._elements)
        return self

    async def __anext__(self) -> Any:
        element = await anext(self._iterator)
        if isinstance(element, self._refused):
            raise Refused(element)
        return element

    async def aclose(self) -> None:
        close = getattr(self._iterator or self._elements, "aclose", None)
        if close is not None:
            await close()


class _OneFigure:
    """Statistics of an operator that has only the figure that all have; its own method, too."""

    def __init__(self, statistics: Callable[[], Any]) -> None:
        self._statistics = statistics

    def __call__(self) -> "_OneFigure":
        return self

    @property
    def abandoned(self) -> int:
        figure: int = self._statistics().abandoned
        return figure

    def __getattr__(self, name: str) -> Any:
        raise Refused(name)


class _WithoutRequests:
    """The results of an operator that takes no snapshot on demand."""

    def __init__(self, results: Any) -> None:
        self._results = results
        self.statistics = results.statistics

    def __aiter__(self) -> "_WithoutRequests":
        return self

    async def __anext__(self) -> Any:
        return await anext(self._results)
