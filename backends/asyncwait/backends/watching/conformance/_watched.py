"""An operator that is watched, as an operator: its figures are those that are shown of it."""

import re
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from io import StringIO
from typing import Any

from opentelemetry.metrics import CallbackOptions, NoOpMeter
from rich.console import Console

from asyncwait.backends.watching import export_metrics, show_progress, statistics_of
from asyncwait.backends.watching._figures import METRICS
from asyncwait.backends.watching._while_open import WhileOpen
from asyncwait.spec import OpenOperator, Statistics

OFTEN = 0.04
"""Seconds from look to look: a step of the grid; where a timeout is long, a hundredth of that."""

SELDOM = 10
"""Looks of others for each drawing of the bar, which takes time."""

_DRAWN = re.compile(r"([\d,]+)/\?.*?([\d,]+) in flight")
"""How many are done, and in flight, in each drawing of the bar."""

_NOTE = "Watching the operator raised, too: "
"""How a note on what the body has raised begins."""


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
            for observation in self._callbacks[metric.name](CallbackOptions()):  # none of a lookup
                reported[metric.figure] = observation.value
        reported.pop("waiting_for_permits", None)  # a sum; these backends lack limits
        return Statistics(**reported)


class _Terminal(StringIO):
    """Keeps what was drawn last."""

    def write(self, text: str) -> int:
        """Draw `text`, and forget what scrolls out."""
        kept = (self.getvalue() + text)[-1000:]
        self.seek(0)
        self.truncate()
        super().write(kept)
        return len(text)


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


class _Trouble(Exception):
    """What a watcher raises by plan."""


class _Broken:
    """A watcher that raises whenever it looks."""

    def begin(self) -> None:
        """Begin as any other."""

    def look(self) -> None:
        """Raise."""
        raise _Trouble

    def end(self, error: BaseException | None) -> None:
        """Raise, whatever the body has raised."""
        raise _Trouble from error


class _Watched(AbstractAsyncContextManager[_Shown]):
    """An operator and all that watch it, one of which is broken.

    Raises:
        AssertionError: what is drawn is not what is so, or trouble in watching does not come out.
    """

    def __init__(self, opened: AbstractAsyncContextManager[Any], every: float) -> None:
        self._opened = opened
        self._every = every
        self._terminal = _Terminal()

    async def __aenter__(self) -> _Shown:
        meter, every = _Meter(), self._every
        console = Console(file=self._terminal, force_terminal=True, no_color=True, width=200)
        async with AsyncExitStack() as stack:
            self._results = await stack.enter_async_context(self._opened)
            # Figures are read at once, and without an error in what the operator is asked for.
            assert await anext(statistics_of(self._results)) is not None
            await stack.enter_async_context(export_metrics(self._results, every=every, meter=meter))
            stack.push(self._hold_to_what_is_drawn)
            bar = show_progress(self._results, every=every * SELDOM, console=console)
            await stack.enter_async_context(bar)
            stack.push(_expect_trouble)
            await stack.enter_async_context(WhileOpen(_Broken(), every))
            self._open = stack.pop_all()
        return _Shown(self._results, meter)

    async def __aexit__(self, *raised: Any) -> bool | None:
        return await self._open.__aexit__(*raised)

    def _hold_to_what_is_drawn(
        self, _kind: object, error: BaseException | None, _traceback: object
    ) -> None:
        if error is None:
            figures: Statistics = self._results.statistics()
            drawn = _DRAWN.findall(self._terminal.getvalue())
            done, in_flight = (int(each.replace(",", "")) for each in drawn[-1])
            called = figures.calls - figures.retries
            assert called - figures.undecided <= done <= called, drawn
            assert in_flight == figures.in_flight, drawn


def _expect_trouble(_kind: object, error: BaseException | None, _traceback: object) -> bool:
    notes = getattr(error, "__notes__", [])
    is_told = isinstance(error, _Trouble) or any(note.startswith(_NOTE) for note in notes)
    assert is_told, f"nobody is told of trouble in watching: {error!r}"
    if notes:
        assert error is not None
        error.__notes__ = [note for note in notes if not note.startswith(_NOTE)]
    return isinstance(error, _Trouble)


def open_watched(opens: OpenOperator, config: Any, *arguments: Any) -> _Watched:
    """Open an operator that is watched from then on, until it is left."""
    every = max(OFTEN, (getattr(config, "timeout", None) or 0) / 100)
    return _Watched(opens(config, *arguments), every)
