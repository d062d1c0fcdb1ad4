"""Workers that call the function once for all records of a key, and hits, which need no worker."""

import asyncio
import inspect
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from contextvars import Context
from functools import partial
from math import inf
from types import CoroutineType, SimpleNamespace
from typing import Any

from asyncwait.backends.pool._crew import Crew, Worker, holders
from asyncwait.backends.pool._load import Load, results_of_load
from asyncwait.backends.pool._order import Entry
from asyncwait.spec import Cache
from asyncwait.toolkit import (
    NULL_KEY,
    PLAIN_KEYS,
    Store,
    failure_of,
    is_own_cancellation,
    not_awaitable,
    raise_self_cancellation,
    reraise_fatal,
    running_loop,
    stand_in,
)

_AT_ONCE: Any = SimpleNamespace(scope=None, lingers=False)
"""Stands for the worker of a call that ends in the step in which it begins."""

_INCOMPARABLE = suppress(Exception)
"""For what keys raise when they are compared with others of the same hash."""


def _isolated(key: Callable[[Any], Any], opened: Context) -> Callable[[Any], Any]:
    """Return what `isolated` does, in a third of the time."""
    copy = opened.copy
    return lambda value: copy().run(key, value)


def _again(key: Any, error: BaseException | None, _: Any) -> Any:
    """Tell once more what a key function has told."""
    if error is not None:
        raise error
    return key


