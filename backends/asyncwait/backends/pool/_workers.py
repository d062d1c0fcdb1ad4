"""Workers: long-lived tasks that call the function for admitted records, and file the results."""

import asyncio
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import suppress
from contextvars import Context, copy_context
from math import inf
from types import CoroutineType, NoneType, coroutine
from typing import Any

import anyio

from asyncwait.backends.pool._core import Core
from asyncwait.backends.pool._gated import Gated, Limited
from asyncwait.backends.pool._order import Entry
from asyncwait.backends.pool._timing import Sweep
from asyncwait.spec.limits import NotCalled
from asyncwait.spec.texts import shown
from asyncwait.toolkit import (
    LOG,
    Bell,
    JoinableTasks,
    awaitable_of,
    call_scope,
    driven,
    is_holder,
    is_own_cancellation,
    is_result,
    raise_self_cancellation,
    reraise_fatal,
    running_loop,
    uncosted,
)

_LONG = 0.0005
"""Seconds after which a call counts as long. Shorter calls end before many workers could come."""

_MOST_NOTES = 5
"""Largest number of stored errors of cancelled calls."""

holders: Callable[[object], int] = getattr(sys, "getrefcount", id)
"""Returns the number of references to an object; a constant if Python does not count them."""


class Worker:
    """One task that runs calls, until a call makes it unusable for further calls."""

    __slots__ = ("bell", "cancelling", "entry", "opened", "scope", "since", "was_cancelled")

    def __init__(self) -> None:
        self.opened = copy_context()
        """The context before the first call."""
        self.cancelling = _cancelling()
        """Returns the number of cancellations of the task, as asyncio counts them."""
        self.bell = Bell()
        """Rings when work comes, or when no work will come."""
        self.entry: Any = None
        """The record whose call it runs, or the object that represents several records."""
        self.scope = call_scope()
        """Cancels the call, and with it the worker: a scope serves once."""
        self.since: float | None = None
        """When it began to run, in seconds of the loop's clock, if it has made no call since."""
        self.was_cancelled = False
        """Whether its call was cancelled; reading trio's scope would read the clock."""

    @property
    def lingers(self) -> bool:
        """Whether its record waits for its end before another call begins (RETRY-10)."""
        return self.was_cancelled

    def is_marked(self) -> bool:
        """Return whether the next call would notice the last one, by a context or a cancellation.

        `CoroutineWorkers` has this code written out, because it runs for each record.
        """
        try:
            is_changed = copy_context() != self.opened
        except Exception:  # any error of the comparison: the values differ
            is_changed = True
        return is_changed or self.was_cancelled or self.cancelling() > 0

    def cancel(self) -> bool:
        """Cancel its call; return whether the end of the call must be watched."""
        self.was_cancelled = True
        self.scope.cancel()
        return True


def _cancelling() -> Callable[[], int]:
    task = None if running_loop().call_at is None else asyncio.current_task()
    return int if task is None else task.cancelling


