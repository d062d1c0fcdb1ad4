"""A progress bar, if there is a terminal, and rich to draw it."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from asyncwait.backends.watching._figures import Shown, done, told
from asyncwait.backends.watching._watched import Watched, require_watched
from asyncwait.backends.watching._while_open import WhileOpen
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
    """Show how far an operator is, while the body of the context runs.

    On a terminal and in a notebook there is a bar: records done, how many of them a second, what is
    in flight and held, retries, timeouts, handled failures and abandoned calls. Printed text stands
    above it. Elsewhere there is one line at the end. If the body raises, the figures are those of
    the last refresh: a failed operator has nothing in flight any more.

    A record is done when its results are decided, a row of a lookup when it has its rows; hits,
    loads, misses and the like are told, too. In key-ordered mode those that wait for their
    keys hide as many that are done, and the bar may be behind by so many until the end.

    Args:
        results: what `async with` of an operator gives.
        total: how many records there will be; None if nobody knows.
        description: stands in front, in the markup of rich.
        every: seconds, by the clock of the loop, from one refresh to the next.
        console: of rich, where to draw; None for standard error, or the notebook. It shows one bar
            at a time.

    Returns:
        An async context manager; leave it before the operator: `async with ordered_wait(...) as
        results, show_progress(results): ...`. An error in drawing is raised on leaving.

    Raises:
        InvalidConfig: an argument is not what it should be.
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
        InvalidConfig: an argument is not what it should be.
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
