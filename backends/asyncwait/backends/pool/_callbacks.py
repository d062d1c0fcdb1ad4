"""The callback form: outcomes arrive from any thread and are decided on the loop."""

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeAlias

from asyncwait.backends.pool._core import Core
from asyncwait.backends.pool._gated import Gated
from asyncwait.backends.pool._order import Entry
from asyncwait.backends.pool._workers import Worker, Workers
from asyncwait.spec.limits import CostMistold
from asyncwait.toolkit import Permit, call_failed, reraise_fatal, running_loop, supplied

Outcome: TypeAlias = Callable[[Core, Entry], None]
"""Function that decides a record."""


class PoolResultFuture:
    """Completes one record with the outcome of its call; the first outcome counts."""

    __slots__ = ("_attempt", "_entry", "_inbox", "permit")

    def __init__(self, inbox: "Inbox", entry: Entry, attempt: "Attempt") -> None:
        self._inbox = inbox
        self._entry = entry
        self._attempt = attempt
        self.permit: Permit | None = None
        """The permit of the call, until the call ends; None without limits."""

    def run(self, function: Callable[[Any], Any], value: Any) -> Any:
        """Call a plain function in the present thread, with the permit if there is one."""
        permit, self.permit = self.permit, None
        if permit is None:
            return function(value)
        return permit.line.asker.call_in_thread(permit, function, value)

    def give_back(self) -> None:
        """Give the permit back if the call has not started, and never will."""
        permit, self.permit = self.permit, None
        if permit is not None:
            permit.line.asker.give_back(permit)

    def ended(self, error: BaseException) -> None:
        """Note that the call has failed."""
        permit, self.permit = self.permit, None
        if permit is not None:
            permit.line.asker.ended(permit, error)

    def complete(self, results: Iterable[Any]) -> None:
        """Decide the record with `results`."""
        self._complete(results, lambda given, core, entry: core.settle(entry, given))

    def complete_with(self, supplier: Callable[[], Iterable[Any]]) -> None:
        """Decide the record with the results of `supplier`, called on the operator's loop."""
        self._complete(None, lambda _, core, entry: core.settle(entry, supplied(supplier)))

    def _complete(self, given: Any, settle: Callable[[Any, Core, Entry], None]) -> None:
        permit, self.permit = self.permit, None
        try:
            given = given if permit is None else permit.line.asker.result(permit, given)
        except CostMistold as error:
            self.complete_exceptionally(error)
        else:
            self._inbox.put(self._entry, partial(settle, given), self._attempt)

    def complete_exceptionally(self, error: BaseException) -> None:
        """Decide the record with `error`."""
        self.ended(error)
        self._inbox.put(
            self._entry, lambda core, entry: core.call_raised(entry, error), self._attempt
        )

    def interrupt(self, take: Callable[[], BaseException | None]) -> None:
        """Raise the error that `take` returns on the loop, even if the record is decided.

        The error is for the whole program. A closed operator raises nothing.
        """
        self._inbox.interrupt(take)


class RunningCall:
    """A call that runs by itself, such as in a thread; functions in callback form may return it.

    It counts as abandoned while it runs on after the deadline of its record.

    Attributes:
        is_over: whether it has ended.
    """

    __slots__ = ("is_over",)

    is_over: bool

    def cancel(self) -> None:
        """Note that the outcome is no longer wanted; called on the operator's loop."""


class Inbox:
    """Outcomes that wait for the loop; many of them share one wake-up.

    Args:
        wake: called on the loop when outcomes wait.
        expire_due: decides records that were due before a time, and returns whether a record was.
    """

    def __init__(
        self, wake: Callable[[], None], expire_due: Callable[[Entry, float], bool]
    ) -> None:
        self._wake = wake
        self._expire_due = expire_due
        self._outcomes: deque[tuple[Entry, Outcome, float, Attempt]] = deque()
        self._loop = running_loop()
        self._clock = self._loop.time
        self._interruption: Callable[[], BaseException | None] = lambda: None
        self._armed = False
        self._closed = False

    def future(self, entry: Entry) -> PoolResultFuture:
        """Return the future for the outcome of the call of `entry` that begins now."""
        attempt = entry.worker = Attempt()
        return PoolResultFuture(self, entry, attempt)

    def put(self, entry: Entry, outcome: Outcome, attempt: "Attempt") -> None:
        """Hand in the outcome of an attempt, from any thread."""
        if not self._closed:
            self._outcomes.append((entry, outcome, self._clock(), attempt))
            self._arm()

    def interrupt(self, take: Callable[[], BaseException | None]) -> None:
        """Raise the error that `take` returns, behind the outcomes; from any thread."""
        if not self._closed:
            self._interruption = take
            self._arm()

    def _arm(self) -> None:
        if not self._armed:
            self._armed = True
            self._loop.call_from_thread(self._arrive)

    def _arrive(self) -> None:
        # Cleared before any outcome is taken out: a later outcome sets it again.
        self._armed = False
        self._wake()

    def process(self, core: Core) -> None:
        """Decide the records of the outcomes, in the order of their arrival."""
        outcomes = self._outcomes
        while outcomes:
            entry, outcome, at, attempt = outcomes.popleft()
            if entry.results is not None or self._expire_due(entry, at):
                continue
            if entry.worker is not attempt:  # Another attempt or a back-off runs.
                continue
            try:
                outcome(core, entry)
            except BaseException as error:
                reraise_fatal(error)
                core.call_raised(entry, error)
        if (interruption := self._interruption()) is not None:
            raise interruption

    def close(self) -> None:
        """Ignore all later outcomes."""
        self._closed = True
        self._outcomes.clear()


class Attempt:
    """One call of a record in callback form; the worker of the record while the call counts."""

    lingers = False
    """Nothing can cancel the call, so no record waits for its end."""

    scope: RunningCall | None = None
    """The call, if it runs by itself and says when it has ended; few attempts set it."""

    @property
    def entry(self) -> RunningCall | None:
        """The call while it runs."""
        return None if self.scope is None or self.scope.is_over else self.scope

    def cancel(self) -> bool:
        """Ask the call to end; return True, because its end must be watched."""
        if self.scope is not None:
            self.scope.cancel()
        return True


class CallbackWorkers(Workers):
    """Starts calls in callback form and files their outcomes; one worker is enough for all."""

    def __init__(self, *common: Any) -> None:
        super().__init__(*common)
        if self._limited is not None:
            Gated(self._core, self._limited, self._sweep)
        self._inbox = Inbox(self.wake_worker, self._sweep.expire_due)
        self._sweep.before = lambda: self._inbox.process(self._core)

    def dismiss(self) -> None:
        """End the worker, and ignore outcomes from now on."""
        self._inbox.close()
        super().dismiss()

    def _has_work(self) -> bool:
        return True  # The callers that wake the worker run in no task.

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
        limited = self._limited
        if limited is not None and entry.permit is not None:
            future.permit = entry.permit
            if limited.begins_later:  # Only the thread of the call ends it.
                entry.permit = None
            else:
                limited.gate.started(entry.permit)
        try:
            call = self._function(entry.value, future)
            if isinstance(call, RunningCall) and entry.worker is not None:
                entry.worker.scope = call
        except BaseException as error:
            reraise_fatal(error)
            future.ended(error)
            failure = call_failed(self._core.record(entry), error)
            self._inbox.process(self._core)  # Earlier outcomes go first, and may decide the record.
            if not (self._sweep.watches and self._sweep.expire_due(entry, self._clock())):
                self._core.on_failure(entry, failure)
