"""Calls that the rows of a host share by their values, and what is kept of what these give."""

import asyncio
from collections.abc import Iterator
from contextvars import copy_context
from typing import Any

import pyarrow as pa
from msgspec import Struct

from asyncwait.backends.spark.frame._cache import asked_by_rows
from asyncwait.backends.spark.frame._rows import Around, InputRow
from asyncwait.spec import Cache
from asyncwait.toolkit import NULL_KEY, Gate, Store, run_hook, stand_in

_NO_BATCH = pa.RecordBatch.from_pydict({})


class _Call(Struct, eq=False):
    """A call that rows share.

    Args:
        task: in which it runs.
        waiting: rows that wait for it.
        is_ahead: whether it goes on though nobody does.
    """

    task: asyncio.Task[Any]
    waiting: int = 0
    is_ahead: bool = False


class LimitedLoads(Around):
    """A function of rows whose calls have permits of a gate of its own; on asyncio.

    Args:
        of_rows: the function.
        gate: the gate.
    """

    def __init__(self, of_rows: Any, gate: Gate) -> None:
        super().__init__(of_rows)
        self._gate = gate
        self._time: asyncio.Task[None] | None = None
        self._close = getattr(of_rows, "close", None)
        self.close = self._end

    async def __call__(self, row: InputRow) -> Any:
        if self._time is None:
            self._time = asyncio.create_task(self._gate.keep_time())
        return await self._gate.further(self._of_rows, row)

    async def _end(self) -> None:
        self._gate.close()
        if self._time is not None:
            await self._time
        self._gate.forget()
        await run_hook(self._close)


class SharedCalls(Around):
    """The function of rows, called once for all that have one key at the same time.

    Each row waits in a call of its own, so it may leave, at its deadline or when no visit wants it
    any more; whoever leaves last has the shared call cancelled. What is kept, and for how long, is
    as in the area CACHE.

    Args:
        of_rows: what is called; never with one of the rows, which what is kept would hold.
        cache: how they are kept.
        many: whether a call gives any number of them, which are made while they are read.
    """

    def __init__(self, of_rows: Any, cache: Cache, *, many: bool) -> None:
        super().__init__(of_rows)
        self._key: Any = asked_by_rows(cache).key
        self._store = Store(cache)
        self._many = many
        self._clock = asyncio.get_running_loop().time
        self._opened = copy_context()
        self._by_key: dict[Any, _Call] = {}
        """Those that others may join."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._close = getattr(of_rows, "close", None)
        self.close = self._end

    async def __call__(self, row: InputRow) -> Any:
        place = stand_in(self._key(row))
        if place is NULL_KEY:
            return await self._of_rows(row)
        kept, now = self._store.entries.get(place), self._clock()
        if kept is None or now >= kept.good_until:
            return await self._shared(place, row)
        if now >= kept.refresh_from and place not in self._by_key:
            self._store.refreshing(place)
            self._begin(place, row).is_ahead = True
        return self._as_given(kept.results)

    async def _shared(self, place: Any, row: InputRow) -> Any:
        """Wait for a call that somebody has begun, or begin one; what it comes to."""
        call = self._by_key.get(place) or self._begin(place, row)
        call.waiting += 1
        try:
            await asyncio.wait((call.task,))
        finally:
            call.waiting -= 1
            if not (call.waiting or call.is_ahead or call.task.done()):
                self._forget(place, call)  # Who asks now does not wait for its clean-up.
                call.task.cancel()
        if not call.task.cancelled() and call.task.exception() is not None:
            stale = self._store.stale(place, self._clock())
            if stale is not None:
                return self._as_given(stale)
        return call.task.result()

    def _begin(self, place: Any, row: InputRow) -> _Call:
        task = asyncio.get_running_loop().create_task(
            self._call(place, row), context=self._opened.copy()
        )
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        call = self._by_key[place] = _Call(task)
        return call

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # Nobody may have waited for it.

    async def _call(self, place: Any, row: InputRow) -> Any:
        """Call, and keep what comes of it, unless a later call has begun meanwhile."""
        call, asked_at = self._by_key[place], self._clock()
        try:
            given = await self._of_rows(InputRow(row.value, _NO_BATCH, 0, str))
            if self._many and not isinstance(given, Iterator):
                return given  # It is no collection; each row is told so.
            results = tuple(given) if self._many else (given,)
            if self._by_key.get(place) is call:
                self._store.put(place, results, asked_at, self._clock())
            return self._as_given(results)
        finally:
            self._forget(place, call)

    def _as_given(self, results: tuple[Any, ...]) -> Any:
        return results if self._many else results[0]

    def _forget(self, place: Any, call: _Call) -> None:
        if self._by_key.get(place) is call:
            del self._by_key[place]

    async def _end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await run_hook(self._close)
