"""What can be watched, and how often."""

import math
from collections.abc import AsyncIterator
from typing import Any, Protocol, TypeVar

import anyio

from asyncwait.spec import InvalidConfig

S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)


class Watched(Protocol[S_co]):
    """What `async with` of an operator, of a chain, or of a lookup gives.

    Its figures are `Statistics`, or `LookupStatistics`.
    """

    def statistics(self) -> S_co:
        """Return the present figures."""
        ...


class Interval:
    """Waits until it is time again, by the clock of the loop.

    What comes late delays nothing behind it. What was missed altogether is left out, and the next
    comes a whole interval later.

    Args:
        every: seconds from one time to the next.
        first: when the first one is due, in seconds of the loop's clock.
    """

    def __init__(self, every: float, first: float) -> None:
        self._every = every
        self._due = first

    async def wait(self) -> None:
        """Return when it is time."""
        await anyio.sleep_until(self._due)
        now = anyio.current_time()
        self._due += self._every
        if self._due <= now:
            self._due = now + self._every


def require_watched(results: Any, every: Any) -> None:
    """Refuse what can't be watched."""
    if not callable(getattr(results, "statistics", None)):
        expected = "what an operator gives, as in `async with ordered_wait(...) as results`"
        raise InvalidConfig.of("results", results, expected)
    is_number = isinstance(every, int | float) and not isinstance(every, bool)
    if not is_number or not 0 < every < math.inf:
        raise InvalidConfig.of("every", every, "a finite number of seconds > 0")


def statistics_of(results: Watched[S], every: float = 1.0) -> AsyncIterator[S]:
    """Give the figures of an operator at once, and every so many seconds.

    Figures don't tell that an operator is over, so this has no end: iterate it in a task group,
    and cancel that when there are no more results. It holds no task and no timer, so it can be
    dropped at any time, and a cancelled wait can be followed by another one.

    Args:
        results: what `async with` of an operator gives.
        every: seconds, by the clock of the loop, from one to the next. Whoever takes longer over
            one misses those that were due meanwhile.

    Raises:
        InvalidConfig: `results` or `every` is not what it should be.
    """
    require_watched(results, every)
    return _StatisticsOf(results, every)


class _StatisticsOf(AsyncIterator[S]):
    """It is no generator: one ends when a wait for its next value is cancelled."""

    def __init__(self, results: Watched[S], every: float) -> None:
        self._results = results
        self._every = every
        self._interval: Interval | None = None

    async def __anext__(self) -> S:
        if self._interval is None:
            self._interval = Interval(self._every, anyio.current_time())
        await self._interval.wait()
        return self._results.statistics()
