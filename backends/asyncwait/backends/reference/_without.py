"""The reference without a capability: it refuses every request that needs the capability.

So a scenario that the suite forgot to adapt to the missing capability fails. An operator can't
refuse some capabilities, and can only leave them undeclared: its clock, its process, and watching.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import copy_context
from functools import partial
from typing import Any

from msgspec import Struct

from asyncwait.conformance import Lacks, StreamBackend, stream_backend
from asyncwait.reference import Parts, StreamTask, open_operator, open_with
from asyncwait.spec import (
    Barrier,
    LatencyMarker,
    OpenOperator,
    OperatorConfig,
    Record,
    RetryAfter,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec.scenario import Capability
from asyncwait.toolkit import check_arguments, close_source


class _Opening(Struct, frozen=True):
    config: OperatorConfig
    fn: Any
    restore: Snapshot | None


ASKED: dict[Capability, Callable[[_Opening], bool]] = {
    Capability.ORDERED: lambda o: o.config.mode == "ordered",
    Capability.UNORDERED: lambda o: o.config.mode == "unordered",
    Capability.KEY_ORDERED: lambda o: o.config.mode == "key-ordered",
    Capability.TIMEOUTS: lambda o: o.config.timeout is not None or hasattr(o.fn, "timeout"),
    Capability.RETRY: lambda o: o.config.retry is not None,
    Capability.ATTEMPT_TIMEOUT: lambda o: (
        o.config.retry is not None and o.config.retry.attempt_timeout is not None
    ),
    Capability.JITTER: lambda o: o.config.retry is not None and bool(o.config.retry.jitter),
    Capability.CONTEXTS: lambda _: any(
        var.name == "asyncwait.conformance.whose" for var in copy_context()
    ),
    Capability.FAILURE_HANDLER: lambda o: hasattr(o.fn, "failure"),
    Capability.COPIES: lambda o: o.config.copy is not None,
    Capability.MAX_HELD: lambda o: o.config.max_held is not None,
    Capability.BATCHES: lambda o: o.config.batch is not None,
    Capability.CACHE: lambda o: o.config.cache is not None,
    Capability.LIMITS: lambda o: o.config.limits is not None,
    Capability.CALLBACKS: lambda o: hasattr(o.fn, "async_invoke"),
    Capability.EVENT_TIME: lambda o: (
        o.restore is not None and any(not isinstance(each, Record) for each in o.restore.in_flight)
    ),
    Capability.RESTORE: lambda o: o.restore is not None,
}
"""Whether the arguments of an operator ask for a profile."""

KINDS: dict[Capability, tuple[type, ...]] = {
    Capability.EVENT_TIME: (Watermark, WatermarkStatus, LatencyMarker),
    Capability.SNAPSHOTS: (Barrier, Snapshot),
}
"""The elements that belong to a profile."""


class Refused(Exception):
    """The operator does not have the requested capability."""


def refusing(*lacked: Capability) -> OpenOperator:
    """Return the reference without `lacked`: it refuses requests for these capabilities."""
    kinds = tuple(kind for each in lacked for kind in KINDS.get(each, ()))

    def open_refusing(
        config: OperatorConfig, fn: Any, elements: Any, restore: Snapshot | None = None
    ) -> AbstractAsyncContextManager[Any]:
        name = "an operator that refuses"
        known = "retry", "max_held", "batch", "cache", "limits"
        check_arguments(config, fn, elements, restore, name, *known)
        for each in lacked:
            if each in ASKED and ASKED[each](_Opening(config, fn, restore)):
                raise Refused(each)
        if Capability.RETRY_AFTER in lacked:
            fn = _Deaf(fn)
        return _open(config, fn, _Picky(elements, kinds), restore, lacked)

    return open_refusing


def family() -> Mapping[str, Callable[[], StreamBackend]]:
    """Return factories by name: for each capability, the reference without it."""
    return {f"reference-asyncio-without-{each}": partial(_without, each) for each in Capability}


def _without(lacked: Capability) -> StreamBackend:
    said = {lacked: Lacks("not yet", "switched off")}
    return stream_backend(refusing(lacked), lacks=said)


@asynccontextmanager
async def _open(
    config: OperatorConfig,
    fn: Any,
    elements: Any,
    restore: Snapshot | None,
    lacked: tuple[Capability, ...],
) -> AsyncGenerator[Any]:
    drains = Capability.IN_FLIGHT_SNAPSHOT in lacked
    opens = open_with(Parts(task=_DrainsAtBarriers)) if drains else open_operator
    async with opens(config, fn, elements, restore) as opened:
        results: Any = opened
        if Capability.STATISTICS in lacked:
            results.statistics = _OneFigure(results.statistics)
        if {Capability.SNAPSHOTS, Capability.ON_DEMAND_SNAPSHOT} & set(lacked):
            yield _WithoutRequests(results)
        else:
            yield results


class _Picky:
    """The source of an operator that refuses elements of some kinds."""

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
        if (error := await close_source(self._iterator, self._elements)) is not None:
            raise error


class _DrainsAtBarriers(StreamTask):
    """Waits until nothing is in flight before it takes a snapshot."""

    def is_back_pressured(self) -> bool:
        is_barrier = isinstance(self.backlog[0], Barrier | Snapshot)
        return not self.is_drained() if is_barrier else super().is_back_pressured()


class _Deaf:
    def __init__(self, fn: Any) -> None:
        self._fn = fn

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fn, name)

    async def __call__(self, value: Any) -> Any:
        try:
            return await self._fn(value)
        except RetryAfter as error:
            raise Refused(error) from error


class _OneFigure:
    """Statistics with only the figure that every operator has, and the method that returns them."""

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
