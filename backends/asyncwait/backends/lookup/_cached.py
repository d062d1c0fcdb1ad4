"""Lookups of keys: cached rows answer at once, and each missing key has one request."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import anyio
import anyio.lowlevel

from asyncwait.backends.lookup._loads import Loads
from asyncwait.backends.lookup._requests import KeyRequests, Policy
from asyncwait.backends.lookup._table import (
    NO_ROWS,
    Figures,
    LookupStatistics,
    OpenTable,
    Outcome,
    Rows,
    Table,
    close_behind,
    place_of,
    places_of,
    require_keys,
    rows_with,
    table_closed,
)
from asyncwait.toolkit import NULL_KEY, PLAIN_KEYS, JoinableTasks, Store, running_loop


class Cached(OpenTable):
    """A table with an optional cache; all lookups of a key share one request for it.

    Args:
        table: opened by `open`, closed by `close`.
        store: its cached rows; an earlier lookup of the same table may have filled it.
        policy: deadline, retries and batches of its requests.
    """

    def __init__(self, table: Table, store: Store, policy: Policy) -> None:
        self._table = table
        self._policy = policy
        self._back_offs = policy.back_offs()
        self.figures = Figures()
        self._store = store
        self._entries = self._store.entries
        self.is_last: Callable[[], bool] = lambda: False
        """Returns whether no further key will be requested before answers come; set it before
        `open`.
        """

    async def open(self) -> None:
        """Open the table, and a task group until `close`."""
        await self._table.open()
        loop = running_loop()
        self._clock = loop.time
        self._group = JoinableTasks(await anyio.create_task_group().__aenter__())
        self._loads = Loads(
            self._table,
            loop,
            self._group,
            self.figures,
            self._store.put,
            batch=self._policy.batch,
            is_last=self.is_last,
        )

    async def close(self, error: BaseException | None = None) -> None:
        """End the running loads, wait for them, and close the table; no lookup begins meanwhile.

        Args:
            error: with which it is left; an error of closing becomes a note on it.
        """
        self._loads.close()
        self._entries = {}  # so that `peek` finds nothing, and no hit costs a look at `closed`
        await close_behind(self._group, self._table, error)

    def hurry(self) -> None:
        self._loads.hurry()

    def peek(self, key: Any) -> Rows | None:
        """Return the rows of a cached key, or of a key that no table can have."""
        place = key if type(key) in PLAIN_KEYS else place_of(key)
        figures = self.figures
        try:
            entry = self._entries[place]
        except KeyError:
            self._loads.require_open()
            if place is not NULL_KEY:
                return None
            figures.rows += 1
            figures.null_keys += 1
            return NO_ROWS
        now = self._clock()
        if entry.good_until <= now:
            return None
        if entry.refresh_from <= now:
            self._refresh({place: key})
        figures.rows += 1
        figures.hits += 1
        if not entry.results:
            figures.misses += 1
        return entry.results

    async def get_many(self, keys: Sequence[Any]) -> list[Rows]:
        """Return the rows of each key; the failure of any key is raised at once."""
        rows: list[Any] = await self._look_up(require_keys(keys), at_once=True)
        return rows

    async def outcomes(
        self, keys: Sequence[Any], times: Sequence[int] | None = None
    ) -> list[Outcome]:
        """Return the rows of each key, or its failure after all retries.

        Args:
            keys: may repeat, unless `times` is set.
            times: number of rows with each key; None for one.

        Raises:
            CallFailed: a key can't be hashed, or compared with itself.
            RuntimeError: the table is closed.
        """
        return await self._look_up(keys, times, at_once=False)

    async def _look_up(
        self, keys: Sequence[Any], times: Sequence[int] | None = None, *, at_once: bool
    ) -> list[Outcome]:
        if self._loads.closed.is_set():
            await anyio.lowlevel.checkpoint()  # for a caller that retries forever
            raise table_closed()
        places = places_of(keys)
        found, missing = self._find(dict(zip(places, keys, strict=True)))
        nulls = rows_with(NULL_KEY, places, times) if NULL_KEY in found else 0
        looked_up = len(keys) if times is None else sum(times)
        rows_of = _rows_of(places, times) if missing else {}
        asked = sum(map(rows_of.__getitem__, missing))
        figures = self.figures
        figures.rows += looked_up
        figures.null_keys += nulls
        figures.hits += looked_up - nulls - asked
        if missing:
            requests = KeyRequests(
                missing, rows_of, self._loads, self._store, figures, at_once=at_once
            )
            figures.in_flight += asked
            try:
                await requests.run(self._policy, self._back_offs, self._clock)
            finally:
                figures.in_flight -= asked
            found |= requests.found
        outcomes = [found[place] for place in places]
        figures.misses += rows_with(NO_ROWS, outcomes, times) - nulls
        return outcomes

    def statistics(self) -> LookupStatistics:
        return self.figures.told(len(self._store.entries), self._store.evictions)

    def _find(self, distinct: dict[Any, Any]) -> tuple[dict[Any, Outcome], dict[Any, Any]]:
        """Return the cached rows, and all other keys, by stand-in; one access for each."""
        found: dict[Any, Outcome] = {}
        if distinct.pop(NULL_KEY, NULL_KEY) is not NULL_KEY:
            found[NULL_KEY] = NO_ROWS
        missing: dict[Any, Any] = {}
        ageing: dict[Any, Any] = {}
        entries, now = self._entries, self._clock()
        for place, key in distinct.items():
            try:
                entry = entries[place]
            except KeyError:
                missing[place] = key
                continue
            if entry.good_until <= now:
                missing[place] = key
                continue
            if entry.refresh_from <= now:
                ageing[place] = key
            found[place] = entry.results
        if ageing:
            self._refresh(ageing)
        return found, missing

    def _refresh(self, ageing: dict[Any, Any]) -> None:
        for place in ageing:
            self._store.refreshing(place)
        asked = {place: key for place, key in ageing.items() if place not in self._loads.by_key}
        if asked:
            self.figures.refreshes += len(asked)
            self._loads.begin(asked, background=True)


def _rows_of(places: Sequence[Any], times: Sequence[int] | None) -> dict[Any, int]:
    if times is None:
        return Counter(places)
    rows_of = Counter[Any]()
    for place, count in zip(places, times, strict=True):
        rows_of[place] += count
    return rows_of
