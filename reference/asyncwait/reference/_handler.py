"""What becomes of one record: its calls, its deadline, and which of them decides it."""

# Collaborators know each other's types, which is no import at run time.
# pyright: reportImportCycles=false

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from asyncwait.reference._outcomes import Outcome, Raised, Returned
from asyncwait.reference._queues import RecordEntry
from asyncwait.spec import (
    OperatorError,
    Record,
    call_failed,
    collect_results,
    let_pass,
    results_at_deadline,
)

if TYPE_CHECKING:
    from asyncwait.reference._attempt import Attempt
    from asyncwait.reference._operator import AsyncWaitOperator
    from asyncwait.reference._timers import Timer


@dataclass(eq=False)
class ResultHandler:
    """Has the function called for one record, maybe again, and decides that record, once.

    What is raised in the mails is the failure of the operator: it leaves the mail, and with it the
    loop, and nothing happens after it (FAIL-2, FAIL-4).

    Args:
        operator: whose record it is.
        record: as it was read.
        attempt: the last that was begun; None before the first.
        deadline: the timer that fires at the deadline; None if there is none, or no more.
        due: when the deadline is, in seconds of the loop's clock.
        pause: the timer that fires when the next call is due; None if none is.
    """

    operator: AsyncWaitOperator
    record: Record
    attempt: Attempt | None = None
    deadline: Timer | None = None
    due: float = math.inf
    pause: Timer | None = None

    def __post_init__(self) -> None:
        self.entry = RecordEntry(self.record)

    # The calls

    def start(self) -> None:
        """Begin another attempt; the first one follows admission."""
        number = 1 if self.attempt is None else self.attempt.number + 1
        self.attempt = self.operator.attempt_class(self, number)
        self.attempt.start()

    def on_begun(self) -> None:
        """Start the timeout in the step of the first call (TIME-7, REST-2)."""
        timeout = self.operator.config.timeout
        if timeout is not None and self.attempts == 1:
            self.due = self.due_after(timeout)
            self.deadline = self.operator.timers.register(self.due, self.on_deadline)

    @property
    def attempts(self) -> int:
        """How many there have been."""
        return 0 if self.attempt is None else self.attempt.number

    def due_after(self, timeout: float) -> float:
        """Return when `timeout` is over; infinity adds up to never (unlike Flink's TO-3)."""
        return self.operator.clock() + timeout

    def cancel(self) -> None:
        """Cancel the call that runs, as the record is decided without it (TIME-5)."""
        if self.attempt is not None:
            self.attempt.cancel()

    # The outcome

    def on_outcome(self, outcome: Outcome) -> None:
        """Decide the record by what its call came to, if nothing else has decided it (RES-4).

        Whatever was due before comes first: it may be this record's deadline (TIME-6, FAIL-4), or
        its next attempt, to which the outcome does not belong (RETRY-9).
        """
        attempt, timers = self.attempt, self.operator.timers
        if timers.earliest < outcome.at:
            timers.run_before(outcome.at)
        if self.attempt is attempt and (self.is_open or self.is_raised_besides(outcome)):
            self.conclude(outcome)

    @property
    def is_open(self) -> bool:
        """Whether what its present attempt comes to decides it, or what comes next."""
        return self.attempt is not None and self.attempt.is_open

    def conclude(self, outcome: Outcome) -> None:
        """Decide the record by what a call came to, or have it called again (RETRY-1, RETRY-7)."""
        try:
            results = self.results_of(outcome)
        except OperatorError as failure:
            self.conclude_failure(failure, outcome.at)
        else:
            pause = self.pause_after(results)
            if pause is None:
                self.decide(results)
            else:
                self.back_off(outcome.at + pause)

    def conclude_failure(self, failure: OperatorError, at: float) -> None:
        """Fail by what a call came to at a time, or have it called again.

        Raises:
            OperatorError: it was the last attempt, or is no reason for another.
        """
        pause = None if self.is_decided else self.pause_after_failure(failure)
        if pause is None:
            raise failure.after(self.attempts)
        self.back_off(at + pause)

    def pause_after(self, results: tuple[Any, ...]) -> float | None:
        """Return the seconds until the next attempt; None if results are the last word."""
        back_offs = self.operator.back_offs
        if back_offs is None:
            return None
        return back_offs.after_results(self.record, results, self.attempts)

    def pause_after_failure(self, failure: OperatorError) -> float | None:
        """Return the seconds until the next attempt; None if a failure is the last word."""
        back_offs = self.operator.back_offs
        return None if back_offs is None else back_offs.after_failure(failure, self.attempts)

    # Between two calls

    def back_off(self, due: float) -> None:
        """Call again at a time; until then the record keeps its slot (RETRY-3, RETRY-4)."""
        self.close_attempt()
        self.pause = self.operator.timers.register(due, self.on_pause_over)

    def on_pause_over(self) -> None:
        """Call again, when the last call has ended, or is abandoned (RETRY-10).

        If the loop was blocked, the deadline may be over, too: then there is nothing to call for,
        and the timer of that is next (RETRY-11).
        """
        self.pause = None
        if self.is_decided or self.operator.clock() > self.due:
            return
        if self.attempt is None or not self.operator.cancelled.tell(self.attempt, self.start_again):
            self.start()

    def start_again(self) -> None:
        """Call again, if nothing else has decided the record in the meantime."""
        if not self.is_decided:
            self.start()

    def close_attempt(self) -> None:
        """Have the present attempt decide nothing any more."""
        if self.attempt is not None:
            self.attempt.close()

    # What it comes to

    @property
    def is_decided(self) -> bool:
        """Whether it is settled what comes out of the record."""
        return self.entry.outputs is not None

    def is_raised_besides(self, outcome: Outcome) -> bool:
        """Say whether a call in callback form has completed its record and raised (FAIL-1)."""
        by_callback = isinstance(outcome, Raised) and outcome.by_callback
        return by_callback and self.is_decided and not self.is_late(outcome)

    def is_late(self, outcome: Outcome) -> bool:
        """Say whether an outcome came after the deadline."""
        return outcome.at > self.due

    def results_of(self, outcome: Outcome) -> tuple[Any, ...]:
        """Return the results that a call came to.

        Raises:
            CallFailed: it came to an error, or collecting the results raised one (FAIL-1, RES-6).
            InvalidResult: it came to something that is no collection of results (RES-3).
        """
        if isinstance(outcome, Raised):
            raise call_failed(self.record, outcome.error)
        return self.collect(outcome)

    def collect(self, outcome: Returned) -> tuple[Any, ...]:
        """Read the results whole before the first comes out (RES-6)."""
        try:
            given = outcome.given() if outcome.is_supplied else outcome.given
            return collect_results(self.record, given)
        except BaseException as error:
            let_pass(error)
            failure = call_failed(self.record, error)
            raise failure from failure.__cause__

    # The deadline

    def on_deadline(self) -> None:
        """Decide the record at its deadline, if nothing has decided it before (TIME-1, TIME-2)."""
        if not self.is_decided:
            self.operator.timeouts += 1
            self.cancel()
            try:
                results = self.results_at_deadline()
            except OperatorError as failure:
                raise failure.after(self.attempts) from failure.__cause__
            self.decide(results)

    def results_at_deadline(self) -> tuple[Any, ...]:
        """Return what the timeout handler gives in place of the call (TIME-3).

        Raises:
            CallTimedOut: there is no handler, it gave None, or it raised (TIME-4).
            InvalidResult: it gave something that is no collection of results (RES-3).
            CallFailed: its results raised when they were collected (RES-6).
        """
        operator = self.operator
        assert operator.config.timeout is not None
        return results_at_deadline(self.record, operator.function.timeout, operator.config.timeout)

    def cancel_deadline(self) -> None:
        """Leave no timer behind for a decided record (TIME-1, RETRY-11)."""
        if self.pause is not None:
            self.operator.timers.cancel(self.pause)
            self.pause = None
        if self.deadline is not None:
            self.operator.timers.cancel(self.deadline)
            self.deadline = None  # it knows this handler, and the two would live until found

    # The decision

    def decide(self, results: tuple[Any, ...]) -> None:
        """Settle what comes out of the record; the consumer may take it from now on."""
        self.close_attempt()
        self.cancel_deadline()
        self.entry.outputs = deque(self.output_of(result) for result in results)
        self.operator.queue.completed(self.entry)
        self.operator.output.tell()

    def output_of(self, result: Any) -> Record:
        """Give a result the timestamp and the key of its record (ELEM-1, ELEM-2)."""
        return Record(result, self.record.timestamp, self.record.key)
