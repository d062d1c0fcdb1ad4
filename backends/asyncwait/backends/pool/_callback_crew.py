"""A worker that starts calls in callback form."""

from contextvars import Context
from typing import Any

from asyncwait.backends.pool._callbacks import RunningCall
from asyncwait.backends.pool._core import Core
from asyncwait.backends.pool._crew import Crew, Worker
from asyncwait.backends.pool._gated import Gated, Limited
from asyncwait.backends.pool._order import Entry
from asyncwait.backends.pool._sweep import Sweep
from asyncwait.toolkit import JoinableTasks, call_failed, reraise_fatal


class CallbackCrew(Crew):
    """Starts calls in callback form and files what comes back; one worker is enough for all."""

    def __init__(
        self,
        core: Core,
        group: JoinableTasks,
        sweep: Sweep,
        function: Any,
        opened: Context,
        *,
        limited: Limited | None = None,
    ) -> None:
        super().__init__(core, group, sweep, function, opened)
        self._gate = None if limited is None else limited.gate
        if limited is not None:
            core.pending = gated = Gated(core, limited)
            sweep.forget = gated.forget
        self._inbox = sweep.inbox(self.wake_worker, sweep.expire_due)
        sweep.before = lambda: self._inbox.process(core)

    def dismiss(self) -> None:
        """Send the worker home, and ignore outcomes from now on."""
        self._inbox.close()
        super().dismiss()

    def _has_work(self) -> bool:
        return True  # Those who wake the worker run in no task.

    async def _run_calls(self, worker: Worker) -> None:
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
        future = self._inbox.future(entry)
        if self._gate is not None and entry.permit is not None:
            starts = self._core.begun is None
            future.hold(self._gate, entry.permit, starts=starts)
            if not starts:  # A thread ends it, and nothing else does.
                entry.permit = None
        try:
            call = self._function(entry.value, future)
            if isinstance(call, RunningCall):
                self._inbox.runs(entry, call)
        except BaseException as error:
            reraise_fatal(error)
            future.ended(error)
            failure = call_failed(self._core.record(entry), error)
            self._inbox.process(self._core)  # What came before goes first, and so may the record.
            if not (self._sweep.watches and self._sweep.expire_due(entry, self._clock())):
                self._core.on_failure(entry, failure)
