"""Workers that call coroutine functions, await them and file the results."""

import asyncio
from collections.abc import Generator
from contextvars import copy_context
from math import inf
from types import CoroutineType, NoneType, coroutine
from typing import Any

from asyncwait.backends.pool._gated import Gated
from asyncwait.backends.pool._order import Entry
from asyncwait.backends.pool._workers import Worker, Workers, holders
from asyncwait.spec.limits import NotCalled
from asyncwait.toolkit import (
    awaitable_of,
    driven,
    is_holder,
    is_own_cancellation,
    is_result,
    raise_self_cancellation,
    running_loop,
    uncosted,
)

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
