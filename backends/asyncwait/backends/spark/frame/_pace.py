"""How fast a task calls: a ceiling on calls per second, and one that finds the service's own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from http import HTTPStatus
from math import ceil
from typing import Any

from msgspec import Struct

from asyncwait.backends.services import status_of, transient
from asyncwait.backends.spark._reader import PartitionSource
from asyncwait.backends.spark.frame._rows import Around, InputRow
from asyncwait.spec import InvalidConfig, RetryAfter
from asyncwait.toolkit import Bell

_FEWER = 0.9
"""Calls at a time, in proportion, after a service has said that they are too many."""

_BEFORE_ANY = 0.5
"""The same for the first time: until then there were twice as many with each round."""

_MORE = 0.05
"""How much more, in proportion, after a round that was served, where nothing says how many are too
many."""

_A_LITTLE_MORE = 0.0005
"""The same near what was too many the last time."""

_DOUBLED_IN = 1.5
"""Seconds in which that little doubles: the limit of a service may be higher than before."""

_NEAR = (0.95, 1.02)
"""What is near that, in proportion."""

_FIRST = 4
"""Calls at a time to begin with, where nobody knows the limit of the service."""

_WEIGHT = 0.1
"""Of the last call in the average of how long calls take."""


class Pace(Struct, frozen=True):
    """What one task may do.

    A row is read when its call may begin, so that no deadline runs while it waits for that. Further
    attempts wait for a turn of their own.

    Args:
        per_second: calls that begin in a second; None for no ceiling.
        adaptive: look for the limit of the service: a twentieth more calls at a time, or one, after
            a round that is served, and far less than that near what was too many before; a tenth
            fewer, and a pause of what `RetryAfter` or the answer says, when they are too many
            again. An error with the HTTP status 429 says so, too.
        most: calls at a time at most, which is the capacity.
    """

    per_second: float | None = None
    adaptive: bool = False
    most: int = 100

    @property
    def is_free(self) -> bool:
        """Whether nothing has to be waited for."""
        return self.per_second is None and not self.adaptive


class Pacer:
    """Holds the calls of a task back until they may begin; made on the loop."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._loop = asyncio.get_running_loop()
        self._turns = asyncio.Lock()
        """Who waits for a turn has it in the order of waiting."""
        self._bell = Bell()
        self._gap = 0.0 if pace.per_second is None else 1 / pace.per_second
        self._next = self._since = self._loop.time()
        """When the next call may begin, and when they became fewer for the last time."""
        self.open = 0
        """Calls that had their turn and have not ended."""
        self.limit = float(min(_FIRST, pace.most) if pace.adaptive else pace.most)
        """Calls at a time."""
        self._too_many: float | None = None
        """How many calls at a time were too many, the last time."""
        self._took = 0.0
        """How long calls take that are served, in seconds, on average."""

    async def turn(self) -> None:
        """Wait until one more call may begin."""
        async with self._turns:
            while self._pace.adaptive and self.open >= ceil(self.limit):
                await self._bell.wait()
            delay = self._next - self._loop.time()
            if delay > 0:
                await asyncio.sleep(delay)
            gap = max(self._gap, self._took / self.limit)
            self._next = max(self._next, self._loop.time() - gap) + gap
            self.open += 1

    def turn_of_a_thread(self) -> None:
        """Do the same in a thread."""
        asyncio.run_coroutine_threadsafe(self.turn(), self._loop).result()

    def ends(self, began: float, error: BaseException | None) -> None:
        """Note that a call has ended."""
        self.open -= 1
        if self._pace.adaptive:
            if error is None:
                self._served(self.now() - began)
            elif says_too_many(error) and began >= self._since:
                self._refused(error)
        self._bell.ring()

    def gives_up(self) -> None:
        """Note that a call that had its turn does not begin; for any thread."""
        with suppress(RuntimeError):  # The loop is gone: nobody waits for a turn.
            self._loop.call_soon_threadsafe(self._gives_up)

    def _gives_up(self) -> None:
        self.open -= 1
        self._bell.ring()

    def ends_in_a_thread(self, began: float, error: BaseException | None) -> None:
        """Note the same in a thread."""
        with suppress(RuntimeError):  # The loop is gone: nobody waits for a turn.
            self._loop.call_soon_threadsafe(self.ends, began, error)

    def now(self) -> float:
        """Return the time of the loop, in seconds."""
        return self._loop.time()

    def _served(self, took: float) -> None:
        """Call more. Calls are spread over the time that one takes: a burst is refused at once."""
        self._took += (took - self._took) * (_WEIGHT if self._took else 1)
        self.limit = min(float(self._pace.most), self.limit + self._step())

    def _step(self) -> float:
        """Return how many more calls there are at a time for one that was served."""
        if self._too_many is None:
            return 1.0
        least, most = _NEAR
        if least <= self.limit / self._too_many < most:
            return min(_MORE, _A_LITTLE_MORE * 2 ** ((self.now() - self._since) / _DOUBLED_IN))
        return min(1 / self.limit, _MORE)

    def _refused(self, error: BaseException) -> None:
        """Call less, and nothing before the service wants to be asked; what began before is old."""
        is_first = self._too_many is None
        self._too_many = self.limit
        self.limit = max(1.0, self.limit * (_BEFORE_ANY if is_first else _FEWER))
        asks = error if isinstance(error, RetryAfter) else transient(error)
        self._since = self.now() + (asks.seconds if isinstance(asks, RetryAfter) else 0)
        self._next = max(self._next, self._since)


