"""Long-lived tasks that take the next admitted record, call the function and file the result."""

from abc import ABC, abstractmethod
from typing import Any

import anyio
from anyio.abc import TaskGroup

from asyncwait.backends.pool._bell import Bell
from asyncwait.backends.pool._core import Core
from asyncwait.backends.pool._order import Entry
from asyncwait.backends.pool._sweep import Sweep
from asyncwait.spec import awaitable_of, call_failed, let_pass, was_asked_for


class Worker:
    """One task of a crew."""

    __slots__ = ("bell", "entry", "scope")

    def __init__(self) -> None:
        self.bell = Bell()
        """Rings when there is work, or none any more."""
        self.entry: Entry | None = None
        """The record whose call it runs."""
        self.scope = anyio.CancelScope()
        """Ends the call. A scope serves once: after a cancellation the worker takes a new one."""

    @property
    def was_cancelled(self) -> bool:
        """Whether the call that it runs was."""
        return self.scope.cancel_called


class Crew(ABC):
    """The workers of one operator, grown on demand.

    While records are pending, one worker is on its way. A worker that takes a record sees to that
    before its call: if the call suspends, the other goes on; if it does not, the same worker loops
    on, and a whole queue of records costs one switch of tasks.

    Args:
        core: what the workers work on.
        group: where they live.
        sweep: knows the deadlines.
        function: the user's, in the form that the crew calls.
    """

    def __init__(self, core: Core, group: TaskGroup, sweep: Sweep, function: Any) -> None:
        self._core = core
        self._group = group
        self._sweep = sweep
        self._function = function
        self._workers: set[Worker] = set()
        self._idle: list[Worker] = []
        self._on_its_way = False

    def help(self) -> None:
        """See to it that a worker is on its way."""
        if self._on_its_way or self._core.closed:
            return
        self._on_its_way = True
        if self._idle:
            self._idle.pop().bell.ring()
        else:
            self._group.start_soon(self._work)

    def dismiss(self) -> None:
        """Send all workers home: the idle at once, the others as soon as their calls let them."""
        for worker in self._workers:
            if worker.entry is None:
                worker.bell.ring()
            else:
                worker.scope.cancel()

    async def _work(self) -> None:
        worker = Worker()
        self._workers.add(worker)
        self._on_its_way = False
        try:
            while not self._core.closed:
                if worker.scope.cancel_called:
                    worker.scope = anyio.CancelScope()
                    self._sweep.release(worker)
                with worker.scope:
                    await self._shift(worker)
        except (anyio.get_cancelled_exc_class(), KeyboardInterrupt, SystemExit):
            self._core.interrupt()  # No other worker begins a call now.
            raise
        finally:
            self._workers.discard(worker)

    @abstractmethod
    async def _shift(self, worker: Worker) -> None:
        """Work until the worker's scope is used up or the operator is closed."""

    async def _park(self, worker: Worker) -> None:
        self._idle.append(worker)
        await worker.bell.wait()
        self._on_its_way = False


class CoroutineCrew(Crew):
    """Awaits coroutine functions: a worker is busy for as long as its call.

    All records that a worker handles share its context: a ContextVar that the function sets is
    seen by a later record. A task for each record would cost more than all the rest.
    """

    async def _shift(self, worker: Worker) -> None:
        core, pending = self._core, self._core.pending
        while not (core.closed or worker.scope.cancel_called):
            if pending:
                worker.entry = pending.popleft()
                await self._call(worker, worker.entry)
                worker.entry = None
            else:
                await self._park(worker)

    async def _call(self, worker: Worker, entry: Entry) -> None:
        if self._core.pending:
            self.help()
        if not self._sweep.begin(entry):
            return
        entry.worker = worker
        record = entry.element
        try:
            returned = await awaitable_of(record, self._function(record.value))
            if entry.deadline is None or not self._sweep.beat(entry, None, worker):
                self._core.settle(entry, returned)
        except BaseException as error:
            let_pass(error)
            if worker.scope.cancel_called:
                return  # Its time is over, or the operator closed: nobody asks any more.
            if was_asked_for(error):
                raise
            if not self._sweep.beat(entry):
                self._core.call_raised(entry, error)


class CallbackCrew(Crew):
    """Starts calls in callback form and files what comes back; one worker is enough for all."""

    def __init__(self, core: Core, group: TaskGroup, sweep: Sweep, function: Any) -> None:
        super().__init__(core, group, sweep, function)
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
            else:
                await self._park(worker)

    def _call(self, entry: Entry) -> None:
        if not self._sweep.begin(entry):
            return
        try:
            self._function(entry.element.value, self._inbox.future(entry))
        except BaseException as error:
            let_pass(error)
            self._inbox.process(self._core)  # What came before goes first.
            if not self._sweep.beat(entry):
                self._core.on_failure(entry, call_failed(entry.element, error))
