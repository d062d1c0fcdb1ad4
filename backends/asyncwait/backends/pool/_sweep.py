"""One task that handles all deadlines of an operator."""

from collections import deque
from collections.abc import Callable
from math import inf, nextafter
from typing import Any

import anyio
import anyio.lowlevel

from asyncwait.backends.pool._core import Core
from asyncwait.backends.pool._order import Entry
from asyncwait.spec import OperatorConfig, OperatorError, TooManyAbandonedCalls
from asyncwait.toolkit import Bell, FunctionParts, JoinableTasks, results_at_deadline, running_loop

_LOOK = 0.0025
"""Seconds from a cancellation to the first look at the call, and from look to look."""

_CALM = 2
"""Looks on time in a row after which a call that still runs counts as abandoned."""

_LATE = 0.001
"""Seconds after which a look is late: the call has had as little of the loop as the look."""

_TURNS = 10
"""Turns of a loop that was blocked at a deadline: available answers reach their calls meanwhile."""

_LOOKS = 8
"""Looks after which a call counts in any case; a loop that always stalls must not hide it."""


class _Cancelled:
    __slots__ = ("_calm", "_looks", "due", "worker")

    def __init__(self, worker: Any, now: float) -> None:
        self.worker = worker
        self._calm = self._looks = 0
        self.due = now + _LOOK
        """Time of the next look."""

    def runs(self) -> bool:
        """Return whether the call still runs: a cancelled call is the last one of its worker."""
        return self.worker.entry is not None

    def is_abandoned(self, now: float) -> bool:
        """Return whether the call had its turn to end, with this look, although it runs."""
        self._looks += 1
        self._calm = self._calm + 1 if now <= self.due + _LATE else 0
        self.due = now + _LOOK
        return self._calm == _CALM or self._looks == _LOOKS


