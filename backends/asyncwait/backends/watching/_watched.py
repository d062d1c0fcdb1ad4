"""Watching of an operator: the interface, a stream of figures, and calls at regular times."""

import math
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

import anyio

from asyncwait.spec import InvalidConfig
from asyncwait.spec.texts import shown
from asyncwait.toolkit import JoinableTasks

S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)


class Watched(Protocol[S_co]):
    """The object that `async with` of an operator or of a lookup returns.

    Its figures are `Statistics`, or `LookupStatistics`.
    """

    def statistics(self) -> S_co:
        """Return the present figures."""
        ...


class Interval:
    """Regular times, by the clock of the loop.

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
        expected = "the results of an operator, as in `async with ordered_wait(...) as results`"
        raise InvalidConfig.of("results", results, expected)
    is_number = isinstance(every, int | float) and not isinstance(every, bool)
    if not is_number or not 0 < every < math.inf:
        raise InvalidConfig.of("every", every, "a finite number of seconds > 0")


def statistics_of(results: Watched[S], every: float = 1.0) -> AsyncIterator[S]:
    """Yield the figures of an operator at once, and then every `every` seconds.

    The iterator has no end, because figures do not show that an operator has ended: iterate it in a
    task group, and cancel the group after the last result. It holds no task and no timer,
    so you can drop it at any time, and go on reading after a cancelled wait.

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
    """This is no generator, because cancelling a wait ends a generator."""

    def __init__(self, results: Watched[S], every: float) -> None:
        self._results = results
        self._every = every
        self._interval: Interval | None = None

    async def __anext__(self) -> S:
        if self._interval is None:
            self._interval = Interval(self._every, anyio.current_time())
        await self._interval.wait()
        return self._results.statistics()


class Watcher(Protocol):
    """Looks at an operator. All methods run on the loop, one at a time."""

    def begin(self) -> None:
        """Take the first look."""

    def look(self) -> None:
        """Take another look."""

    def end(self, error: BaseException | None) -> None:
        """Take the last look; `error` is the error of the body."""


class WhileOpen(AbstractAsyncContextManager[None]):
    """Lets a watcher look at regular times, in a task of its own, while the body runs.

    An error of the watcher does not affect the body. The watcher stops looking, and leaving raises
    the error; if the body raised, too, its error gets a note instead.

    Args:
        watcher: the watcher to call.
        every: seconds from one look to the next.

    Raises:
        RuntimeError: the context is entered again.
    """

    def __init__(self, watcher: Watcher, every: float) -> None:
        self._watcher = watcher
        self._every = every
        self._was_entered = False
        self._trouble: Exception | None = None

    async def __aenter__(self) -> None:
        if self._was_entered:
            raise RuntimeError("entered before: an operator is watched by a new context each time")
        self._was_entered = True
        self._watcher.begin()
        self._scope = anyio.CancelScope()
        self._group = JoinableTasks(await anyio.create_task_group().__aenter__())
        self._group.start_soon(
            self._watch, Interval(self._every, anyio.current_time() + self._every)
        )

    async def _watch(self, interval: Interval) -> None:
        with self._scope:
            while self._trouble is None:
                await interval.wait()
                try:
                    self._watcher.look()
                except Exception as error:
                    self._trouble = error

    async def __aexit__(self, _: object, exc: BaseException | None, __: object) -> None:
        self._scope.shield = True  # cancelled in a task of the group: see `JoinableTasks`
        self._scope.cancel()
        reason = await self._group.join()
        first = exc if reason is None else reason
        try:
            self._watcher.end(first)
        except Exception as error:
            self._trouble = self._trouble or error
        if first is None:
            first = self._trouble
        elif self._trouble is not None:
            first.add_note(f"Watching the operator raised, too: {shown(self._trouble)}")
        if first is not None and first is not exc:
            raise first
