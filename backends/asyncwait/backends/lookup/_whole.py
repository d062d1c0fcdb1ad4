"""A table that is read whole, and read again from time to time."""

from collections.abc import Sequence
from typing import Any

import anyio

from asyncwait.backends.lookup._figures import Figures, LookupStatistics
from asyncwait.backends.lookup._keys import LookedUp, place_of
from asyncwait.backends.lookup._settings import Full
from asyncwait.backends.lookup._table import NO_ROWS, Rows, WholeTable, close_behind, table_closed
from asyncwait.spec import CallFailed
from asyncwait.toolkit import (
    NULL_KEY,
    PLAIN_KEYS,
    JoinableTasks,
    close_source,
    is_own_cancellation,
    reraise_fatal,
    running_loop,
)


class Whole:
    """A copy of a table; the face is that of `Cached`, and no lookup waits.

    Args:
        table: opened by `open`, closed by `close`.
        settings: when it is read again.
    """

    def __init__(self, table: WholeTable, settings: Full) -> None:
        self._table = table
        self._settings = settings
        self._figures = Figures()
        self._copy: dict[Any, tuple[Any, ...]] = {}
        self._trouble: BaseException | None = None
        self._scope = anyio.CancelScope()
        self._is_closed = False

    async def open(self) -> None:
        """Open the table, and read it; what that raises is raised, with the table closed."""
        await self._table.open()
        self._clock = running_loop().time
        try:
            await self._read()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._table.close()
            raise
        self._group = JoinableTasks(await anyio.create_task_group().__aenter__())
        if self._settings.reload is not None:
            self._group.start_soon(self._reload, self._settings.reload)

    async def close(self) -> None:
        """End reading, wait for it, and close the table; no lookup is answered meanwhile."""
        self._is_closed = True
        self._scope.shield = True  # see `JoinableTasks.join`
        self._scope.cancel()
        await close_behind(self._group, self._table)

    def peek(self, key: Any) -> Rows | None:
        """Return the rows of a key.

        Raises:
            CallFailed: the copy is too old, or `key` can't be hashed.
            RuntimeError: the table is closed.
        """
        return self._rows([key])[0]

    async def get(self, key: Any) -> Rows:
        """Return the same."""
        return self._rows([key])[0]

    async def get_many(self, keys: Sequence[Any]) -> list[Rows]:
        """Return the rows of each key, in their order.

        Raises:
            CallFailed: the copy is too old, or a key can't be hashed.
            RuntimeError: the table is closed.
        """
        return self._rows(keys)

    def _rows(self, keys: Sequence[Any]) -> list[Rows]:
        if self._is_closed:
            raise table_closed()
        most, age = self._settings.max_age, self._clock() - self._read_at
        if most is not None and age > most and keys:
            reason = f"the copy of the table is {age:g} s old, {most:g} s at most are allowed"
            raise CallFailed(LookedUp(keys[0]), reason) from self._trouble
        are_plain = PLAIN_KEYS.issuperset(map(type, keys))
        places = keys if are_plain else list(map(place_of, keys))
        copy, figures = self._copy, self._figures
        rows: list[Rows] = [copy.get(place, NO_ROWS) for place in places]
        nulls = 0 if are_plain else places.count(NULL_KEY)
        figures.rows += len(keys)
        figures.null_keys += nulls
        figures.hits += len(keys) - nulls
        figures.misses += rows.count(NO_ROWS) - nulls
        return rows

    def statistics(self) -> LookupStatistics:
        """Return the present figures."""
        return self._figures.told(len(self._copy), age=self._clock() - self._read_at)

    async def _read(self) -> None:
        """Read the table, and swap the copy for what was read."""
        begun, figures = self._clock(), self._figures
        figures.requests += 1
        rows_of: dict[Any, list[Any]] = {}
        rows = self._table.load_all()
        try:
            async for key, row in rows:
                place = key if type(key) in PLAIN_KEYS else place_of(key)
                if place is not NULL_KEY:
                    rows_of.setdefault(place, []).append(row)
        except Exception:  # counted here, and told by whoever reads
            figures.failed_requests += 1
            raise
        finally:
            with anyio.CancelScope(shield=True):
                await close_source(rows)
        self._copy = {place: tuple(rows) for place, rows in rows_of.items()}
        self._read_at = begun
        figures.answered(len(rows_of), self._clock() - begun)

    async def _reload(self, seconds: float) -> None:
        with self._scope:
            while True:
                await anyio.sleep(seconds)
                self._figures.refreshes += 1
                try:
                    await self._read()
                except BaseException as error:
                    reraise_fatal(error)
                    if is_own_cancellation(error):
                        raise
                    self._trouble = error  # The old copy stays; `_rows` tells when it is too old.
                else:
                    self._trouble = None
