"""A table that is read whole, and read again from time to time."""

from collections.abc import AsyncIterable, Sequence
from math import inf
from types import CoroutineType
from typing import Any

import anyio
from msgspec import Struct

from asyncwait.backends.lookup._table import (
    NO_ROWS,
    Figures,
    LookedUp,
    LookupStatistics,
    OpenTable,
    Outcome,
    Rows,
    WholeTable,
    close_behind,
    close_table,
    place_of,
    places_of,
    require_keys,
    rows_with,
    table_closed,
    types_of,
)
from asyncwait.spec import CallFailed, InvalidConfig
from asyncwait.spec.checks import require_timeout
from asyncwait.spec.texts import shown
from asyncwait.toolkit import (
    NULL_KEY,
    PLAIN_KEYS,
    JoinableTasks,
    close_source,
    is_own_cancellation,
    join_errors,
    reraise_fatal,
    running_loop,
)


class Full(Struct, frozen=True):
    """Reads the whole table before the first row, and again and again.

    The next copy replaces the present one at once. If reading fails, the old copy stays.

    Args:
        reload: seconds from the end of one reading to the beginning of the next; None for never.
        max_age: seconds from the beginning of its reading after which a copy that could not be read
            again is no longer used, and lookups fail. None for no bound.

    Raises:
        InvalidConfig: an argument is invalid; the message has its name, value and type.
    """

    reload: float | None = None
    max_age: float | None = None

    def __post_init__(self) -> None:
        require_timeout("reload", self.reload)
        require_timeout("max_age", self.max_age)


class Copy:
    """The content of a table, as it was read."""

    def __init__(self) -> None:
        self.rows: dict[Any, tuple[Any, ...]] = {}
        """Rows by stand-in of their keys."""
        self.kinds: set[Any] = set()
        """Types of the keys."""
        self.read_at: float | None = None
        """Start of the reading, in seconds of the loop's clock; None before the first one."""
        self.ended_at = 0.0
        """End of the reading."""


class Whole(OpenTable):
    """A copy of a table; no lookup waits.

    Args:
        table: opened by `open`, closed by `close`.
        copy: its copy; an earlier lookup of the same table may have filled it.
    """

    def __init__(self, table: WholeTable, settings: Full, copy: Copy) -> None:
        self._table = table
        self._settings = settings
        self.figures = Figures()
        self._copy = copy
        self._trouble: BaseException | None = None
        self._is_closed = False

    async def open(self) -> None:
        """Open the table, and read it, unless its copy is still fresh.

        An error of the first reading is raised, after the table has been closed.
        """
        await self._table.open()
        self._clock = running_loop().time
        self._scope = anyio.CancelScope()
        try:
            if self._copy.read_at is None:
                await self._read()
            elif self._seconds_left() <= 0:
                await self._read_again()  # before the first row, too
        except BaseException as error:
            join_errors(error, await close_table(self._table))
            raise
        self._group = JoinableTasks(await anyio.create_task_group().__aenter__())
        if self._settings.reload is not None:
            self._group.start_soon(self._reload, self._settings.reload)

    async def close(self, error: BaseException | None = None) -> None:
        """End reading, wait for it, and close the table; see `Cached.close`."""
        self._is_closed = True
        self._scope.shield = True  # see `JoinableTasks.join`
        self._scope.cancel()
        await close_behind(self._group, self._table, error)

    def peek(self, key: Any) -> Rows | None:
        return self._rows([key])[0]

    async def get_many(self, keys: Sequence[Any]) -> list[Rows]:
        return self._rows(require_keys(keys))

    def _rows(self, keys: Sequence[Any]) -> list[Rows]:
        rows: list[Any] = self._look_up(keys)
        for each in rows:
            if isinstance(each, CallFailed):
                raise each
        return rows

    async def outcomes(
        self, keys: Sequence[Any], times: Sequence[int] | None = None
    ) -> list[Outcome]:
        """Return the rows of each key, or its failure; see `Cached.outcomes`."""
        return self._look_up(keys, times)

    def _look_up(self, keys: Sequence[Any], times: Sequence[int] | None = None) -> list[Outcome]:
        if self._is_closed:
            raise table_closed()
        most = self._settings.max_age
        if most is not None and self._age() > most:
            return [self._too_old(key, most) for key in keys]
        copy, figures = self._copy.rows, self.figures
        places = places_of(keys)
        rows = [copy.get(place, NO_ROWS) for place in places]
        nulls = 0 if places is keys else rows_with(NULL_KEY, places, times)
        looked_up = len(keys) if times is None else sum(times)
        figures.rows += looked_up
        figures.null_keys += nulls
        figures.hits += looked_up - nulls
        figures.misses += rows_with(NO_ROWS, rows, times) - nulls
        kinds = self._copy.kinds
        return [
            _other_type(key)
            if found is NO_ROWS and kinds and types_of(key) not in kinds and place is not NULL_KEY
            else found
            for key, place, found in zip(keys, places, rows, strict=True)
        ]

    def _age(self) -> float:
        assert self._copy.read_at is not None
        return self._clock() - self._copy.read_at

    def _too_old(self, key: Any, most: float) -> CallFailed:
        reason = f"the copy of the table is {self._age():g} s old, {most:g} s at most are allowed"
        failure = CallFailed(LookedUp(key), reason)
        failure.__cause__ = self._trouble
        return failure

    def statistics(self) -> LookupStatistics:
        return self.figures.told(len(self._copy.rows), age=self._age())

    async def _read(self) -> None:
        begun, figures = self._clock(), self.figures
        figures.requests += 1
        rows_of: dict[Any, list[Any]] = {}
        kinds: set[Any] = set()
        rows = self._table.load_all()
        if not isinstance(rows, AsyncIterable):
            if isinstance(rows, CoroutineType):
                rows.close()
            expected = "an `async def` that yields pairs of a key and a row"
            raise InvalidConfig.of("load_all", rows, expected)
        try:
            async for key, row in rows:
                place = key if type(key) in PLAIN_KEYS else place_of(key)
                if place is not NULL_KEY:
                    kinds.add(types_of(key))
                    rows_of.setdefault(place, []).append(row)
        except Exception:  # counted here; the caller handles it
            figures.failed_requests += 1
            raise
        finally:
            with anyio.CancelScope(shield=True):
                await close_source(rows)
        self._copy.rows = {place: tuple(rows) for place, rows in rows_of.items()}
        self._copy.kinds = kinds
        self._copy.read_at, self._copy.ended_at = begun, self._clock()
        figures.answered(len(rows_of), self._copy.ended_at - begun)

    def _seconds_left(self) -> float:
        reload, since = self._settings.reload, self._clock() - self._copy.ended_at
        return inf if reload is None else reload - since

    async def _reload(self, seconds: float) -> None:
        with self._scope:
            await anyio.sleep(max(0, self._seconds_left()))
            while True:
                await self._read_again()
                await anyio.sleep(seconds)

    async def _read_again(self) -> None:
        self.figures.refreshes += 1
        try:
            await self._read()
        except BaseException as error:
            reraise_fatal(error)
            if is_own_cancellation(error):
                raise
            self._trouble = error  # The old copy stays; `_rows` reports when it is too old.
        else:
            self._trouble = None


def _other_type(key: Any) -> CallFailed:
    """Return the failure of a key whose type no key of the table has: it is a mistake."""
    error = TypeError(
        f"expected a key of the types that the table has, got {shown(key)} "
        f"({type(key).__name__}); look up keys of the column's own type"
    )
    failure = CallFailed(LookedUp(key), f"the key is of another type: {error}")
    failure.__cause__ = error
    return failure
