"""Long-lived tasks that take the next admitted record, call the function and file the result."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import suppress
from contextvars import Context, copy_context
from math import inf
from types import CoroutineType, coroutine
from typing import Any

import anyio
from anyio.abc import TaskGroup

from asyncwait.backends.pool._callbacks import RunningCall
from asyncwait.backends.pool._core import Core
from asyncwait.backends.pool._isolation import within
from asyncwait.backends.pool._order import Entry
from asyncwait.backends.pool._sweep import Sweep
from asyncwait.spec import (
    Bell,
    awaitable_of,
    call_failed,
    call_scope,
    let_pass,
    own_cancellation,
    running_loop,
    was_asked_for,
)

_LONG = 0.0005
"""Seconds from which a call takes long. Others are back before many could be sent for."""


class Worker:
    """One task of a crew, from its first call to one after which it is of no more use."""

    __slots__ = ("bell", "cancelling", "entry", "opened", "scope", "since", "was_cancelled")

    def __init__(self) -> None:
        self.opened = copy_context()
        """As the context was before the first call."""
        self.cancelling = _cancelling()
        """How often the task was cancelled, as asyncio counts it."""
        self.bell = Bell()
        """Rings when there is work, or none any more."""
        self.entry: Entry | None = None
        """The record whose call it runs."""
        self.scope = call_scope()
        """Ends the call, and with it the worker: a scope serves once."""
        self.since: float | None = None
        """When it has come, in seconds of the loop's clock, if it has run no call since."""
        self.was_cancelled = False
        """Whether the call that it runs was; trio's scope looks at the clock to tell."""

    def cancel(self) -> None:
        """Cancel the call that it runs."""
        self.was_cancelled = True
        self.scope.cancel()


def _cancelling() -> Callable[[], int]:
    """Return what counts the cancellations of the present task."""
    task = None if running_loop().call_at is None else asyncio.current_task()
    return int if task is None else task.cancelling


class Crew(ABC):
    """The workers of one operator, grown on demand.

    While records are pending, a worker is on its way. A worker that takes a record sees to that
    before its call: if the call suspends, the other goes on; if it does not, the same worker loops
    on, and a whole queue of records costs one switch of tasks.

    Args:
        core: what the workers work on.
        group: where they live.
        sweep: knows the deadlines.
        function: the user's, in the form that the crew calls.
        opened: the context in which the operator was opened; each worker begins in a copy.
    """

    def __init__(
        self, core: Core, group: TaskGroup, sweep: Sweep, function: Any, opened: Context
    ) -> None:
        self._core = core
        self._group = group
        self._sweep = sweep
        self._function = function
        self._opened = opened
        self._workers: dict[Worker, None] = {}
        self._idle: list[Worker] = []
        self._on_their_way = 0
        """How many workers were sent for, or started, and have not come yet."""
        self._takes_long = False
        """Whether the call did that was looked at last."""
        self._clock = running_loop().time

    def help(self) -> None:
        """See to it that a worker is on its way."""
        if self._on_their_way or self._core.closed:
            return
        self._on_their_way = 1
        if self._idle:
            self._idle.pop().bell.ring()
        else:
            # Whoever is at work here, be it a call, the source or the consumer.
            _ = self._opened.copy().run(self._group.start_soon, self._work)

    def _arrive(self, worker: Worker) -> None:
        """Note that a worker has come, and have the idle follow at once where calls take long.

        As many as there are records: if one woke the next, the last of a hundred would begin a
        hundred turns of the loop later. Where calls are short, that many would come for nothing.
        """
        self._on_their_way -= 1
        worker.since = self._clock()
        if self._takes_long:
            for _ in range(min(len(self._idle), len(self._core.pending) - 1)):
                self._on_their_way += 1
                self._idle.pop().bell.ring()

    def dismiss(self) -> None:
        """Send all workers home: the idle at once, the others as soon as their calls let them."""
        for worker in self._workers:
            if worker.entry is None:
                worker.bell.ring()
            else:
                worker.cancel()

    async def _work(self) -> None:
        worker = Worker()
        self._workers[worker] = None
        self._arrive(worker)
        try:
            with worker.scope:
                await self._shift(worker)
        except (anyio.get_cancelled_exc_class(), KeyboardInterrupt, SystemExit):
            self._core.interrupt()  # No other worker begins a call now.
            raise
        finally:
            del self._workers[worker]
        if worker.was_cancelled:
            self._sweep.release(worker)
        if self._core.pending:
            self.help()

    @abstractmethod
    async def _shift(self, worker: Worker) -> None:
        """Work until the worker is used up or the operator is closed."""

    async def _park(self, worker: Worker) -> bool:
        """Wait until there is work, or none any more; return whether the worker is of use still.

        It is not if somebody has cancelled its task, for the sake of a call that has ended.
        """
        self._idle.append(worker)
        try:
            await worker.bell.wait()
        except BaseException as error:
            if was_asked_for(error) or not worker.cancelling():
                raise
            if worker in self._idle:
                self._idle.remove(worker)
                return False
        self._arrive(worker)
        return not worker.cancelling()


@coroutine
def _turn() -> Generator[None]:
    """Let the other tasks of an asyncio loop have their turn; `sleep(0)` is twice the work."""
    yield


