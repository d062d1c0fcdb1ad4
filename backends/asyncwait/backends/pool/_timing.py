"""Deadlines, limits of attempts and back-offs: one task handles all of an operator."""

from collections import OrderedDict, deque
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from math import inf, nextafter
from typing import Any

import anyio
import anyio.lowlevel

from asyncwait.backends.pool._core import Core
from asyncwait.backends.pool._order import Entry
from asyncwait.spec import (
    OperatorConfig,
    OperatorError,
    ResultRejected,
    Retry,
    TooManyAbandonedCalls,
)
from asyncwait.toolkit import (
    BackOffs,
    Bell,
    FunctionParts,
    JoinableTasks,
    attempt_timed_out,
    cause_or_self,
    results_at_deadline,
    running_loop,
)

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


class Retries(Sweep):
    """Manages attempts and back-offs as well as deadlines.

    Each record that was called has a deadline here, which may be infinite. It has a worker, or an
    attempt in callback form, while it has a call whose outcome counts.

    Args:
        core: the operator.
        parts: of the user's function.
        config: of the operator.
        group: the task group of its task.
        retry: the retry policy of `config`.
    """

    def __init__(
        self,
        core: Core,
        parts: FunctionParts,
        config: OperatorConfig,
        group: JoinableTasks,
        retry: Retry,
    ) -> None:
        super().__init__(core, parts, config, group)
        self.watches = True
        self._back_offs = BackOffs(retry)
        self._limit = inf if retry.attempt_timeout is None else retry.attempt_timeout
        # In a plain dict, finding the first entry gets slower as earlier entries are removed.
        self._limits: OrderedDict[Entry, float] = OrderedDict()
        """Times when calls reach their limits, the earliest first; only if before the deadline."""
        self._pauses: list[tuple[float, int, Entry]] = []
        """A heap of the ends of back-offs, numbered to keep their order."""
        self._numbers = count()
        self._lingering: dict[Any, list[tuple[Entry, float]]] = {}
        """By worker: records that have left running calls, and the ends of their back-offs.

        They join the heap when the call has ended, or is abandoned.
        """
        self._is_timed = min(self._timeout, self._limit) < inf
        self.on_back_off: Callable[[], object] = lambda: None
        """Called when a record has begun to back off."""
        self._at: float | None = None
        """Time of the outcome in process; None for the present time."""
        self.is_light = retry.on_result is None and self._limit == inf
        if not self.is_light:
            core.on_results = self._on_results
        core.on_failure = lambda entry, failure: self._on_failure(entry, failure, self._came_at())

    # Calls begin.

    def begin(self, entry: Entry) -> bool:
        """Note that a call of `entry` begins now, or return that it may not begin any more."""
        now = self._clock()
        if entry.started is None:
            entry.started = now
            self._core.called.append(entry)
        elif self._deadline(entry) <= now or entry.results is not None or self._core.closed:
            self.forget(entry)  # Its deadline, if over, decides it.
            return False
        else:
            self._core.retries += 1
        self._core.calls += 1
        entry.attempts += 1
        if self._core.due == inf and self._timeout < inf:
            self._core.due = self._deadline(entry)
            self._wake_before(self._core.due)
        if self._limit < inf and (limit := now + self._limit) < self._deadline(entry):
            self._limits[entry] = limit
            self._wake_before(limit)
        return True

    # Calls end.

    def is_over(self, entry: Entry, at: float, worker: Any) -> bool:
        """Return whether an outcome is too late: after the deadline, limit, or another outcome."""
        self._at = at
        return worker is not entry.worker or super().is_over(entry, at, worker)

    def expire_due(self, entry: Entry, at: float) -> bool:
        """Decide records due before `at`; return whether an outcome of `entry` is too late.

        It is too late after the deadline, the limit, or another outcome.
        """
        self._at = at
        is_late = False
        if self._is_timed and (self._core.due < at or self._first_limit() < at):
            is_late = min(self._deadline(entry), self._limits.get(entry, inf)) < at
            if is_late:
                entry.worker = None  # Its call is over: there is nothing to cancel.
            self._decide_before(at)  # This may begin its next attempt.
        return is_late or entry.worker is None or self._core.closed

    def _came_at(self) -> float:
        return self._clock() if self._at is None else self._at

    def release(self, worker: Any) -> None:
        """Note that the cancelled call of `worker` has ended, or is abandoned: a record goes on."""
        for entry, until in self._lingering.pop(worker, ()):
            self._pause(entry, until)

    def linger(self, entry: Entry, worker: Any) -> bool:
        """Let a record wait for the cancelled call of `worker`, unless the call is abandoned."""
        if any(call.worker is worker for call in self._abandoned):
            return False
        self._lingering.setdefault(worker, []).append((entry, self._clock()))
        return True

    def _on_results(self, entry: Entry, results: tuple[Any, ...]) -> None:
        self._limits.pop(entry, None)
        try:
            record = self._core.record(entry)
            left = self._left(entry, self._came_at())
            seconds = self._back_offs.after_results(record, results, entry.attempts, left)
        except OperatorError as failure:
            self._core.fail_for(entry, failure)
        else:
            if seconds is None:
                self._core.decide(entry, results)
            else:
                entry.error = ResultRejected(results)
                self._back_off(entry, self._came_at() + seconds)

    def _on_failure(self, entry: Entry, failure: OperatorError, at: float) -> None:
        self._limits.pop(entry, None)
        entry.error = cause_or_self(failure)
        try:
            seconds = None
            if entry.results is None:  # A call in callback form may raise after it has decided it.
                left = self._left(entry, at)
                seconds = self._back_offs.after_failure(failure, entry.attempts, left)
        except OperatorError as broken:
            self._core.fail_for(entry, broken)
        else:
            if seconds is None:
                self._core.fail_for(entry, failure)
            else:
                self._back_off(entry, at + seconds)

    def _left(self, entry: Entry, at: float) -> float:
        return -inf if self._core.finishing is not None else self._deadline(entry) - at

    # Back-offs.

    def _back_off(self, entry: Entry, until: float) -> None:
        worker, entry.worker = entry.worker, None
        if worker is not None and worker.lingers:
            self._lingering.setdefault(worker, []).append((entry, until))
        else:
            self._pause(entry, until)
        self.on_back_off()

    def paused(self) -> list[Entry]:
        """Return the undecided records that back off, in the order of their next calls."""
        entries = [entry for *_, entry in sorted(self._pauses)]
        entries += [entry for pauses in self._lingering.values() for entry, _ in pauses]
        return [entry for entry in entries if entry.results is None]

    def _pause(self, entry: Entry, until: float) -> None:
        if until < self._deadline(entry):
            heappush(self._pauses, (until, next(self._numbers), entry))
            self._wake_before(until)

    def _resume_before(self, time: float) -> None:
        while self._pauses and self._pauses[0][0] < time:
            entry = heappop(self._pauses)[-1]
            if entry.results is None:  # A spent budget decides records that back off.
                self._core.wait_for_call(entry)

    # Time.

    def close(self) -> None:
        """End the task, and drop all waiting records."""
        super().close()
        for waiting in (self._limits, self._pauses, self._lingering):
            waiting.clear()

    def _wake_before(self, time: float) -> None:
        if time < self._wakes_at:
            self._wakes_at = time
            self._wake()

    def _next(self) -> float:
        pause = self._pauses[0][0] if self._pauses else inf
        return min(super()._next(), self._first_limit(), pause)

    def _first_limit(self) -> float:
        return next(iter(self._limits.values()), inf)

    def _decide_before(self, time: float) -> None:
        """Process everything due before `time`: deadlines and limits in order, then back-offs."""
        while (limit := self._first_limit()) < time:
            if self._core.due <= limit:
                super()._decide_before(nextafter(limit, inf))
            else:
                self._overrun(next(iter(self._limits)), limit)
        super()._decide_before(time)
        self._resume_before(time)

    def _overrun(self, entry: Entry, limit: float) -> None:
        self._cancel(entry)
        self.forget(entry)
        self._on_failure(entry, attempt_timed_out(self._core.record(entry), self._limit), limit)
