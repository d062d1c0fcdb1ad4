"""The figures of an operator as an async iterator."""

from collections.abc import AsyncIterator

import anyio

from asyncwait.backends.watching._watched import Interval, Watched, require_watched
from asyncwait.spec import Statistics


def statistics_of(results: Watched, every: float = 1.0) -> AsyncIterator[Statistics]:
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


class _StatisticsOf(AsyncIterator[Statistics]):
    """It is no generator: one ends when a wait for its next value is cancelled."""

    def __init__(self, results: Watched, every: float) -> None:
        self._results = results
        self._every = every
        self._interval: Interval | None = None

    async def __anext__(self) -> Statistics:
        if self._interval is None:
            self._interval = Interval(self._every, anyio.current_time())
        await self._interval.wait()
        return self._results.statistics()