class PacedSource(AsyncIterator[Any]):
    """The rows of a source, each when its first call may begin, if it needs one."""

    def __init__(self, source: PartitionSource, pacer: Pacer) -> None:
        self._source = source
        self._pacer = pacer

    async def __anext__(self) -> Any:
        row: InputRow = await anext(self._source)
        if row.paid is None:
            await self._pacer.turn()
        return row

    async def aclose(self) -> None:
        """Close the source."""
        await self._source.aclose()


class PacedFunction(Around):
    """A function of rows, whose further attempts wait for a turn of their own."""

    def __init__(self, of_rows: Any, pacer: Pacer) -> None:
        super().__init__(of_rows)
        self._pacer = pacer

    def skip(self, row: InputRow) -> None:
        """Have another one called in its place."""
        if not row.is_called and row.paid is None:
            self._pacer.gives_up()

    async def __call__(self, row: InputRow) -> Any:
        pacer = self._pacer
        if row.is_called:
            await pacer.turn()
        row.is_called = True
        began, error = pacer.now(), None
        try:
            return await self._of_rows(row)
        except BaseException as raised:
            error = raised
            raise
        finally:
            pacer.ends(began, error)


class PacedBlockingFunction(PacedFunction):
    """The same for a function that blocks."""

    def __call__(self, row: InputRow) -> Any:
        """Call it, in a thread."""
        pacer = self._pacer
        if row.is_called:
            pacer.turn_of_a_thread()
        row.is_called = True
        began, error = pacer.now(), None
        try:
            return self._of_rows(row)
        except BaseException as raised:
            error = raised
            raise
        finally:
            pacer.ends_in_a_thread(began, error)


def says_too_many(error: BaseException) -> bool:
    """Say whether a service that was called too often has made this error."""
    return isinstance(error, RetryAfter) or status_of(error) == HTTPStatus.TOO_MANY_REQUESTS


class Ceilings(Struct, frozen=True):
    """What a job may do; see `asyncwait.backends.spark.ordered_wait`."""

    max_in_flight: int | None
    calls_per_second: float | None
    adaptive: bool
    max_tasks: int | None

    def __post_init__(self) -> None:
        for name in ("max_in_flight", "max_tasks"):
            value: Any = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 1 or value is True):
                raise InvalidConfig.of(name, value, "a whole number >= 1, or None")
        rate: Any = self.calls_per_second
        is_number = isinstance(rate, int | float) and not isinstance(rate, bool)
        if rate is not None and not (is_number and 0 < rate < float("inf")):
            raise InvalidConfig.of("calls_per_second", rate, "a number > 0, or None")
        if not isinstance(self.adaptive, bool):
            raise InvalidConfig.of("adaptive", self.adaptive, "True or False")

    def share(self, df: Any, capacity: int, *, whole: bool = False) -> tuple[int, Pace]:
        """Return the capacity of one task, and its pace.

        Args:
            df: tells how many tasks run at a time, where nobody else does.
            capacity: what a task may have without these ceilings.
            whole: they are not divided.

        Raises:
            InvalidConfig: there are more tasks than calls, or nobody knows how many there are.
        """
        if whole:
            return capacity, Pace(self.calls_per_second, self.adaptive, capacity)
        if self.max_in_flight is None and self.calls_per_second is None:
            return capacity, Pace(None, self.adaptive, capacity)
        tasks = self.max_tasks or _slots(df)
        if self.max_in_flight is not None:
            if self.max_in_flight < tasks:
                expected = f"at least one for each of {tasks} tasks; coalesce, and set max_tasks"
                raise InvalidConfig.of("max_in_flight", self.max_in_flight, expected)
            capacity = min(capacity, self.max_in_flight // tasks)
        rate = None if self.calls_per_second is None else self.calls_per_second / tasks
        return capacity, Pace(rate, self.adaptive, capacity)


def _slots(df: Any) -> int:
    """Return how many tasks the cluster can run at a time, now."""
    try:
        return int(df.sparkSession.sparkContext.defaultParallelism)
    except Exception as error:  # Connect has no such thing, and says so in a class of its own.
        expected = "given: this session does not tell how many tasks run at a time"
        raise InvalidConfig.of("max_tasks", None, expected) from error
