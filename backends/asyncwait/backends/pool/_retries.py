"""Retries: the calls to repeat, their back-offs, and the limits of attempts."""

from collections import OrderedDict
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from math import inf, nextafter
from typing import Any

from asyncwait.backends.pool._core import Core
from asyncwait.backends.pool._order import Entry
from asyncwait.backends.pool._sweep import Sweep
from asyncwait.spec import OperatorConfig, OperatorError, ResultRejected, Retry
from asyncwait.toolkit import (
    BackOffs,
    FunctionParts,
    JoinableTasks,
    attempt_timed_out,
    cause_or_self,
)


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