class CacheCrew(Crew):
    """Has records with one key share calls, and gives what was kept without a call.

    Whoever admits records asks for them at once, up to the first that needs a load. The worker that
    begins it sends for another one, which asks for those behind in a step of its own: what blocks
    the loop in a call is no time of a record that waits behind it.
    """

    def __init__(self, *common: Any, cache: Cache, store: Store | None) -> None:
        super().__init__(*common)
        self._key = None if cache.key is None else _isolated(cache.key, self._opened)
        self._store = Store(cache) if store is None else store
        self._figures = self._core.cached
        self._loading: dict[Any, Load] = {}
        """The load of each key, by stand-in."""
        self._queue: deque[Load] = deque()
        """Loads that wait for a worker."""
        self._is_asking = False
        self._asked: Callable[[Any], Any] | None = None
        """Tells the key of the value that asks next, where it has been asked."""
        if self._core.single and self._sweep.is_light:
            self._core.kept_for = self._kept_for

    def wake_worker(self) -> None:
        """Ask for those that wait, and see to it that a worker is on its way for the rest."""
        if self._on_their_way or self._is_asking or self._core.closed:
            return
        if not self._queue:
            try:
                self._ask()
            except BaseException:  # It is for the whole program.
                self._core.interrupt()
                raise
        if self._queue:
            super().wake_worker()

    def dismiss(self) -> None:
        """Send all workers home as soon as their calls let them, and begin no load."""
        self._queue.clear()
        self._loading.clear()
        super().dismiss()

    def _has_work(self) -> bool:
        return bool(self._queue) or super()._has_work()

    # Records ask.

    def _ask(self) -> None:
        """Ask for those that wait, up to one that needs a load, which is put into the queue."""
        core, goes_on = self._core, True
        self._is_asking = True
        try:
            while goes_on and core.pending:
                decided: list[Entry] = []
                goes_on = self._ask_for_all(decided)
                if decided and not core.closed:
                    core.count_decided(decided)
        finally:
            self._is_asking = False

    def _ask_for_all(self, decided: list[Entry]) -> bool:
        """Ask for those that wait; return whether it came to their end.

        Args:
            decided: where entries go that have their results, and are to be counted.
        """
        core, sweep, clock, key_of = self._core, self._sweep, self._clock, self._key
        pending, called, figures = core.pending, core.called, self._figures
        is_light, has_deadlines, kept_for = sweep.is_light, sweep.has_deadlines, self._store.entries
        in_bulk, asked, self._asked = core.decides_in_bulk, self._asked, None
        while pending:
            entry = pending.popleft()
            if is_light and entry.started is None:  # It is written out what `begin` does there.
                entry.started = now = clock()
                entry.attempts = 1
                core.calls += 1
                called.append(entry)
                if has_deadlines and core.due == inf:
                    sweep.expect(now)
            elif sweep.begin(entry):
                now = clock()
            else:
                continue
            try:
                if asked is not None:
                    ask, asked = asked, None
                    key = ask(entry.value)
                else:
                    key = entry.value if key_of is None else key_of(entry.value)
                place = key if type(key) in PLAIN_KEYS else stand_in(key)
                try:
                    kept = kept_for[place]
                except KeyError:
                    kept = None
            except BaseException as error:
                self._has_no_key(entry, error)
                continue
            if key_of is not None:
                now = clock()
            if kept is None or now >= kept.good_until:
                if self._needs_load(entry, place):
                    return False
                continue
            figures.hits += 1
            if now >= kept.refresh_from:
                kept.refresh_from = inf  # once in its life
                self._refresh(place, entry.value)
            if is_light and now <= core.due and in_bulk and kept.results:
                entry.results = kept.results  # What follows comes to the same.
                decided.append(entry)
            else:
                entry.worker = _AT_ONCE
                if not (sweep.watches and sweep.expire_due(entry, now, _AT_ONCE)):
                    core.on_results(entry, kept.results)
        return True

    def _kept_for(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return what is kept for the first of some values, which none that wait stand before.

        The one that stops it, as it takes more than a look, asks as all others do; its key is
        known then.
        """
        kept_for, key_of, clock = self._store.entries, self._key, self._clock
        results: list[Any] = []
        key, error, is_known, now = None, None, False, clock()
        try:
            for value in values if now <= self._core.due else ():
                key, is_known = value, False
                if key_of is not None:
                    key = key_of(value)
                    is_known, now = True, clock()
                place = key if type(key) in PLAIN_KEYS else stand_in(key)
                kept = kept_for[place]
                if now >= kept.good_until or now >= kept.refresh_from:
                    break
                results.append(kept.results[0])
            else:
                key_of = None
        except BaseException as raised:
            reraise_fatal(raised)
            error = None if is_known else raised
        if key_of is not None:
            self._asked = partial(_again, key, error)
        self._figures.hits += len(results)
        return results

    def _has_no_key(self, entry: Entry, error: BaseException) -> None:
        """Fail an attempt as if its call had raised what its key has (CACHE-1)."""
        reraise_fatal(error)
        self._figures.null_keys += 1
        entry.worker = _AT_ONCE
        if not (self._sweep.watches and self._sweep.expire_due(entry, None, _AT_ONCE)):
            self._core.call_raised(entry, error)

    def _needs_load(self, entry: Entry, place: Any) -> bool:
        """Have a record wait for the load of its key; tell whether that is a new one."""
        load = Load(place, entry.value, self._close)
        if place is NULL_KEY:
            self._figures.null_keys += 1
        else:
            try:
                running = self._loading.get(place)
                if running is not None and running.is_open:
                    self._figures.shared += 1
                    running.join(entry)
                    return False
                self._loading[place] = load
            except Exception as error:  # of a comparison
                self._has_no_key(entry, error)
                return False
            self._figures.loads += 1
        load.join(entry)
        self._queue.append(load)
        return True

    def _refresh(self, place: Any, value: Any) -> None:
        """Have a key loaded that nobody waits for, unless it is already."""
        if place not in self._loading:
            load = self._loading[place] = Load(place, value, self._close, in_background=True)
            self._figures.refreshes += 1
            self._queue.append(load)

    def _close(self, load: Load) -> None:
        """Let nobody join a load any more."""
        if load.is_open:
            load.is_open = False
            with _INCOMPARABLE:  # Nobody joins it all the same, and the next one takes its place.
                self._loading.pop(load.place, None)

    # Loads run.

    async def _run_calls(self, worker: Worker) -> None:
        task = asyncio.current_task() if running_loop().call_at is not None else object()
        held = holders(task)
        while not self._core.closed:
            load = self._next()
            if load is None:
                if await self._park(worker):
                    continue
                return
            if self._core.pending or self._queue:
                super().wake_worker()
            await self._run(worker, load)
            if worker.since is not None:
                self._has_called(worker)
            if worker.is_marked() or holders(task) > held:
                return

    def _next(self) -> Load | None:
        """Return the load to begin now; None if nobody needs one."""
        while True:
            while self._queue:
                load = self._queue.popleft()
                if load.is_wanted:
                    return load
            if not self._core.pending:
                return None
            self._ask()

    async def _run(self, worker: Worker, load: Load) -> None:
        """Call the function, and give what that comes to, to all that wait for it."""
        load.worker = worker
        worker.entry = load.entry = load
        load.began = self._clock()
        outcome: Any
        try:
            call = self._function(load.value)
            if type(call) is not CoroutineType and not inspect.isawaitable(call):
                raise not_awaitable(call)
            returned = await call
            if worker.cancelling():
                await raise_self_cancellation(worker.scope)
            ended_at = self._clock()
            outcome = results_of_load(load, returned, single=self._core.single)
        except BaseException as error:
            reraise_fatal(error)
            with suppress(asyncio.CancelledError):
                await raise_self_cancellation(worker.scope)
            if not worker.was_cancelled and is_own_cancellation(error):
                raise
            ended_at, outcome = self._clock(), error
        worker.entry = load.entry = None  # Nobody waits for that any more.
        if not self._core.closed:
            self._settle(load, outcome, ended_at)
        self._sweep.release(load)

    def _settle(self, load: Load, outcome: tuple[Any, ...] | BaseException, at: float) -> None:
        core = self._core
        if not isinstance(outcome, BaseException):
            self._keep(load, outcome, at)
            self._close(load)
            for entry in self._waiting(load, at):
                core.on_results(entry, outcome)
            return
        stale = self._stale(load, at)
        self._close(load)
        for entry in self._waiting(load, at):
            if stale is None:
                core.on_failure(entry, failure_of(core.record(entry), outcome))
            else:
                self._figures.given_stale(begun=load.is_begun_by(entry))
                core.on_results(entry, stale)

    def _waiting(self, load: Load, at: float) -> Iterator[Entry]:
        """Yield those that wait for a load that has ended, and whose time has not."""
        core, sweep = self._core, self._sweep
        for entry in load.entries:
            if core.closed:
                return
            is_open = entry.worker is load and entry.results is None
            if is_open and not (sweep.watches and sweep.expire_due(entry, at, load)):
                yield entry

    def _keep(self, load: Load, results: tuple[Any, ...], now: float) -> None:
        """Keep what a load has given, unless another one may have begun since."""
        if load.is_open and load.place is not NULL_KEY:
            before = self._store.evictions
            with _INCOMPARABLE:  # Such a key is not kept.
                self._store.put(load.place, results, load.began, now)
            self._figures.evictions += self._store.evictions - before

    def _stale(self, load: Load, now: float) -> tuple[Any, ...] | None:
        """Return what may be given although a load has failed."""
        with _INCOMPARABLE:
            return self._store.stale(load.place, now)
        return None
