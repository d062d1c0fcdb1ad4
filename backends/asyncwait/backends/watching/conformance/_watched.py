"""An operator that is watched, as an operator: its figures are those that are shown of it."""

from contextlib import AbstractAsyncContextManager, AsyncExitStack
from io import StringIO
from types import TracebackType
from typing import Any

from opentelemetry.metrics import CallbackOptions, NoOpMeter
from rich.console import Console

from asyncwait.backends.watching import export_metrics, show_progress
from asyncwait.backends.watching._figures import METRICS
from asyncwait.spec import OpenOperator, Statistics

OFTEN = 0.04
"""Seconds from look to look: a step of the grid; where a timeout is long, a hundredth of that."""


class _Meter(NoOpMeter):
    """Has the instruments that are made of it asked at any time."""

    def __init__(self) -> None:
        super().__init__("asyncwait")
        self._callbacks: dict[str, Any] = {}
        for kind in ("counter", "up_down_counter", "gauge"):
            setattr(self, f"create_observable_{kind}", self._create)

    def _create(self, name: str, callbacks: Any, unit: str = "", description: str = "") -> None:
        assert unit, description
        (self._callbacks[name],) = callbacks

    def statistics(self) -> Statistics:
        """Return what the instruments report."""
        reported: dict[str, Any] = {}
        for metric in METRICS:
            (observation,) = self._callbacks[metric.name](CallbackOptions())
            reported[metric.figure] = observation.value
        return Statistics(**reported)


class _Shown:
    """The results of an operator, with the figures that are shown of it."""

    def __init__(self, results: Any, meter: _Meter) -> None:
        self._results = results
        self.statistics = meter.statistics
        self.request_snapshot = results.request_snapshot

    def __aiter__(self) -> "_Shown":
        return self

    async def __anext__(self) -> Any:
        return await anext(self._results)


class _Watched(AbstractAsyncContextManager[_Shown]):
    def __init__(self, opened: AbstractAsyncContextManager[Any], every: float) -> None:
        self._opened = opened
        self._every = every

    async def __aenter__(self) -> _Shown:
        meter, console, every = _Meter(), Console(file=StringIO()), self._every
        async with AsyncExitStack() as stack:
            results = await stack.enter_async_context(self._opened)
            await stack.enter_async_context(export_metrics(results, every=every, meter=meter))
            await stack.enter_async_context(show_progress(results, every=every, console=console))
            self._open = stack.pop_all()
        return _Shown(results, meter)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return await self._open.__aexit__(kind, error, traceback)


def open_watched(opens: OpenOperator, config: Any, *arguments: Any) -> _Watched:
    """Open an operator that is watched from then on, until it is left."""
    every = max(OFTEN, (getattr(config, "timeout", None) or 0) / 100)
    return _Watched(opens(config, *arguments), every)
