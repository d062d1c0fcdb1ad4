"""A watched operator as an operator: its figures are read from metrics and progress bar."""

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
"""Seconds from look to look: a step of the grid; with a long timeout, a hundredth of it."""

SELDOM = 10
"""Looks of the other watchers for each drawing of the bar, because drawing takes time."""

_DRAWN = re.compile(r"([\d,]+)/\?.*?([\d,]+) in flight")
"""Records done and in flight in each drawing of the bar."""

_NOTE = "Watching the operator raised, too: "
"""Beginning of a note on an error of the body."""


class _Meter(NoOpMeter):
    """Lets the test read its instruments at any time."""

    def __init__(self) -> None:
        super().__init__("asyncwait")
        self._callbacks: dict[str, Any] = {}
        for kind in ("counter", "up_down_counter", "gauge"):
            setattr(self, f"create_observable_{kind}", self._create)

    def _create(self, name: str, callbacks: Any, unit: str = "", description: str = "") -> None:
        assert unit, description
        (self._callbacks[name],) = callbacks

    def statistics(self) -> Statistics:
        reported: dict[str, Any] = {}
        for metric in METRICS:
            for observation in self._callbacks[metric.name](CallbackOptions()):  # none of a lookup
                reported[metric.figure] = observation.value
        reported.pop("waiting_for_permits", None)  # a sum; these backends lack limits
        return Statistics(**reported)


class _Terminal(StringIO):
    """Keeps the last 1000 characters drawn."""

    def write(self, text: str) -> int:
        """Draw `text`, and forget the text that scrolls out."""
        kept = (self.getvalue() + text)[-1000:]
        self.seek(0)
        self.truncate()
        super().write(kept)
        return len(text)


class _Shown:
    """The results of an operator, with the figures from its metrics."""

    def __init__(self, results: Any, meter: _Meter) -> None:
        self._results = results
        self.statistics = meter.statistics
        self.request_snapshot = results.request_snapshot

    def __aiter__(self) -> "_Shown":
        return self

    async def __anext__(self) -> Any:
        return await anext(self._results)


class _Trouble(Exception):
    """The planned error of a broken watcher."""


class _Broken:
    def begin(self) -> None:
        """Begin without an error."""

    def look(self) -> None:
        raise _Trouble

    def end(self, error: BaseException | None) -> None:
        raise _Trouble from error


class _Watched(AbstractAsyncContextManager[_Shown]):
    """An operator and all its watchers, one of which is broken.

    Raises:
        AssertionError: the bar shows wrong figures, or the watcher's error is not raised.
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
            # Figures are available at once, and reading them raises no error.
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
    """Open an operator, and watch it until it is left."""
    every = max(OFTEN, (getattr(config, "timeout", None) or 0) / 100)
    return _Watched(opens(config, *arguments), every)