class Workers(ABC):
    """The workers of one operator, started on demand.

    While records are pending, a worker is woken or started. A worker that takes a record wakes
    another one before its call: if the call suspends, the other goes on; if not, the same worker
    takes the next record, and a complete queue of records costs one switch of tasks.

    Args:
        core: the operator.
        group: the task group of the workers.
        sweep: handles the deadlines.
        function: the user's, in the form that the workers call.
        opened: the context in which the operator was opened; each worker begins in a copy.
        limited: the limits of the operator; None for no limits.
    """

    def __init__(  # noqa: PLR0917 - each subclass passes all of them on
        self,
        core: Core,
        group: JoinableTasks,
        sweep: Sweep,
        function: Any,
        opened: Context,
        limited: Limited | None,
    ) -> None:
        self._limited = limited
        self._core = core
        self._group = group
        self._sweep = sweep
        self._function = function
        self._opened = opened
        self._workers: dict[Worker, None] = {}
        self._idle: list[Worker] = []
        self._on_their_way = 0
        """Number of woken or started workers that do not run yet."""
        self._takes_long = False
        """Whether the last measured call took long."""
        self._clock = running_loop().time

    def wake_worker(self) -> None:
        """Ensure that a worker is woken or started."""
        if self._on_their_way or self._core.closed:
            return
        self._on_their_way = 1
        if self._idle:
            self._idle.pop().bell.ring()
        else:
            # The caller may be a call, the source or the consumer.
            _ = self._opened.copy().run(self._group.start_soon, self._work)

    def _arrive(self, worker: Worker) -> None:
        """Note that a worker runs, and wake idle workers for all records if calls take long.

        If one worker woke the next, the last of a hundred would begin a hundred turns of the loop
        later. If calls are short, so many workers would come for nothing.
        """
        self._on_their_way -= 1
        worker.since = self._clock()
        if self._takes_long:
            for _ in range(min(len(self._idle), len(self._core.pending) - 1)):
                self._on_their_way += 1
                self._idle.pop().bell.ring()

    def _has_called(self, worker: Worker) -> None:
        """Note that the first call of a new worker is over, and how long it took."""
        assert worker.since is not None
        self._takes_long = self._clock() - worker.since > _LONG
        worker.since = None

    async def _is_outcome(self, worker: Worker, error: BaseException, value: Any) -> bool:
        """Return whether an error of a call counts; raise an error that is not for the operator.

        The error of a cancelled call is stored: no record and no consumer receives it.
        """
        reraise_fatal(error)
        with suppress(asyncio.CancelledError):
            await raise_self_cancellation(worker.scope)
        if worker.was_cancelled:  # The call's time is over, or the operator is closed.
            if isinstance(error, Exception):
                text = f"the cancelled call for {shown(value)} raised {shown(error)}"
                LOG.warning("%s", text)
                if len(self._core.notes) < _MOST_NOTES:
                    self._core.notes.append(text)
            return False
        if is_own_cancellation(error):
            raise error
        return True

    def dismiss(self) -> None:
        """End all workers: idle workers at once, the others when their calls have ended."""
        for worker in self._workers:
            if worker.entry is None:
                worker.bell.ring()
            else:
                worker.cancel()

    async def _work(self) -> None:
        worker = self._worker()
        self._workers[worker] = None
        self._arrive(worker)
        try:
            with worker.scope:
                await self._run_calls(worker)
        except (anyio.get_cancelled_exc_class(), KeyboardInterrupt, SystemExit):
            self._core.interrupt()  # No other worker begins a call now.
            raise
        finally:
            del self._workers[worker]
        self._sweep.release(worker)
        if self._has_work():
            self.wake_worker()

    def _has_work(self) -> bool:
        return bool(self._core.pending)

    def _worker(self) -> Worker:
        return Worker()

    @abstractmethod
    async def _run_calls(self, worker: Worker) -> None:
        """Work until the worker is used up or the operator is closed."""

    async def _park(self, worker: Worker) -> bool:
        """Wait for work or the end; return whether the worker can make further calls.

        It cannot if user code has cancelled its task because of a call that has ended.
        """
        self._idle.append(worker)
        try:
            await worker.bell.wait()
        except BaseException as error:
            if is_own_cancellation(error) or not isinstance(error, asyncio.CancelledError):
                raise
            if worker in self._idle:
                self._idle.remove(worker)
            else:
                self._arrive(worker)
            return False
        self._arrive(worker)
        return not worker.cancelling()


_OUT = type("_Out", (), {"__repr__": lambda _: "a value that is out"})()
"""In the place of a value that was emitted."""


@coroutine
def _turn() -> Generator[None]:
    """Yield to the other tasks of an asyncio loop; `sleep(0)` costs twice as much."""
    yield


