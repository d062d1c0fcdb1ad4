"""What becomes of a record that was called: answered, failed, late, or called again."""

from collections.abc import Callable
from typing import Any

from asyncwait.backends.emitter._blocking import ElementQueue
from asyncwait.backends.emitter._entries import Entry
from asyncwait.backends.emitter._life import Life
from asyncwait.backends.emitter._retries import Outcome, Retries
from asyncwait.backends.emitter._timers import Timers
from asyncwait.spec import OperatorError, Record
from asyncwait.toolkit import (
    FunctionParts,
    call_failed,
    collect_results,
    failure_of,
    reraise_fatal,
    results_at_deadline,
    results_despite,
    supplied,
)


class Records:
    """Completes entries, each once, or has their records called again before.

    Whatever was due before an answer is decided before it: it may be that very record.

    Args:
        queue: where the entries stand.
        timers: of their deadlines and calls.
        retries: asked whether an outcome is the last one.
        parts: the user's function.
        timeout: in seconds, for messages.
        life: of the operator.
    """

    def __init__(
        self,
        queue: ElementQueue,
        timers: Timers,
        retries: Retries,
        parts: FunctionParts,
        *,
        timeout: float,
        life: Life,
    ) -> None:
        self._queue = queue
        self._timers = timers
        self._retries = retries
        self._handler = parts.timeout
        self._failure_handler = parts.failure
        self._timeout = timeout
        self._life = life
        self.timeouts = 0
        """Records decided by their deadlines."""
        self.failures_handled = 0
        """Records for which the failure handler gave results."""
        self.on_completed: Callable[[Entry], object] = lambda _: None
        """Called with each entry that is completed."""
        timers.on_time = self.expire
        timers.on_limit = self.overrun

    def begun(self, entry: Entry) -> None:
        """Take note that the first call of a record begins."""
        self._queue.called[entry] = self._timers.now()

    # What the last call of a record comes to

    def answer(self, entry: Entry, supply: Callable[[], Any], at: float) -> None:
        """Complete an entry with results, if nothing has ended its call before (RES-4).

        Args:
            entry: of the record.
            supply: gives the results, or raises; called once, if they count.
            at: when they were given, in seconds of the loop's clock.
        """
        if not self.is_open(entry, at):
            return
        try:
            results = self.collect(entry.element, supply)
        except OperatorError as failure:
            self.conclude(entry, failure, at)
        else:
            self.conclude(entry, results, at)

    def is_open(self, entry: Entry, at: float) -> bool:
        """Say whether a call is the last word still, once all is decided that was due before."""
        self._timers.fire_before(at)
        return entry.is_called and not self._life.is_over

    def collect(self, record: Any, supply: Callable[[], Any]) -> tuple[Any, ...]:
        """Read the results of a record whole (RES-6).

        Raises:
            InvalidResult: it is no collection of results (RES-3).
            CallFailed: something was raised by whoever gives them (FAIL-1).
        """
        try:
            return collect_results(record, supplied(supply))
        except BaseException as error:
            reraise_fatal(error)
            failure = call_failed(record, error)
            raise failure from failure.__cause__

    def fail(self, entry: Entry, error: BaseException, at: float, *, besides: bool = False) -> None:
        """Fail because a call has raised, at once and not in the entry's turn (FAIL-2).

        Args:
            entry: of the record.
            error: what was raised, or was given as an error.
            at: when, in seconds of the loop's clock.
            besides: whether that counts even if the entry was completed before, in time (FAIL-1).
        """
        self._timers.fire_before(at)
        record: Any = entry.element
        if self._life.is_over:
            return
        if entry.is_called:
            self.conclude(entry, failure_of(record, error), at)
        elif besides and entry.is_completed and not entry.is_late(at):
            self._life.fail(call_failed(record, error).after(entry.attempts))

    def overrun(self, entry: Entry, at: float) -> None:
        """Cancel a call that takes too long, and take that for its failure (RETRY-12)."""
        self.cancel_call(entry)
        record: Any = entry.element
        self.conclude(entry, self._retries.overrun(record), at)

    def conclude(self, entry: Entry, outcome: Outcome, at: float) -> None:
        """Let what a call came to at a time stand, or have the record called again (RETRY-1)."""
        self.end_call(entry)
        try:
            pause = self._retries.after(entry, outcome)
        except OperatorError as error:
            outcome, pause = error, None
        if pause is not None:
            self._retries.back_off(entry, at + pause)
        elif isinstance(outcome, OperatorError):
            self.fail_for(entry, outcome)
        else:
            self.complete(entry, outcome)

    def fail_for(self, entry: Entry, failure: OperatorError) -> None:
        """Fail because of a record, unless the failure handler has results for it (POLICY-2)."""
        try:
            results = results_despite(failure.after(entry.attempts), self._failure_handler)
        except OperatorError as final:
            self._life.fail(final)
        else:
            self.failures_handled += 1
            self.complete(entry, results)

    # The deadline

    def expire(self, entry: Entry) -> None:
        """Complete an entry at its deadline, be it called or in a back-off (TIME-2, RETRY-11)."""
        self.timeouts += 1
        self.end_call(entry)
        self.cancel_call(entry)
        self._retries.cancel(entry)
        try:
            results = self.results_at_deadline(entry.element)
        except OperatorError as error:
            self.fail_for(entry, error)
        else:
            self.complete(entry, results)

    def results_at_deadline(self, record: Any) -> tuple[Any, ...]:
        """Ask the handler for results in place of the call (TIME-3).

        Raises:
            OperatorError: there is none, or it has none to give (TIME-4, RES-3, RES-6).
        """
        return results_at_deadline(record, self._handler, self._timeout)

    # Either

    def end_call(self, entry: Entry) -> None:
        """Have nothing count any more that the last call of an entry comes to (RETRY-9)."""
        entry.is_called = False
        self._timers.end_call(entry)

    def cancel_call(self, entry: Entry) -> None:
        """Leave the last call of an entry, if that runs and can be cancelled (TIME-5, BAT-12)."""
        if entry.call is not None:
            entry.call.leave(entry)

    def complete(self, entry: Entry, results: tuple[Any, ...]) -> None:
        """Settle what comes out for a record, with its timestamp and key (ELEM-1, ELEM-2)."""
        record: Any = entry.element
        entry.outputs = tuple(Record(result, record.timestamp, record.key) for result in results)
        self._timers.cancel(entry)
        self._queue.completed(entry)
        self.on_completed(entry)