class CoroutineCrew(Crew):
    """Awaits coroutine functions: a worker is busy for as long as its call.

    A task for each record would cost more than all the rest. So calls share that of their worker,
    and its context, until one of them sets a variable: that is the last one of its worker, and from
    then on each call has a context of its own.
    """

    _isolates = False

    async def _shift(self, worker: Worker) -> None:  # noqa: PLR0915 - written out, as in `Core`
        core, sweep, clock = self._core, self._sweep, self._clock
        pending, called, function = core.pending, core.called, self._function
        is_light, has_deadlines = sweep.is_light, sweep.has_deadlines
        watches, decides_by_one = sweep.watches, sweep.is_light and core.single
        opened, cancelling = worker.opened, worker.cancelling
        lingers = running_loop().call_at is not None
        entry: Entry | None = None
        now: float | None = None
        """When the last call ended, and the next one begins; None if that is not the same."""
        while not core.closed:
            if not pending:
                rest = self._park if entry is None or not lingers else self._linger
                entry = now = None
                if await rest(worker):
                    continue
                return
            worker.entry = entry = pending.popleft()
            if pending and not self._on_their_way:
                self.help()
            may_be_cancelled = False
            is_first = is_light and entry.started is None
            if is_first:  # It is written out what `begin` does there.
                entry.started = now = clock() if now is None else now
                entry.attempts = 1
                core.calls += 1
                called.append(entry)
                if has_deadlines and core.due == inf:
                    sweep.expect(now)
            if is_first or sweep.begin(entry):
                entry.worker = worker
                try:
                    if self._isolates:
                        returned = await within(self._opened.copy(), self._returned(entry))
                    else:
                        call = function(entry.value)
                        if type(call) is not CoroutineType:
                            call = awaitable_of(core.record(entry), call)
                        returned = await call
                    if cancelling():
                        may_be_cancelled = True
                        await own_cancellation(worker.scope)
                    now = clock()
                    is_plain = decides_by_one and entry.results is None and not core.closed
                    if is_plain and now <= core.due:
                        core.decide(entry, (returned,))  # What follows comes to the same.
                    else:
                        if not (watches and sweep.beat(entry, now, worker)):
                            core.settle(entry, returned)
                        now = None  # A handler, or reading what was returned, may have taken time.
                except BaseException as error:
                    now, may_be_cancelled = None, True
                    await self._raised(worker, entry, error)
            worker.entry = call = returned = None  # what they hold may be emitted
            if worker.since is not None:
                self._takes_long = clock() - worker.since > _LONG
                worker.since = None
            try:
                # At once if they share all they hold, however much. Else values are compared: one
                # for one that is equal to it is no difference.
                is_marked = copy_context() != opened
            except Exception:  # what the comparison of two values raised: they are not the same
                is_marked = True
            # Would the next call notice the last one, by a cancellation or a context?
            may_be_cancelled = may_be_cancelled and cancelling() > 0
            if is_marked or worker.was_cancelled or may_be_cancelled:
                self._isolates = self._isolates or is_marked
                return

    async def _linger(self, worker: Worker) -> bool:
        """Let the loop turn, twice at most: whoever makes room for more records comes behind.

        Where many calls end together that costs less than to be woken one by one. It returns what
        `_park` does.
        """
        self._on_their_way += 1
        try:
            await _turn()
            if not (self._core.pending or self._core.closed):
                await _turn()
        except asyncio.CancelledError as error:
            if was_asked_for(error) or not worker.cancelling():
                raise
        finally:
            self._on_their_way -= 1
        return not worker.cancelling()

    async def _raised(self, worker: Worker, entry: Entry, error: BaseException) -> None:
        """File what a call has raised, unless it is not meant for the operator."""
        let_pass(error)
        with suppress(asyncio.CancelledError):
            await own_cancellation(worker.scope)
        if worker.was_cancelled:
            return  # Its time is over, or the operator closed: nobody asks any more.
        if was_asked_for(error):
            raise error
        if not (self._sweep.watches and self._sweep.beat(entry)):
            self._core.call_raised(entry, error)

    async def _returned(self, entry: Entry) -> Any:
        return await awaitable_of(self._core.record(entry), self._function(entry.value))


class CallbackCrew(Crew):
    """Starts calls in callback form and files what comes back; one worker is enough for all."""

    def __init__(
        self, core: Core, group: TaskGroup, sweep: Sweep, function: Any, opened: Context
    ) -> None:
        super().__init__(core, group, sweep, function, opened)
        self._inbox = sweep.inbox(self.help, sweep.beat)
        sweep.before = lambda: self._inbox.process(core)

    def dismiss(self) -> None:
        """Send the worker home, and ignore outcomes from now on."""
        self._inbox.close()
        super().dismiss()

    async def _shift(self, worker: Worker) -> None:
        core, pending = self._core, self._core.pending
        while True:
            self._inbox.process(core)
            if core.closed:
                return
            if pending:
                self._call(pending.popleft())
            elif not await self._park(worker):
                return

    def _call(self, entry: Entry) -> None:
        if not self._sweep.begin(entry):
            return
        try:
            call = self._function(entry.value, self._inbox.future(entry))
            if isinstance(call, RunningCall):
                self._inbox.runs(entry, call)
        except BaseException as error:
            let_pass(error)
            failure = call_failed(self._core.record(entry), error)
            self._inbox.process(self._core)  # What came before goes first, and so may the record.
            if not (self._sweep.watches and self._sweep.beat(entry)):
                self._core.on_failure(entry, failure)
