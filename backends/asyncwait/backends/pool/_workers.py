"""Long-lived tasks that take the next admitted record, call the function and file the result."""

from collections.abc import Callable
from math import inf
from typing import Any

import anyio
from anyio.abc import TaskGroup
from asyncwait.spec import FunctionParts, Record, awaitable_of

from asyncwait.backends.pool._bell import Bell
from asyncwait.backends.pool._callbacks import Inbox
from asyncwait.backends.pool._core import Core
from asyncwait.backends.pool._order import Entry


class Worker:
    """One task of the crew."""

    __slots__ = ("bell", "entry", "scope")

    def __init__(self) -> None:
        self.bell = Bell()
        self.entry: Entry | None = None
        """The record whose call it runs."""
        self.scope = anyio.CancelScope()
        """Ends the call; a scope serves once, so that a cancelled worker goes on in a new one."""


class Crew:
    """The workers of one operator, grown on demand.

    While records are pending, one worker is on its way (`_waking`). A worker that takes a record
    sees to that before its call: if the call suspends, the other goes on; if it does not, the
    same worker loops on, and a whole queue of records costs one switch of tasks.

    All records that a worker handles share its context: a ContextVar that the function sets is
    seen by a later record. A task per record would cost more than the whole operator does.

    Args:
        core: what the workers work on.
        parts: of the user's function.
        group: where the workers live.
        started: called with each entry just before its call.
    """

    def __init__(
        self, core: Core, parts: FunctionParts, group: TaskGroup, started: Callable[[Entry], None]
    ) -> None:
        self._core = core
        self._function = parts.call
        self._invoke = parts.invoke
        self._inbox = Inbox(self.help) if parts.invoke is not None else None
        self._group = group
        self._started = started
        self._cancelled = anyio.get_cancelled_exc_class()
        self._workers: set[Worker] = set()
        self._idle: list[Worker] = []
        self._waking = 0

    def help(self) -> None:
        """See to it that a worker is on its way."""
        if self._waking or self._core.closed:
            return
        self._waking = 1
        if self._idle:
            self._idle.pop().bell.ring()
        else:
            self._group.start_soon(self._work)

    def dismiss(self) -> None:
        """Send all workers home: the idle at once, the others as soon as their calls let them."""
        if self._inbox is not None:
            self._inbox.close()
        for worker in self._workers:
            if worker.entry is not None:
                worker.scope.cancel()
            else:
                worker.bell.ring()

    async def _work(self) -> None:
        worker = Worker()
        self._workers.add(worker)
        self._waking = 0
        try:
            while not self._core.closed:
                with worker.scope:
                    await self._shift(worker)
                worker.scope = anyio.CancelScope()
        finally:
            self._workers.discard(worker)

    async def _shift(self, worker: Worker) -> None:
        """Work until the scope was used up or the operator is closed."""
        core, pending = self._core, self._core.pending
        while not worker.scope.cancel_called:
            if self._inbox is not None:
                self._inbox.process(core)
            if core.closed:
                return
            if pending:
                await self._handle(worker, pending.popleft())
            else:
                await self._park(worker)

    async def _park(self, worker: Worker) -> None:
        self._idle.append(worker)
        await worker.bell.wait()
        self._waking = 0

    async def _handle(self, worker: Worker, entry: Entry) -> None:
        if self._core.pending:
            self.help()
        self._started(entry)
        if self._inbox is not None:
            self._call_back(entry, self._inbox)
            return
        worker.entry, entry.worker = entry, worker
        try:
            await self._call(entry)
        finally:
            worker.entry = None

    async def _call(self, entry: Entry) -> None:
        assert self._function is not None
        record: Any = entry.element
        try:
            returned = await awaitable_of(record, self._function(record.value))
            self._core.settle(entry, returned)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            if isinstance(error, self._cancelled) and anyio.current_effective_deadline() == -inf:
                raise
            self._core.call_raised(entry, error)

    def _call_back(self, entry: Entry, inbox: Inbox) -> None:
        assert self._invoke is not None
        assert isinstance(entry.element, Record)
        future = inbox.future(entry)
        try:
            self._invoke(entry.element.value, future)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            if not future.completed:
                self._core.call_raised(entry, error)
