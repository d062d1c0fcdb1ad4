"""Calls that the rows of a host share by their values, and the cache of their results."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

import anyio

from asyncwait.backends.lookup._loads import Load, Loads
from asyncwait.backends.lookup._table import Figures, table_closed
from asyncwait.backends.spark.frame._cache import NO_ROW, keyed_by_rows
from asyncwait.backends.spark.frame._rows import Around, InputRow, RowRecord
from asyncwait.spec import Cache
from asyncwait.toolkit import (
    NULL_KEY,
    Gate,
    JoinableTasks,
    Store,
    collect_results,
    run_hook,
    running_loop,
    stand_in,
)


class SharedCalls(Around):
    """The function of rows, called once for all rows with one key at the same time.

    It is a table with the keys of the cache, so that rows share calls as lookups share
    requests. Each row waits in a call of its own, and may leave at its deadline, or when no visit
    wants it; the last row that leaves cancels the shared call. The rules of the area CACHE say how
    long results are cached.

    Args:
        of_rows: the function; it never gets one of the rows, which a cached result would hold.
        many: whether a call returns any number of results, made while they are read.
        gate: the limits of the calls: each call waits for its permit, and no row; None for none.
    """

    def __init__(self, of_rows: Any, cache: Cache, *, many: bool, gate: Gate | None) -> None:
        super().__init__(of_rows)
        self._call = of_rows if gate is None else partial(gate.further, of_rows)
        self._gate = gate
        self._key: Any = keyed_by_rows(cache).key
        self._store = Store(cache)
        self._many = many
        self._values: dict[Any, Any] = {}
        """The arguments of the calls, by stand-in of their keys."""
        self._hooks = [getattr(of_rows, name, None) for name in ("open", "close")]
        self.open, self.close = self._begin, self._end

    async def __call__(self, row: InputRow) -> Any:
        place = stand_in(key := self._key(row))
        if place is NULL_KEY:
            return await self._call(row)
        kept, now = self._store.entries.get(place), self._clock()
        if kept is None or now >= kept.good_until:
            return await self._shared(place, key, row)
        if now >= kept.refresh_from:
            self._store.refreshing(place)
            self._load(place, key, row, background=True)
        return self._as_returned(kept.results)

    async def _shared(self, place: Any, key: Any, row: InputRow) -> Any:
        load = self._load(place, key, row)
        await self._loads.wait_for({load})
        if load.answers is None:
            raise table_closed()
        found: Any = load.answers[place]
        if isinstance(found, Exception):
            stale = self._store.stale(place, self._clock())
            if stale is None:
                raise found
            found = stale
        return self._as_returned(found)

    def _load(self, place: Any, key: Any, row: InputRow, *, background: bool = False) -> Load:
        """Return the load of a key; begin it unless it runs."""
        if place not in self._loads.by_key:
            self._values[place] = row.value
            self._loads.begin({place: key}, background=background)
        return self._loads.by_key[place]

    async def get_many(self, keys: Sequence[Any]) -> dict[Any, Sequence[Any]]:
        """Call the function for the one key of a load; see `asyncwait.backends.lookup.Table`."""
        (key,) = keys
        row = InputRow(self._values.pop(stand_in(key)), NO_ROW.batch, 0, str)
        returned = await self._call(row)
        return {key: collect_results(RowRecord(row), returned) if self._many else (returned,)}

    def _as_returned(self, results: tuple[Any, ...]) -> Any:
        return results if self._many else results[0]

    async def _begin(self) -> None:
        await run_hook(self._hooks[0])
        loop = running_loop()
        self._clock = loop.time
        self._group = JoinableTasks(await anyio.create_task_group().__aenter__())
        keep, figures = self._store.put, Figures()
        tasks: Any = (self, loop, self._group, figures, keep)
        self._loads = Loads(*tasks, batch=None, is_last=lambda: False)
        if self._gate is not None:
            self._time = asyncio.create_task(self._gate.keep_time())

    async def _end(self) -> None:
        self._loads.close()
        reason = await self._group.join()
        if self._gate is not None:
            self._gate.close()
            await self._time
            self._gate.forget()
        await run_hook(self._hooks[1])
        if reason is not None:
            raise reason
