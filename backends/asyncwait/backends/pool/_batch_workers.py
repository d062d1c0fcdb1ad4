"""Batched calls: the records that gather, the start of a batch, and the workers of its call."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from math import inf
from typing import Any

import anyio

from asyncwait.backends.pool._core import Core
from asyncwait.backends.pool._order import Entry
from asyncwait.backends.pool._workers import Worker, Workers, holders
from asyncwait.spec import AsyncWaitError, Batch, OperatorConfig
from asyncwait.toolkit import (
    Bell,
    Permit,
    answers_of,
    awaited,
    failure_of,
    is_holder,
    is_result,
    is_value,
    raise_self_cancellation,
    reraise_fatal,
    running_loop,
    uncosted,
)


class BatchWorker(Worker):
    """Runs one call for several records, which may leave it one by one.

    The call counts among the calls in flight while one of its records waits for it.
    """

    __slots__ = ("entries", "free", "permit", "staying")

    def __init__(self) -> None:
        super().__init__()
        self.entries: Sequence[Entry] = ()
        self.staying = 0
        """Number of its records that wait for the call."""
        self.permit: Permit | None = None
        """The permit of the batch that is about to begin."""
        self.free: Callable[[], object] = lambda: None
        """Called when no record waits for the call any more, while it runs."""

    @property
    def lingers(self) -> bool:
        """Whether a record that left must wait for the call's end before a new call (RETRY-10)."""
        return self.entry is not None

    def cancel(self) -> bool:
        """Remove one record; return whether no record is left, so that the call is cancelled."""
        self.staying -= 1
        if self.staying == 0:
            self.free()
            super().cancel()
        return self.was_cancelled


