"""Workers that look records up in a cache, and call the function once for all records of a key."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import inf
from types import SimpleNamespace
from typing import Any, ClassVar

from msgspec import Struct

from asyncwait.backends.pool._order import Entry
from asyncwait.backends.pool._workers import Worker, Workers, holders
from asyncwait.spec import AsyncWaitError, InvalidResult, OperatorConfig, OperatorError, Record
from asyncwait.toolkit import (
    NULL_KEY,
    PLAIN_KEYS,
    NoAnswer,
    Permit,
    Store,
    awaited,
    cause_or_self,
    collect_results,
    failure_of,
    raise_self_cancellation,
    reraise_fatal,
    running_loop,
    settled,
    stand_in,
    uncosted,
)


class Load(Struct, eq=False):
    """One call of the function for the records of a key; each record may leave it by itself.

    The load is the worker of the records' entries.

    Args:
        place: the stand-in of the key; `NULL_KEY` for a call that no record shares.
        value: the argument of the function.
        close: called when the last record has left.
        is_ahead: whether it began before a record needed it; it runs on until a record has left.
        is_open: whether other records may join.
        first: the record that began it; None if it runs in the background.
        entries: the records that have joined; some may have left, but few of those are decided.
        staying: number of records that have not left.
        began: when the function was called, in seconds of the loop's clock.
        worker: the worker that runs it.
        entry: the load itself, while the function runs.
        permit: the permit for the call, or the request for one; None without limits, and when the
            call has begun.
    """

    scope: ClassVar[tuple[()]] = ()
    """Not None, because the call can be cancelled."""

    place: Any
    value: Any
    close: "Callable[[Load], object]"
    is_ahead: bool = False
    is_open: bool = True
    first: Entry | None = None
    entries: list[Entry] = []
    most: int = 64
    staying: int = 0
    began: float = 0.0
    worker: Worker | None = None
    entry: "Load | None" = None
    permit: Permit | None = None

    def join(self, entry: Entry) -> None:
        """Add a record that waits for the load."""
        entry.worker = self
        if not (self.entries or self.is_ahead):
            self.first = entry
        if len(self.entries) >= self.most:  # Many records may leave a load that hangs.
            self.entries = [each for each in self.entries if each.results is None]
            self.most = 64 + 2 * len(self.entries)
        self.entries.append(entry)
        self.staying += 1

    def forget(self) -> None:
        """Drop the records, which may have been emitted and refer to the load."""
        self.entries.clear()
        self.value = self.first = None

    @property
    def is_wanted(self) -> bool:
        """True while records wait for the load, or it runs ahead of demand."""
        return self.staying > 0 or (self.is_ahead and not self.entries)

    @property
    def lingers(self) -> bool:
        """Whether a record that left must wait for the load's end before a new call (RETRY-10).

        While other records wait for the load, the record may join again.
        """
        return self.entry is not None and not self.is_wanted

    def cancel(self) -> bool:
        """Remove one record; return whether no record is left, so that the call is cancelled."""
        self.staying -= 1
        if self.is_wanted:
            return False
        self.close(self)
        if self.entry is None:  # The call has not begun, or is over.
            return False
        assert self.worker is not None
        return self.worker.cancel()


def results_of_load(load: Load, returned: Any, *, single: bool) -> tuple[Any, ...]:
    """Return the results of a call.

    Args:
        load: the load of the call.
        returned: the return value of the function.
        single: whether `returned` is the one result, and no collection.

    Raises:
        NoAnswer: `returned` is no collection.
        WrongFunction: `returned` is unfinished work.
        BaseException: the error of reading `returned`.
    """
    if single:
        return (settled("fn", uncosted(returned)),)
    try:
        return collect_results(Record(load.value), returned)
    except InvalidResult as error:  # its record represents all records of the load
        raise NoAnswer(error.reason) from None
    except OperatorError as error:
        raise cause_or_self(error) from None


_AT_ONCE: Any = SimpleNamespace(scope=None, lingers=False)
"""Worker of a call that ends in the step in which it begins."""


def _again(key: Any, error: BaseException | None, _: Any) -> Any:
    if error is not None:
        raise error
    return key


class CacheWorkers(Workers):
    """Looks the key of each record up in the cache, and lets records with one key share a call.

    The feeder looks admitted records up at once, in their order, up to the first that needs a load.
    The worker that begins the load wakes another worker, which looks up the next records in its own
    step: a call that blocks the loop takes no time from the records behind it.

    Args:
        common: see `Workers`.
        config: configuration of the operator.
        store: the store of results; None for a new one.
    """

    def __init__(self, *common: Any, config: OperatorConfig, store: Store | None) -> None:
        super().__init__(*common)
        cache = config.cache
        assert cache is not None
        if self._limited is not None:
            self._limited.forget = self._leave
            self._limited.about = lambda: [e for load in self._queue for e in load.entries]
        key, copy = cache.key, self._opened.copy
        self._key = None if key is None else lambda value: copy().run(key, value)
        """The same as `isolated`, in a third of the time."""
        self._store = Store(cache) if store is None else store
        self._figures = self._core.cached
        self._loading: dict[Any, Load] = {}
        """The load of each key, by stand-in."""
        self._queue: deque[Load] = deque()
        """Loads that have not begun."""
        self._most, self._running = config.capacity, 0
        """Largest number of running and queued calls at which a refresh may begin."""
        self._ending: list[Load] = []
        """Cancelled loads that still run."""
        self._is_busy = False
        """Whether `_look_up` runs, which also handles records that arrive meanwhile."""
        self._asked: Callable[[Any], Any] | None = None
        """Returns the key of the next value, if `_kept_for` has computed it."""
        if self._core.single and self._sweep.is_light:
            self._core.kept_for = self._kept_for

    def _look_up(self) -> None:
        """Look up the waiting records, up to the first that needs a load, which joins the queue."""
        self._is_busy, core, goes_on = True, self._core, True
        try:
            while goes_on and core.pending:
                decided: list[Entry] = []
                goes_on = self._look_up_all(decided)
                if decided and not core.closed:
                    core.count_decided(decided)
        finally:
            self._is_busy = False

    def _look_up_all(self, decided: list[Entry]) -> bool:  # noqa: PLR0915 - as in `Core`
        """Look up the waiting records; return whether no record waits afterwards.

        Args:
            decided: receives the entries that have their results, and must be counted.
        """
        core, sweep, clock, key_of = self._core, self._sweep, self._clock, self._key
        pending, called, figures = core.pending, core.called, self._figures
        is_light, has_deadlines, kept_for = sweep.is_light, sweep.has_deadlines, self._store.entries
        waits = self._limited is not None
        in_bulk, asked, self._asked = core.decides_in_bulk, self._asked, None
        while pending:
            entry = pending.popleft()
            if waits:  # The record's call begins with a hit, or with its load.
                if entry.results is not None or (self._ending and self._has_to_linger(entry)):
                    continue
                now = clock()
            elif is_light and entry.started is None:  # As in `begin`, without counting.
                entry.started = now = clock()
                entry.attempts = 1
                called.append(entry)
                if has_deadlines and core.due == inf:
                    sweep.expect(now)
            elif self._ending and self._has_to_linger(entry):
                continue
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
            if waits:
                core.calls_of(entry)
                if not sweep.begin(entry):
                    continue
            figures.hits += 1
            if now >= kept.refresh_from and self._running < self._most:
                kept.refresh_from = inf  # one refresh for each entry
                self._refresh(place, entry.value)
            if is_light:  # a fast path of `else`
                if in_bulk and kept.results and (pending or decided):
                    entry.results = kept.results
                    decided.append(entry)
                else:
                    core.decide(entry, kept.results)
            else:
                entry.worker = _AT_ONCE
                if not (sweep.watches and sweep.is_over(entry, now, _AT_ONCE)):
                    core.on_results(entry, kept.results)
        return True

    def _kept_for(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return the cached results of the first of some values, if no record waits before them.

        The first value without a fresh result ends the search; the usual look-up of this value
        then uses the key that is known.
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

    def _has_to_linger(self, entry: Entry) -> bool:
        """Make a record wait for a call that it has shared and that is cancelled (RETRY-10)."""
        return any(
            entry in load.entries and self._sweep.linger(entry, load) for load in self._ending
        )

    def _has_no_key(self, entry: Entry, error: BaseException) -> None:
        """Fail an attempt because its key raised `error`, as if the call had raised (CACHE-1)."""
        reraise_fatal(error)
        if self._limited is not None and not self._sweep.begin(entry):
            return
        self._figures.null_keys += 1
        entry.worker = _AT_ONCE
        if not (self._sweep.watches and self._sweep.is_over(entry, self._clock(), _AT_ONCE)):
            self._core.call_raised(entry, error)

    def _needs_load(self, entry: Entry, place: Any) -> bool:
        """Make a record wait for the load of its key; return whether the load is new."""
        load = Load(place, entry.value, self._close)
        if place is NULL_KEY:
            self._figures.null_keys += 1
        else:
            running = self._loading.get(place)
            if running is not None and running.is_open:
                has_begun = self._limited is not None and running.entry is not None
                if has_begun and not self._sweep.begin(entry):
                    return False
                self._figures.shared += 1
                running.join(entry)
                return False
            self._loading[place] = load
            self._figures.loads += 1
        load.join(entry)
        self._start(load)
        return self._limited is None or bool(self._queue)

    def _refresh(self, place: Any, value: Any) -> None:
        if place not in self._loading:
            load = self._loading[place] = Load(place, value, self._close, is_ahead=True)
            self._start(load)

    def _start(self, load: Load) -> None:
        self._running += 1
        if self._limited is None or self._limited.is_free(load.value):
            self._queue.append(load)
            return

        def answer(_: Permit, error: AsyncWaitError | None) -> None:
            if error is not None:
                self._refused(load, error)
            else:
                self._queue.append(load)
                self.wake_worker()

        is_retry = any(entry.attempts for entry in load.entries)
        try:
            load.permit = self._limited.gate.ask([load.value], answer, is_retry=is_retry)
        except AsyncWaitError as error:
            self._refused(load, error)
        else:
            if not load.permit.is_waiting:
                self._queue.append(load)

    def _refused(self, load: Load, error: AsyncWaitError) -> None:
        """Decide the records of a load that gets no permit; a refresh ends without records."""
        assert self._limited is not None
        entries = [each for each in load.entries if each.worker is load and each.results is None]
        load.permit = None
        self._close(load)
        self._ended(load)
        for entry in entries:
            entry.worker = None
        if entries:
            self._limited.refuse(entries, error)

    def _leave(self, entry: Entry) -> None:
        if isinstance(entry.worker, Load):
            load, entry.worker = entry.worker, None
            load.cancel()

    def _close(self, load: Load) -> None:
        """Close a load that is over or cancelled, so that no record joins it."""
        if load.is_open:
            load.is_open = False
            if load.entry is not None:
                self._ending.append(load)
            self._loading.pop(load.place, None)
            if load.permit is not None and load.permit.is_waiting:
                self._give_back(load)
                self._ended(load)

    def _give_back(self, load: Load) -> None:
        permit, load.permit = load.permit, None
        if permit is not None and self._limited is not None:
            self._limited.gate.give_back(permit)

    def _ended(self, load: Load) -> None:
        """Note that the call of a load has ended."""
        if load in self._ending:
            self._ending.remove(load)
        self._running -= 1
        load.forget()

    def _forget(self) -> None:
        """Let no load begin, and no record join a load."""
        for load in self._queue:
            self._give_back(load)
        self._queue.clear()
        self._loading.clear()

    def _next_load(self) -> Load | None:
        """Return a load to begin now; None if no record needs one."""
        while True:
            while self._queue:
                load = self._queue.popleft()
                if load.is_wanted:
                    self._figures.refreshes += load.is_ahead
                    return load
                self._give_back(load)
                self._running -= 1
                load.forget()
            if not self._core.pending:
                return None
            self._look_up()

    # Calls.

    def wake_worker(self) -> None:
        """Look up the waiting records, and wake a worker if a load is to begin."""
        if self._on_their_way or self._is_busy or self._core.closed:
            return
        if not self._queue:
            try:
                self._look_up()
            except BaseException:  # The error is for the whole program.
                self._core.interrupt()
                raise
        if self._queue:
            super().wake_worker()

    def dismiss(self) -> None:
        """End all workers as soon as their calls have ended, and begin no load."""
        self._forget()
        super().dismiss()

    def _has_work(self) -> bool:
        return bool(self._queue) or super()._has_work()

    async def _run_calls(self, worker: Worker) -> None:
        task = asyncio.current_task() if running_loop().call_at is not None else object()
        held = holders(task)
        while not self._core.closed:
            load = self._next_load()
            if load is None:
                if self._core.closed:  # A worker that rests now never wakes.
                    return
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

    async def _run(self, worker: Worker, load: Load) -> None:
        load.worker = worker
        worker.entry = load.entry = load
        load.began = self._clock()
        permit, load.permit = load.permit, None
        if self._limited is not None:
            for entry in [*load.entries]:  # The records that waited for the permit.
                if entry.worker is load and entry.results is None:
                    self._core.calls_of(entry)
                    self._sweep.begin(entry)
        try:
            if permit is None or self._limited is None:
                returned = await self._awaitable(load.value)
            else:
                returned = await self._limited.call(permit, self._awaitable, load.value)
            if worker.cancelling():
                await raise_self_cancellation(worker.scope)
            at = self._clock()
            results = results_of_load(load, returned, single=self._core.single)
        except BaseException as error:
            await self._is_outcome(worker, error, load.value)
            self._failed(load, error, self._clock())
        else:
            self._returned(load, results, at)
        self._ended(load)
        self._sweep.release(load)

    def _awaitable(self, value: Any) -> Any:
        return awaited(self._function(value))

    def _returned(self, load: Load, results: tuple[Any, ...], at: float) -> None:
        """Give results to the records of a load; cache them, unless a newer load may have begun."""
        if load.is_open and load.place is not NULL_KEY and not self._core.closed:
            before = self._store.evictions
            self._store.put(load.place, results, load.began, at)
            self._figures.evictions += self._store.evictions - before
        for entry in self._those_waiting(load, at):
            self._core.on_results(entry, results)

    def _failed(self, load: Load, error: BaseException, at: float) -> None:
        core, stale = self._core, self._store.stale(load.place, at)
        for entry in self._those_waiting(load, at):
            if stale is None:
                core.on_failure(entry, failure_of(core.record(entry), error))
            else:
                self._core.cached.given_stale(begun=load.first is entry)
                core.on_results(entry, stale)

    def _those_waiting(self, load: Load, at: float) -> Iterator[Entry]:
        """Note that a call has ended; yield the waiting records that are not late."""
        core, sweep = self._core, self._sweep
        assert load.worker is not None
        load.worker.entry = load.entry = None  # The call has ended: it can't be cancelled any more.
        load.worker = None
        self._close(load)
        for entry in load.entries:
            if core.closed:
                return
            is_open = entry.worker is load and entry.results is None
            if is_open and not (sweep.watches and sweep.is_over(entry, at, load)):
                yield entry
