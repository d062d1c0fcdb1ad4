"""A progress bar, drawn by rich if there is a terminal."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from asyncwait.backends.watching._figures import Shown, done, told
from asyncwait.backends.watching._watched import Watched, WhileOpen, require_watched
from asyncwait.spec import InvalidConfig, MissingExtra
from asyncwait.toolkit import running_loop

if TYPE_CHECKING:
    from rich.console import Console

    from asyncwait.backends.watching._bar import Bar


def show_progress(
    results: Watched[Any],
    total: int | None = None,
    *,
    description: str = "records",
    every: float = 0.2,
    console: "Console | None" = None,
) -> AbstractAsyncContextManager[None]:
    """Show the progress of an operator while the body of the context runs.

    A terminal or a notebook shows a bar: records done, their number per second, records in flight
    and held, retries, timeouts, handled failures and abandoned calls. Printed text appears above
    the bar. Elsewhere one line is written at the end. If the body raises, the figures are those of
    the last refresh, because a failed operator has nothing in flight any more.

    A record is done when its results are decided, a row of a lookup when it has its rows; the bar
    of a lookup also shows hits, loads, misses and the like. In key-ordered mode each record that
    waits for its key hides a record that is done, so the bar may be behind by that number until the
    end.

    Args:
        results: the object that `async with` of an operator returns.
        total: number of records; None if it is not known.
        description: text in front, in the markup of rich.
        every: seconds, by the clock of the loop, from one refresh to the next.
        console: a Console of rich to draw on; None for standard error, or the notebook. It shows
            one bar at a time.

    Returns:
        An async context manager; leave it before the operator: `async with ordered_wait(...) as
        results, show_progress(results): ...`. An error in drawing is raised on leaving.

    Raises:
        InvalidConfig: an argument is invalid.
        MissingExtra: rich is not installed.
    """
    require_watched(results, every)
    return WhileOpen(bar_of(_Reading(results), total, description, console), every)


class _Reading:
    """Reads an operator; its count of decided records never falls."""

    def __init__(self, results: Watched[Any]) -> None:
        self._results = results
        self._began: float | None = None
        self._done = 0

    def __call__(self) -> Shown:
        now = running_loop().time()
        if self._began is None:
            self._began = now
        figures = self._results.statistics()
        self._done = max(self._done, done(figures))
        words = [f"{figures.in_flight:,} in flight", *told(figures)]
        return Shown(self._done, now - self._began, words)


def bar_of(read: Callable[[], Shown], total: Any, description: str, console: Any) -> "Bar":
    """Return a progress bar; for its arguments see `Bar`.

    Raises:
        InvalidConfig: an argument is invalid.
        MissingExtra: rich is not installed.
    """
    is_whole = isinstance(total, int) and not isinstance(total, bool)
    if total is not None and (not is_whole or total < 0):
        raise InvalidConfig.of("total", total, "a whole number >= 0, or None for not known")
    try:
        from asyncwait.backends.watching._bar import Bar
    except ImportError as error:
        raise MissingExtra("rich", "progress") from error
    return Bar(read, total, description, console)