class BatchWorkers(Workers):
    """Calls the function with lists: one call for each worker, at most `in_flight` calls.

    A record is *gathered* from its admission, or the end of its back-off, to its call.
    """

    def __init__(
        self, *common: Any, config: OperatorConfig, copy: Callable[[Any], Any] | None
    ) -> None:
        super().__init__(*common)
        self._permit: Permit | None = None
        """The permit for the next batch, or the request for it."""
        assert config.batch is not None
        self._batch: Batch = config.batch
        self._attempts = 1 if config.retry is None else config.retry.max_attempts
        self._returns = self._attempts > 1 or config.mode == "key-ordered"
        """Whether another call may follow a call, of its record or of a record with its key."""
        self._copy = copy
        self._running = 0
        self._bell = Bell()
        self._timer: anyio.CancelScope | None = None
        self._rung = -inf
        """Last time at which the timer rang, which may be early by a rounding error."""
        self._core.gathers = True
        gathering = Gathering(self._core, self._clock, self._batch.max_size, self.wake_worker)
        self._core.pending = gathering
        self._sweep.forget = gathering.forget
        if self._limited is not None:
            self._limited.forget = gathering.forget

    def wake_worker(self) -> None:
        """Wake a worker for a batch that may go, or set the timer for a batch that waits."""
        if not self._core.pending or self._running + self._on_their_way >= self._batch.in_flight:
            return
        if self._is_due():
            if self._has_permit():
                super().wake_worker()
        elif self._timer is None:
            self._timer = anyio.CancelScope()
            self._group.start_soon(self._keep_time, self._timer)
        else:
            self._bell.ring()

    def _is_due(self) -> bool:
        if self._fill()[1] or self._goes_at() <= max(self._clock(), self._rung):
            return True
        is_idle = not self._running
        return self._core.nothing_is_admitted(is_idle=is_idle) and not self._some_may_come()

    def _some_may_come(self) -> bool:
        """Return whether a called record, or the next record of its key, may join later (BAT-3)."""
        if not self._returns:
            return False
        pending = {*self._core.pending}
        return any(
            entry.results is None
            and (entry.attempts < self._attempts or entry.line)
            and entry not in pending
            for entry in self._core.called
        )

    def _goes_at(self) -> float:
        """Return when the first waiting record must go; infinity if none waits, or none may go."""
        pending: Any = self._core.pending
        waits = self._permit is not None and self._permit.is_waiting
        if not pending or waits or self._running >= self._batch.in_flight:
            return inf
        since: float = pending.since
        return since + self._batch.max_wait

    def _fill(self) -> tuple[int, bool]:
        """Return the number of records that would go now, and whether the batch is full."""
        room, pending = self._batch.max_size, self._core.pending
        if not self._batch.split:
            return min(room, len(pending)), len(pending) >= room
        for number, entry in enumerate(pending):
            room = min(room, entry.room or room)
            if number >= room:
                return number, True
        return len(pending), len(pending) >= room

    async def _keep_time(self, scope: anyio.CancelScope) -> None:
        with scope:
            while not self._core.closed:
                when = self._goes_at()
                with anyio.CancelScope(deadline=when) as nap:
                    await self._bell.wait()
                if nap.cancelled_caught:
                    self._rung = when
                    self.wake_worker()

    def dismiss(self) -> None:
        """End all workers as soon as their calls have ended, and set no timer."""
        self._give_back(self._permit)
        if self._timer is not None:
            self._timer.shield = True
            self._timer.cancel()
        for worker in self._workers:
            if worker.entry is None:
                worker.bell.ring()
            else:
                Worker.cancel(worker)

    def _worker(self) -> Worker:
        return BatchWorker()

    async def _run_calls(self, worker: Worker) -> None:
        assert isinstance(worker, BatchWorker)
        worker.free = self._free
        task = asyncio.current_task() if running_loop().call_at is not None else object()
        held = holders(task)
        while not self._core.closed:
            if self._may_begin():
                values = self._begin(worker)
                self.wake_worker()
                if self._core.closed:  # A missing copy may have failed the operator.
                    self._give_back(worker.permit)
                    return
                if not values:
                    self._give_back(worker.permit)
                    worker.permit = None
                if values and not await self._run_batch(worker, values):
                    return
                if worker.is_marked() or holders(task) > held:
                    return
            else:
                if self._core.pending:
                    self.wake_worker()
                elif self._permit is not None:  # The waiting records were all decided.
                    self._give_back(self._permit)
                    self._permit = None
                if self._core.closed:  # A permit was refused. A resting worker never wakes.
                    return
                if not await self._park(worker):
                    return

    def _give_back(self, permit: Permit | None) -> None:
        if permit is not None and self._limited is not None:
            self._limited.gate.give_back(permit)

    def _may_begin(self) -> bool:
        is_place = self._running < self._batch.in_flight
        return is_place and bool(self._core.pending) and self._is_due() and self._has_permit()

    def _has_permit(self) -> bool:
        """Return whether the next batch may begin; request a missing permit."""
        if self._limited is None:
            return True
        gate, pending = self._limited.gate, self._core.pending
        while self._permit is None:
            if not pending or self._core.closed:
                return False
            values = self._counted(self._next())
            if not values:
                return True
            try:
                is_retry = pending[0].attempts > 0
                self._permit = gate.ask(values, self._answered, is_retry=is_retry)
            except AsyncWaitError as error:
                self._limited.refuse(self._next(), error)
                if self._limited.is_spending:
                    return False
        return not self._permit.is_waiting

    def _answered(self, permit: Permit, error: AsyncWaitError | None) -> None:
        assert self._limited is not None
        if error is not None or not (self._core.pending and self._is_due()):
            self._permit = None
        if error is None and self._permit is None:
            self._give_back(permit)
        if error is not None:
            self._limited.refuse(self._next(), error)
        self.wake_worker()

    def _next(self) -> list[Entry]:
        """Return the records of the next batch: as many as the limits allow for one call."""
        count = self._fill()[0]
        entries = [*islice(self._core.pending, count)]
        if self._limited is None:
            return entries
        costs, permit = self._limited.gate.costs, self._permit
        most = None if permit is None or permit.is_waiting else permit.amounts
        counted = [[e.value] if self._counted([e]) else [] for e in entries]
        return entries[: costs.fitting(counted, most)]

    def _counted(self, entries: Sequence[Entry]) -> list[Any]:
        assert self._limited is not None
        return [e.value for e in entries if not self._limited.is_free(e.value)]

    async def _run_batch(self, worker: BatchWorker, values: list[Any]) -> bool:
        """Make the call of a batch; return whether all its records stayed to the end."""
        self._running += 1
        self._core.batches += 1
        worker.entry = worker.entries[0]
        try:
            await self._call(worker, values)
            return worker.staying == len(values)
        finally:
            worker.entry = None
            worker.entries = ()  # the records may be emitted now
            if worker.staying:
                self._running -= 1

    def _free(self) -> None:
        self._running -= 1
        self.wake_worker()

    def _begin(self, worker: BatchWorker) -> list[Any]:
        """Take the records of one batch, whose call begins in this step; return their values."""
        pending: Any = self._core.pending
        count = len(self._next())
        worker.permit, self._permit = self._permit, None
        entries: list[Entry] = pending.take(count)
        if self._sweep.is_light and not any(each.attempts for each in entries):
            self._begin_first(entries)
        else:
            begun = [each for each in entries if self._sweep.begin(each)]
            # Beginning a record may have passed the deadline of another record.
            entries = [each for each in begun if each.results is None]
        self._bound(entries)
        for entry in entries:
            self._core.calls_of(entry)
            entry.worker = worker
        worker.entries = entries
        worker.staying = len(entries)
        values = self._copies(worker) if self._copy is not None else [e.value for e in entries]
        # The bound stays if the call raises, or passes the limit of its attempt.
        self._bound(worker.entries, len(values))
        return values

    def _begin_first(self, entries: list[Entry]) -> None:
        core, sweep, now = self._core, self._sweep, self._clock()
        for entry in entries:
            entry.started = now
            entry.attempts = 1
        core.calls += len(entries)
        core.called.extend(entries)
        if sweep.has_deadlines and core.due == inf:
            sweep.expect(now)

    def _copies(self, worker: BatchWorker) -> list[Any]:
        """Return copies of the values; a record whose copy fails has failed alone."""
        assert self._copy is not None
        values: list[Any] = []
        entries: list[Entry] = []
        for entry in worker.entries:
            try:
                values.append(self._copy(entry.value))
            except BaseException as error:
                reraise_fatal(error)
                worker.staying -= 1
                self._core.call_raised(entry, error)
            else:
                entries.append(entry)
        worker.entries = entries
        return values

    async def _call(self, worker: BatchWorker, values: list[Any]) -> None:
        has_failed = False
        try:
            if worker.permit is None or self._limited is None:
                returned = await self._awaitable(values)
            else:
                permit, worker.permit = worker.permit, None
                returned = await self._limited.gate.call(permit, self._awaitable, values)
            answers = answers_of(values, uncosted(returned), single=self._core.single)
            if worker.cancelling():
                await raise_self_cancellation(worker.scope)
        except BaseException as error:
            if not await self._is_outcome(worker, error, values):
                return
            answers, has_failed = [error] * len(values), True
        self._settle(worker, answers, has_failed=has_failed)

    def _awaitable(self, values: list[Any]) -> Any:
        return awaited(self._function(list(values)))  # the function may change its list

    def _settle(self, worker: BatchWorker, answers: Iterable[Any], *, has_failed: bool) -> None:
        core, sweep, now = self._core, self._sweep, self._clock()
        entries, worker.entry = worker.entries, None  # No record waits for its call now.
        is_plain = sweep.is_light and core.single and not core.closed
        is_whole = is_plain and worker.staying == len(entries)
        if is_whole and _are_results(answers):
            core.decide_all(entries, answers)  # a fast path of the loop below
            return
        for entry, answer in zip(entries, answers, strict=True):
            if entry.worker is not worker:
                continue
            is_error = isinstance(answer, BaseException)
            if sweep.watches and sweep.is_over(entry, now, worker):
                continue
            if not has_failed:
                self._bound((entry,))
            if not is_error:
                core.settle(entry, answer)
            elif entry.results is None:
                core.on_failure(entry, failure_of(core.record(entry), answer))

    def _bound(self, entries: Sequence[Entry], failed: int = 0) -> None:
        """Bound the number of records in the next calls; the last call is for one record (BAT-14).

        Args:
            entries: the records.
            failed: size of a batch that fails as a whole; 0 for no such batch.
        """
        if self._batch.split:
            room = max(1, failed // 2) if failed else 0
            for entry in entries:
                entry.room = 1 if entry.attempts == self._attempts - 1 else room


def _are_results(answers: Iterable[Any]) -> bool:
    kinds = {*map(type, answers)}
    if any(issubclass(kind, BaseException) or not is_value(kind) for kind in kinds):
        return False
    return not any(map(is_holder, kinds)) or all(map(is_result, answers))


class Gathering(deque[Entry]):
    """Records that wait for their call, with the time since when each record waits.

    Args:
        core: the operator.
        clock: the loop's clock.
        size: largest size of a batch.
        look: called when a batch may go.
    """

    def __init__(
        self, core: Core, clock: Callable[[], float], size: int, look: Callable[[], None]
    ) -> None:
        super().__init__()
        self._core = core
        self._clock = clock
        self._size = size
        self._look = look
        self._since: deque[float] = deque()

    @property
    def since(self) -> float:
        """Time since when the first record waits, in seconds of the loop's clock."""
        return self._since[0]

    def append(self, entry: Entry) -> None:
        """Add a record behind the others."""
        self._since.append(self._clock())
        super().append(entry)
        self._look_at_more()

    def extend(self, entries: Iterable[Entry]) -> None:
        """Add records behind the others."""
        super().extend(entries)
        self._since.extend([self._clock()] * (len(self) - len(self._since)))
        self._look_at_more()

    def _look_at_more(self) -> None:
        """Call `look` if no more records may join; `Core` announces the first record."""
        if len(self) >= self._size or self._core.is_full:
            self._look()

    def take(self, count: int) -> list[Entry]:
        """Take the first `count` records."""
        for _ in range(count):
            self._since.popleft()
        if count == len(self):
            taken = list(self)
            super().clear()
            return taken
        return [self.popleft() for _ in range(count)]

    def forget(self, entry: Entry) -> None:
        """Remove a record that is decided without a call, if it waits here."""
        if entry in self:
            place = self.index(entry)
            del self[place], self._since[place]

    def clear(self) -> None:
        """Remove all records."""
        self._since.clear()
        super().clear()
