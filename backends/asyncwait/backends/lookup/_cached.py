"""Looking keys up: what is kept answers at once, and what is missing is asked for once."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import anyio
import anyio.lowlevel

from asyncwait.backends.lookup._asking import Asking, Policy
from asyncwait.backends.lookup._figures import Figures, LookupStatistics
from asyncwait.backends.lookup._keys import place_of
from asyncwait.backends.lookup._loads import Loads
from asyncwait.backends.lookup._table import NO_ROWS, Rows, Table, close_behind, table_closed
from asyncwait.spec import Cache
from asyncwait.toolkit import NULL_KEY, PLAIN_KEYS, JoinableTasks, Store, running_loop


class Cached:
    """A table with a cache in front, or none, where all who want a key share one request for it.

    Args:
        table: opened by `open`, closed by `close`.
        cache: None for keeping nothing.
        policy: how long and how often it is asked.

    Raises:
        MissingExtra: there is a cache, and cachetools is not installed.
    """

    def __init__(self, table: Table, cache: Cache | None, policy: Policy) -> None:
        self._table = table
        self._policy = policy
        self._figures = Figures()
        self._store = Store(cache)
        self._entries = self._store.entries
        self.is_last: Callable[[], bool] = lambda: False
        """Tells whether no further key will be asked for before there are answers; set it before
        `open`."""

    async def open(self) -> None:
        """Open the table, and a group of tasks round all until `close`."""
        await self._table.open()
        loop = running_loop()
        self._clock = loop.time
        self._group = JoinableTasks(await anyio.create_task_group().__aenter__())
        self._loads = Loads(
            self._table,
            loop,
            self._group,
            self._figures,
            self._store.put,
            batch=self._policy.batch,
            is_last=self.is_last,
        )

    async def close(self) -> None:
        """End what is under way, wait for it, and close the table; no lookup begins meanwhile."""
        self._loads.close()
        self._entries = {}  # so that `peek` finds nothing, and no hit costs a look at `closed`
        await close_behind(self._group, self._table)

    def hurry(self) -> None:
        """Let no key wait for others in vain."""
        self._loads.hurry()

    def peek(self, key: Any) -> Rows | None:
        """Return the rows of a key if that takes no request, else None; only then it is counted.

        Raises:
            CallFailed: `key` can't be hashed, or compared with itself.
            RuntimeError: the table is closed.
        """
        place = key if type(key) in PLAIN_KEYS else place_of(key)
        figures = self._figures
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

    async def get(self, key: Any) -> Rows:
        """Return the rows of a key; see `get_many`."""
        return (await self.get_many([key]))[0]

    async def get_many(self, keys: Sequence[Any]) -> list[Rows]:
        """Return the rows of each key, in their order; the keys may repeat.

        Raises:
            CallFailed: the table has failed for a key, which is named, or `retry` is used up.
            CallTimedOut: it did not answer before the deadline.
            InvalidResult: it gave an answer that is none.
            RuntimeError: the table is closed.
        """
        if self._loads.closed.is_set():
            await anyio.lowlevel.checkpoint()  # for who tries again for ever, and never waits
            raise table_closed()
        are_plain = PLAIN_KEYS.issuperset(map(type, keys))
        places = keys if are_plain else list(map(place_of, keys))
        found, missing = self._find(places, keys)
        figures = self._figures
        nulls = 0 if are_plain else places.count(NULL_KEY)
        figures.rows += len(keys)
        figures.null_keys += nulls
        if not missing:
            figures.hits += len(keys) - nulls
        else:
            times = Counter(places)
            figures.hits += len(keys) - nulls - sum(map(times.__getitem__, missing))
            asking = Asking(missing, times, self._loads, self._store, figures)
            await asking.run(self._policy, self._clock)
            found |= asking.found
        rows = [found[place] for place in places]
        figures.misses += rows.count(NO_ROWS) - nulls
        return rows

    def statistics(self) -> LookupStatistics:
        """Return the present figures."""
        return self._figures.told(len(self._store.entries), self._store.evictions)

    def _find(
        self, places: Sequence[Any], keys: Sequence[Any]
    ) -> tuple[dict[Any, Rows], dict[Any, Any]]:
        """Return what is kept, and the keys of all else, by stand-in; one access for each."""
        distinct = dict(zip(places, keys, strict=True))
        found: dict[Any, Rows] = {}
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
        """Have keys read again in the background, each once in the life of its entry."""
        for place in ageing:
            self._store.refreshing(place)
        asked = {place: key for place, key in ageing.items() if place not in self._loads.by_key}
        if asked:
            self._figures.refreshes += len(asked)
            self._loads.begin(asked, background=True)
