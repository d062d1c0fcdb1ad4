"""The interface of watched operators, and the intervals of watching."""

import math
from collections.abc import AsyncIterator
from typing import Any, Protocol, TypeVar

import anyio

from asyncwait.spec import InvalidConfig

S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)


class Watched(Protocol[S_co]):
    """The object that `async with` of an operator, of a chain, or of a lookup returns.

    Its figures are `Statistics`, or `LookupStatistics`.
    """

    def statistics(self) -> S_co:
        """Return the present figures."""
        ...


class Interval:
    """Waits for regular times, by the clock of the loop.

    A late wake-up does not delay later times. Missed times are skipped, and the next time comes a
    complete interval later.

    Args:
        every: seconds from one time to the next.
        first: the first time, in seconds of the loop's clock.
    """

    def __init__(self, every: float, first: float) -> None:
        self._every = every
        self._due = first

    async def wait(self) -> None:
        """Wait until the next time."""
        await anyio.sleep_until(self._due)
        now = anyio.current_time()
        self._due += self._every
        if self._due <= now:
            self._due = now + self._every


def require_watched(results: Any, every: Any) -> None:
    """Refuse an object that cannot be watched, and an invalid interval."""
    if not callable(getattr(results, "statistics", None)):
        expected = "what an operator gives, as in `async with ordered_wait(...) as results`"
        raise InvalidConfig.of("results", results, expected)
    is_number = isinstance(every, int | float) and not isinstance(every, bool)
    if not is_number or not 0 < every < math.inf:
        raise InvalidConfig.of("every", every, "a finite number of seconds > 0")


def statistics_of(results: Watched[S], every: float = 1.0) -> AsyncIterator[S]:
    """Yield the figures of an operator at once, and every so many seconds.

    The iterator has no end, because figures do not show that an operator has ended: iterate it in a
    task group, and cancel the group when there are no more results. It holds no task and no timer,
    so it can be dropped at any time, and a cancelled wait can be followed by another one.

    Args:
        results: the object that `async with` of an operator returns.
        every: seconds, by the clock of the loop, from one reading to the next. A consumer that
            takes longer misses the readings that were due meanwhile.

    Raises:
        InvalidConfig: `results` or `every` is invalid.
    """
    require_watched(results, every)
    return _StatisticsOf(results, every)


class _StatisticsOf(AsyncIterator[S]):
    """A class instead of a generator, because cancelling a wait ends a generator."""

    def __init__(self, results: Watched[S], every: float) -> None:
        self._results = results
        self._every = every
        self._interval: Interval | None = None

    async def __anext__(self) -> S:
        if self._interval is None:
            self._interval = Interval(self._every, anyio.current_time())
        await self._interval.wait()
        return self._results.statistics()