class Sweep:
    """Decides records at their deadlines.

    All records have the same timeout, so they are due in the order in which they were called. The
    next deadline belongs to the first undecided record. A record that is decided before its
    deadline costs nothing here; at a deadline, all records in flight may be checked.
    """

    is_light = True
    """Whether a first call needs only its start time, and a check that its end is not late."""

    def __init__(
        self, core: Core, parts: FunctionParts, config: OperatorConfig, group: JoinableTasks
    ) -> None:
        self._core = core
        self._handler = parts.timeout
        self._timeout = inf if config.timeout is None else config.timeout
        self._most_calls = config.most_calls
        self._group = group
        self._clock = core.clock = running_loop().time
        self._bell = Bell()
        self._scope: anyio.CancelScope | None = None
        self._wakes_at = inf
        """Time at which the task goes on, if it is not woken before."""
        self.has_deadlines = self.watches = config.timeout is not None
        """Whether an outcome may be too late."""
        self._cancelled: deque[_Cancelled] = deque()
        self._abandoned: list[_Cancelled] = []
        self.forget: Callable[[Entry], object] = lambda _: None
        """Called with a record that its deadline decides: it may wait for a shared call."""
        self.on_abandoned: Callable[[int], object] = lambda _: None
        """Called with the number of running abandoned calls, when another one is found."""
        self.before: Callable[[], object] = lambda: None
        """Called before a deadline decides a record: it may have been answered in time."""

    def begin(self, entry: Entry) -> bool:
        """Note that the call of `entry` begins now; return True, because it may."""
        core = self._core
        core.calls += 1
        entry.started = now = self._clock()
        core.called.append(entry)
        if self._core.due == inf and self.has_deadlines:
            self.expect(now)
        return True

    def expect(self, now: float) -> None:
        """Wait for the deadline of a record that is called now, the only undecided one."""
        self._core.due = now + self._timeout
        self._wake()

    def is_over(self, entry: Entry, _at: float, _worker: Any) -> bool:
        """Return whether the outcome of a call, which came on the loop, is too late for `entry`.

        An outcome counts if it comes before the sweep has noticed the deadline: while something
        blocks the loop, answers wait as the deadline does.

        Args:
            entry: the record.
            _at: when the outcome came, in seconds of the loop's clock.
            _worker: the worker of the call, which may be an earlier call of the record.
        """
        return entry.results is not None or self._core.closed

    def expire_due(self, entry: Entry, at: float) -> bool:
        """Decide records due before `at`, when an outcome came; return whether `entry` was due."""
        if at <= self._core.due:
            return False
        is_late = self._deadline(entry) < at
        if is_late:
            entry.worker = None  # Its call is over: there is nothing to cancel.
        self._decide_before(at)
        return is_late or self._core.closed

    def finish(self, entry: Entry, error: OperatorError) -> None:
        """Begin no further call: results of the calls that run come out, and then `error`."""
        for each in self._core.finish(entry, error):
            self.forget(each)

    def release(self, worker: Any) -> None:
        """Note that the cancelled call of `worker` has ended, or is abandoned."""

    def linger(self, entry: Entry, worker: Any) -> bool:  # noqa: ARG002 - there are no retries
        """Let a record wait for the cancelled call of `worker`, unless the call is abandoned."""
        return False

    def close(self) -> None:
        """End the task."""
        if self._scope is not None:
            self._scope.shield = True
            self._scope.cancel()

    def _wake(self) -> None:
        if self._scope is None:
            self._scope = anyio.CancelScope()
            self._group.start_soon(self._run, self._scope)
        else:
            self._bell.ring()

    async def _run(self, scope: anyio.CancelScope) -> None:
        with scope:
            while not self._core.closed:
                self._wakes_at = when = self._next()
                # The bell rings for a deadline that is earlier than the next look, too.
                with anyio.CancelScope(deadline=when) as nap:
                    await self._bell.wait()
                if nap.cancelled_caught:
                    if self._clock() > when + _LATE:
                        for _ in range(_TURNS):
                            await anyio.lowlevel.checkpoint()
                    self.before()
                    # A timer may fire early by a rounding error; the deadline has come.
                    now = max(when, self._clock())
                    self._look(now)
                    self._decide_before(nextafter(now, inf))
                    if self._core.gathers:
                        self._core.look_again()  # A batch may have waited for these records.

    def _next(self) -> float:
        return min(self._core.due, self._cancelled[0].due) if self._cancelled else self._core.due

    def _decide_before(self, time: float) -> None:
        """Decide all records that were due before `time`, in the order of their deadlines."""
        self._core.due, late = inf, []
        for entry in self._core.called:
            if entry.results is None:
                if (deadline := self._deadline(entry)) >= time:
                    self._core.due = deadline
                    break
                late.append(entry)
        for entry in late:
            if self._core.closed:
                break
            if entry.results is None:  # An effect of a handler may have decided it.
                self._cancel(entry)
                self._decide(entry)

    def _deadline(self, entry: Entry) -> float:
        assert entry.started is not None
        return entry.started + self._timeout

    def _cancel(self, entry: Entry) -> None:
        worker = entry.worker
        if worker is not None and worker.scope is not None and worker.cancel():
            self._cancelled.append(_Cancelled(worker, self._clock()))

    def _decide(self, entry: Entry) -> None:
        self._core.timeouts += 1
        self.forget(entry)
        try:
            record = self._core.record(entry)
            results = results_at_deadline(record, self._handler, self._timeout, entry.error)
        except OperatorError as error:
            self._core.fail_for(entry, error)
        else:
            self._core.decide(entry, results)

    def _look(self, now: float) -> None:
        while self._cancelled and self._cancelled[0].due <= now:
            call = self._cancelled.popleft()
            if not call.runs():
                continue
            if call.is_abandoned(now):
                self._core.abandoned += 1
                self._abandoned.append(call)
                self.release(call.worker)
                self.on_abandoned(sum(each.runs() for each in self._abandoned))
            else:
                self._cancelled.append(call)
        self._abandoned = [call for call in self._abandoned if call.runs()]
        if len(self._abandoned) > self._most_calls:
            reason = (
                f"{len(self._abandoned)} calls run on after they were cancelled, and at most "
                f"{self._most_calls} may run at a time; give the client a time limit of its own, "
                "or let the function end with its cancellation"
            )
            self._core.fail(TooManyAbandonedCalls(None, reason))
