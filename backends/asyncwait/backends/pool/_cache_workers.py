"""Workers that call the function once for all records of a key; cache hits need no worker."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from asyncwait.backends.pool._load import Load, results_of_load
from asyncwait.backends.pool._lookups import Lookups
from asyncwait.backends.pool._order import Entry
from asyncwait.backends.pool._workers import Worker, holders
from asyncwait.spec.texts import shown
from asyncwait.toolkit import (
    awaited,
    failure_of,
    is_own_cancellation,
    raise_self_cancellation,
    reraise_fatal,
    running_loop,
)


class CacheWorkers(Lookups):
    """Lets records with one key share calls, and returns cached results without a call.

    The feeder looks admitted records up at once, up to the first that needs a load. The worker that
    begins the load wakes another worker, which looks up the next records in its own step: a call
    that blocks the loop takes no time from the records behind it.
    """

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
            reraise_fatal(error)
            with suppress(asyncio.CancelledError):
                await raise_self_cancellation(worker.scope)
            if worker.was_cancelled:
                self._note_clean_up(shown(load.value), error)
            elif is_own_cancellation(error):
                raise
            self._failed(load, error, self._clock())
        else:
            self._returned(load, results, at)
        self._ended(load)
        self._sweep.release(load)

    def _awaitable(self, value: Any) -> Any:
        return awaited(self._function(value))

    def _returned(self, load: Load, results: tuple[Any, ...], at: float) -> None:
        self._keep(load, results, at)
        for entry in self._those_waiting(load, at):
            self._core.on_results(entry, results)

    def _failed(self, load: Load, error: BaseException, at: float) -> None:
        core, stale = self._core, self._stale(load, at)
        for entry in self._those_waiting(load, at):
            if stale is None:
                core.on_failure(entry, failure_of(core.record(entry), error))
            else:
                self._core.cached.given_stale(begun=load.is_begun_by(entry))
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