class CoroutineWorkers(Workers):
    """Awaits coroutine functions: a worker is busy for as long as its call.

    A task for each record would cost more than everything else. So calls share the task and the
    context of their worker, until a call sets a context variable: this call is the last one of its
    worker, and each later call has a context of its own. A call is also the last one of its worker
    if user code still holds the task: it may cancel the task at any time, and would mean the call
    that is over.
    """

    _isolates = False

    def __init__(self, *common: Any) -> None:
        super().__init__(*common)
        limited = self._limited
        self._gate = None if limited is None else limited.gate
        self._makes_calls = limited is None or limited.is_simple
        """Whether a call is only a call of the function; otherwise `_returned` makes it."""
        if limited is not None:
            Gated(self._core, limited, self._sweep)
            if limited.is_simple:
                # Set once for all calls: a variable for each call costs more than its permit.
                self._opened = self._opened.copy()
                self._opened.run(limited.gate.hold)

    async def _run_calls(self, worker: Worker) -> None:  # noqa: PLR0915 - written out, as in `Core`
        core, sweep, clock = self._core, self._sweep, self._clock
        pending, called, function = core.pending, core.called, self._function
        is_light, has_deadlines = sweep.is_light, sweep.has_deadlines
        watches, decides_by_one = sweep.watches, sweep.is_light and core.single
        opened, cancelling = worker.opened, worker.cancelling
        lingers = running_loop().call_at is not None
        gate, makes_calls = self._gate, self._makes_calls
        task = asyncio.current_task() if lingers else object()
        held = holders(task)
        entry: Entry | None = None
        known: type = NoneType
        """The type of the last result, which is not unfinished work."""
        now: float | None = None
        """Time when the last call ended and the next begins; None if the two differ."""
        while not core.closed:
            if not pending:
                rest = self._park if entry is None or not lingers else self._linger
                entry = now = None
                if await rest(worker):
                    continue
                return
            worker.entry = entry = pending.popleft()
            if pending and not self._on_their_way:
                self.wake_worker()
            may_be_cancelled = False
            is_first = is_light and entry.started is None
            if is_first:  # The code of `begin` is written out here.
                entry.started = now = clock() if now is None else now
                entry.attempts = 1
                core.calls += 1
                called.append(entry)
                if has_deadlines and core.due == inf:
                    sweep.expect(now)
            if is_first or sweep.begin(entry):
                entry.worker = worker
                permit = None
                try:
                    if self._isolates:
                        returned = await driven(self._returned(entry), self._opened.copy().run)
                    elif makes_calls:
                        if gate is not None:
                            permit, entry.permit = entry.permit, None
                            gate.started(permit, now if is_first else None)
                        call = function(entry.value)
                        if type(call) is not CoroutineType:
                            call = awaitable_of(core.record(entry), call)
                        returned = await call
                    else:
                        returned = await self._returned(entry)
                    if cancelling():
                        may_be_cancelled = True
                        await raise_self_cancellation(worker.scope)
                    now = clock()
                    if permit is not None and gate is not None:
                        ended, permit = permit, None
                        returned = gate.result(ended, returned, now)
                    kind = type(returned)
                    is_plain = decides_by_one and entry.results is None and not core.closed
                    if is_plain and (kind is known or is_result(returned)):
                        if kind is not known and not is_holder(kind):
                            known = kind
                        core.decide(entry, (returned,))  # a fast path of `else`
                    else:
                        if not (watches and sweep.is_over(entry, now, worker)):
                            core.settle(entry, uncosted(returned))
                        now = None  # Reading the results may have taken time.
                except BaseException as error:
                    now, may_be_cancelled = None, True
                    if permit is not None and gate is not None:
                        gate.ended(permit, error)
                    if await self._is_outcome(
                        worker, error, entry.value if entry.given >= 0 else _OUT
                    ) and not (watches and sweep.is_over(entry, clock(), worker)):
                        core.call_raised(entry, error)
            worker.entry = call = returned = None  # what they hold may be emitted
            if worker.since is not None:
                self._has_called(worker)
            try:
                # Fast if both contexts share all their data. Otherwise values are compared: an
                # equal value is no difference.
                is_marked = copy_context() != opened
            except Exception:  # any error of the comparison: the values differ
                is_marked = True
            # Would the next call notice the last one, by a cancellation or a context?
            may_be_cancelled = may_be_cancelled and cancelling() > 0
            if is_marked or worker.was_cancelled or may_be_cancelled or holders(task) > held:
                self._isolates = self._isolates or is_marked
                return

    async def _linger(self, worker: Worker) -> bool:
        """Let the loop turn, twice at most: the feeder and the consumer make room meanwhile.

        If many calls end together, this costs less than waking workers one by one. Returns the
        result of `_park`.
        """
        self._on_their_way += 1
        try:
            await _turn()
            if not (self._core.pending or self._core.closed):
                await _turn()
        except asyncio.CancelledError as error:
            if is_own_cancellation(error):
                raise
            return False
        finally:
            self._on_their_way -= 1
        return not worker.cancelling()

    async def _returned(self, entry: Entry) -> Any:
        record, function, limited = self._core.record(entry), self._function, self._limited
        if limited is None:
            return await awaitable_of(record, function(entry.value))

        def call(value: Any) -> Any:
            return awaitable_of(record, function(value))

        permit, entry.permit = entry.permit, None
        try:
            return await limited.call(permit, call, entry.value)
        except NotCalled as error:
            if error.gate is limited.gate:  # It refuses one of several calls.
                entry.error = error.__cause__
                limited.refuse([entry], error)
            raise
