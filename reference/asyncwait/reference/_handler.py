"""Decision of one record: by its attempts or by its deadline."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import anyio

from asyncwait.reference._calls import CallingOperator, SharedCall, TaskCall
from asyncwait.reference._counts import Permit
from asyncwait.reference._gate import Gate
from asyncwait.reference._outcomes import Completion, Outcome, Raised, Returned
from asyncwait.reference._output import Output
from asyncwait.reference._queues import RecordEntry
from asyncwait.reference._timers import Timer
from asyncwait.spec import OperatorError, Record, ResultRejected
from asyncwait.spec.limits import BudgetSpent, CostMistold, NotCalled
from asyncwait.toolkit import (
    BackOffs,
    CallScope,
    FunctionParts,
    attempt_timed_out,
    call_failed,
    cause_or_self,
    collect_results,
    failure_of,
    outcome_of,
    reraise_fatal,
    results_at_deadline,
    results_despite,
    supplied,
)


class GatheredAttempts(Protocol):
    """Attempts that wait for a batch; see `Gathering`."""

    def join(self, attempt: Attempt) -> None:
        """Add an attempt, which waits for others."""
        ...

    def leave(self, attempt: Attempt) -> None:
        """Forget a waiting attempt that its record no longer needs."""
        ...

    def is_decided(self, handler: ResultHandler) -> None:
        """Take note that a record is decided."""
        ...


class CachedResults(Protocol):
    """The cache of an operator; see `ResultCache`."""

    def ask(self, attempt: Attempt) -> None:
        """Look up the key of an attempt, which takes cached results or waits for a load."""
        ...


class RecordOperator(CallingOperator, Protocol):
    """The parts of an operator that its records use; see `AsyncWaitOperator`."""

    attempt_class: type[Attempt]
    back_offs: BackOffs | None
    calls: int
    failures_handled: int
    function: FunctionParts
    output: Output
    retries: int
    timeouts: int

    @property
    def gathered(self) -> GatheredAttempts | None:
        """Attempts that wait for a batch; None without batches."""
        ...

    @property
    def cache(self) -> CachedResults | None:
        """Results of calls, by key; None without a cache."""
        ...

    def free_key(self, handler: ResultHandler) -> None:
        """Start the next record with the key of a decided record."""
        ...


@dataclass(eq=False)
class Attempt(TaskCall):
    """One attempt at a record: a call of the function, in either form, or a part in a shared call.

    The call's task, or another thread, reports the outcome by a mail.

    Args:
        handler: handler of the record.
        number: 1 for the first attempt at the record.
        scope: scope that cancels the running call in its task; None before and after.
        limit: timer of the attempt's own limit; None without a limit.
        is_open: whether the outcome of the call counts.
        batch: the batch that includes the attempt, once the batch has its task; None before.
        load: the load that the attempt waits for, or has waited for; None without a load.
        permit: permit of a call for this attempt alone, or its request; None without limits.
    """

    handler: ResultHandler
    number: int
    scope: CallScope | None = None
    limit: Timer | None = None
    is_open: bool = True
    batch: SharedCall | None = None
    load: SharedCall | None = None
    permit: Permit | None = None

    @property
    def operator(self) -> RecordOperator:
        """Operator of the record."""
        return self.handler.operator

    def start(self) -> None:
        """Join a batch, look up the key in the cache, request a permit, or call the function."""
        if self.operator.gathered is not None:
            self.operator.gathered.join(self)
        elif self.operator.cache is not None:
            self.operator.cache.ask(self)
        elif self.operator.gate is not None:
            self.operator.gate.enter(self)
        else:
            self.permitted(None)

    @property
    def values(self) -> Sequence[Any]:
        """Value of the record."""
        return (self.handler.record.value,)

    @property
    def handlers(self) -> Sequence[ResultHandler]:
        """Handler of the record."""
        return (self.handler,)

    def permitted(self, permit: Permit | None) -> None:
        """Call the function, in either form; all limits have room for the call."""
        self.permit = permit
        gate, is_late = self.operator.gate, self.operator.clock() > self.handler.due
        if gate is not None and permit is not None and is_late:
            gate.withdraw(permit)  # The deadline has passed, and its mail is next (RETRY-18).
        elif self.operator.function.invoke is not None:
            self.start_callback(self.operator.function.invoke)
        else:
            self.start_alone()

    def is_refused(self) -> None:
        """Do nothing: the gate sends a mail to the handler."""

    def start_alone(self) -> None:
        """Call the function in a task, for this record alone."""
        super().start()

    def start_callback(self, invoke: Callable[[Any, Completion], None]) -> None:
        """Call a function in callback form; it fails if it raises, completed or not (FAIL-1)."""
        completion = self.completion()
        self.begin()
        until = math.inf if self.limit is None else self.limit.when
        try:
            invoke(self.handler.record.value, completion)
        except BaseException as error:
            reraise_fatal(error)
            at = self.operator.clock()
            self.post(self.on_completed, Raised(error, at, by_callback=at <= until))

    def completion(self) -> Completion:
        """Return the future that a function in callback form completes."""
        return Completion(partial(self.post, self.on_completed), self.operator.clock)

    def on_completed(self, outcome: Outcome) -> None:
        """Process a completion in callback form, which ends the call, as its mail."""
        self.on_outcome(self.has_ended(outcome) or outcome)

    async def invoke(self) -> Outcome:
        """Call the function, and wait for its outcome."""
        # No call begins after the deadline, which cancels this task (RETRY-18).
        if self.operator.clock() > self.handler.due:
            await anyio.sleep_forever()
        self.begin()
        record, function = self.handler.record, self.operator.function.call
        assert function is not None
        assert self.scope is not None
        returned = await outcome_of(record, function(record.value), self.scope)
        return Returned(returned, self.operator.clock())

    @property
    def shared(self) -> TaskCall:
        """The call that has to end before the next call for its record begins (RETRY-10)."""
        return self.batch or self.load or self

    def begin(self) -> None:
        """Note that the function is called in this step, and start the timers."""
        self.has_begun()
        self.operator.calls += 1
        self.operator.retries += self.number > 1
        self.handler.on_begun()
        retry = self.operator.config.retry
        if retry is not None and retry.attempt_timeout is not None:
            began = self.operator.clock() if self.batch is None else self.batch.began
            due = began + retry.attempt_timeout
            self.limit = self.operator.timers.register(due, partial(self.on_limit, due))

    def cancel(self) -> None:
        """Cancel the call, whose outcome is not needed, or leave a shared call (BAT-12, CACHE-3).

        A call in callback form can't be cancelled; its outcome is ignored.
        """
        if self.batch is not None:
            self.batch.leave(self)
        elif self.operator.gathered is not None:
            self.operator.gathered.leave(self)
        elif self.load is not None:
            self.load.leave(self)
        else:
            if self.operator.gate is not None and self.permit is not None:
                self.leave(self.operator.gate, self.permit)
            super().cancel()

    def leave(self, gate: Gate, permit: Permit) -> None:
        """Withdraw the permit or its request; count a running call in callback form as ended."""
        if self.operator.function.invoke is None or permit.begun == math.inf:
            gate.withdraw(permit)
        else:
            gate.ended(permit, None)

    def close(self) -> None:
        """Ignore the outcome of the call from now on, and cancel the timer (ELEM-3)."""
        self.is_open = False
        if self.limit is not None:
            self.operator.timers.cancel(self.limit)
            self.limit = None

    def on_ended(self, outcome: Outcome | None) -> None:
        """Process the end of the call, as its mail; the outcome of a cancelled call is None."""
        if self.scope is not None and self.scope.cancel_called:
            self.operator.cancelled.ended(self)
        self.scope = None
        outcome = self.has_ended(outcome)
        if outcome is not None:
            self.on_outcome(outcome)

    def on_outcome(self, outcome: Outcome) -> None:
        """Pass the outcome to the handler, if this is its latest attempt (ELEM-3)."""
        if self.number == self.handler.attempts:
            self.handler.on_outcome(outcome)

    def on_limit(self, due: float) -> None:
        """End an attempt that takes too long, as if the call had raised (RETRY-12)."""
        retry = self.operator.config.retry
        assert retry is not None
        assert retry.attempt_timeout is not None
        self.cancel()
        if self.batch is not None:
            self.batch.on_limit(self)
        late = attempt_timed_out(self.handler.record, retry.attempt_timeout)
        self.handler.conclude_failure(late, due)


@dataclass(eq=False)
class ResultHandler:
    """Makes the attempts at one record, and decides the record once.

    An error that leaves a mail is the failure of the operator, after which no further mail runs
    (FAIL-2, FAIL-4).

    Args:
        operator: operator of the record.
        record: the record as it was read.
        attempts: number of attempts so far.
        attempt: the latest attempt; None for a decided record.
        deadline: timer of the deadline; None without a deadline, or after the decision.
        due: time of the deadline, in seconds of the loop's clock.
        pause: timer of the next call; None outside of a back-off.
        line: in key-ordered mode, the undecided records with its key; None once it is decided.
        timed_out: whether its deadline decided it.
        room: largest size of its next batch, where batches are split; None for no bound.
        place: its number among the records, in input order.
        was_called: whether the function was called for it.
        last_error: error of its last failed call; None without such a call.
    """

    operator: RecordOperator
    record: Record
    attempts: int = 0
    attempt: Attempt | None = None
    deadline: Timer | None = None
    due: float = math.inf
    pause: Timer | None = None
    line: deque[ResultHandler] | None = None
    timed_out: bool = False
    room: int | None = None
    place: int = 0
    was_called: bool = False
    last_error: BaseException | None = None

    def __post_init__(self) -> None:
        self.entry = RecordEntry(self.record)

    # The calls

    def start(self) -> None:
        """Begin another attempt; the first attempt follows admission."""
        self.attempts += 1
        self.attempt = self.operator.attempt_class(self, self.attempts)
        self.attempt.start()

    def on_begun(self) -> None:
        """Start the timeout in the step of the first call (TIME-1, TIME-2)."""
        self.operator.last_called = max(self.place, self.operator.last_called)
        if self.was_called:
            return
        self.was_called = True
        self.operator.queue.called[self.entry] = self.operator.clock()
        timeout = self.operator.config.timeout
        if timeout is not None:
            self.due = self.due_after(timeout)
            self.deadline = self.operator.timers.register(self.due, self.on_deadline)

    def due_after(self, timeout: float) -> float:
        """Return the time of the deadline; infinity means never (unlike Flink's TO-3)."""
        return self.operator.clock() + timeout

    def cancel(self) -> None:
        """Cancel the running call, as the record is decided without it (TIME-5)."""
        if self.attempt is not None:
            self.attempt.cancel()

    # The outcome

    def on_outcome(self, outcome: Outcome) -> None:
        """Decide the record by the outcome of its call, if the record is undecided (RES-4).

        Timers that were due earlier run first: this record's deadline (TIME-6, FAIL-4), or its
        next attempt, to which the outcome does not belong (ELEM-3).
        """
        number, timers = self.attempts, self.operator.timers
        if timers.earliest < outcome.at:
            timers.run_before(outcome.at)
        if self.attempts == number and (self.is_open or self.is_raised_besides(outcome)):
            self.conclude(outcome)

    @property
    def is_open(self) -> bool:
        """Whether the outcome of the present attempt counts."""
        return self.attempt is not None and self.attempt.is_open

    def conclude(self, outcome: Outcome) -> None:
        """Decide the record by the outcome of a call, or call again (RETRY-1, RETRY-7)."""
        try:
            results = self.results_of(outcome)
        except OperatorError as failure:
            self.conclude_failure(failure, outcome.at)
        else:
            self.conclude_results(results, outcome.at)

    def conclude_results(self, results: tuple[Any, ...], at: float) -> None:
        """Decide the record by the results of a call that ended at a time, or call again."""
        try:
            pause = self.pause_after(results, self.due - at)
        except OperatorError as failure:
            self.decide_despite(failure)
        else:
            if pause is None:
                self.decide(results)
            else:
                self.back_off(at + pause)

    def conclude_failure(self, failure: OperatorError, at: float) -> None:
        """Decide the record by the failure of a call that ended at a time, or call again.

        Raises:
            OperatorError: no further attempt follows, and the failure handler gives no results.
        """
        self.last_error = cause_or_self(failure)
        try:
            pause = None if self.is_decided else self.pause_after_failure(failure, self.due - at)
        except OperatorError as broken:
            failure, pause = broken, None
        if pause is None:
            self.decide_despite(failure)
        else:
            self.back_off(at + pause)

    def decide_despite(self, failure: OperatorError) -> None:
        """Decide the record by the failure handler's results in place of a failure (POLICY-2).

        If the record is decided already, raise the failure of the function itself (POLICY-5).

        Raises:
            OperatorError: the function has no handler, or the handler gives no results (POLICY-3,
                POLICY-4).
        """
        failure.after(self.attempts)
        handler = None if self.is_decided else self.operator.function.failure
        results = results_despite(failure, handler)
        self.operator.failures_handled += 1
        self.decide(results)

    def pause_after(self, results: tuple[Any, ...], left: float) -> float | None:
        """Return the seconds until the next attempt; None if the results are final.

        A back-off that does not end within the seconds `left` until the deadline does not begin
        (RETRY-19).
        """
        back_offs = self.operator.back_offs
        if back_offs is None:
            return None
        pause = back_offs.after_results(self.record, results, self.attempts, left)
        self.last_error = self.last_error if pause is None else ResultRejected(results)
        return pause

    def pause_after_failure(self, failure: OperatorError, left: float) -> float | None:
        """Return the seconds until the next attempt; None if the failure is final."""
        back_offs = self.operator.back_offs
        if back_offs is None or isinstance(failure.__cause__, NotCalled | CostMistold):
            return None
        return back_offs.after_failure(failure, self.attempts, left)

    def on_refused(self, error: NotCalled) -> None:
        """Fail the record of a call that does not begin, as the gate's mail (LIMIT-13).

        If a budget is spent, the stream ends with its error after the results in flight; a record
        in a back-off fails at once (LIMIT-15).
        """
        if self.is_decided:
            return
        if self.pause is None:
            self.cancel()
            self.attempts -= 1
        if isinstance(error, BudgetSpent):
            error = BudgetSpent(*error.args)
            error.__cause__ = self.last_error
        try:
            self.decide_despite(call_failed(self.record, error))
        except OperatorError as failure:
            if self.operator.gate is None or not isinstance(error, BudgetSpent):
                raise
            self.operator.gate.fail_later(self, failure)

    # Between two calls

    def back_off(self, due: float) -> None:
        """Call again at a time; until then the record keeps its slot (RETRY-3, RETRY-4)."""
        self.close_attempt()
        self.pause = self.operator.timers.register(due, self.on_pause_over)
        if self.operator.gate is not None:
            self.operator.gate.pause(self)

    def on_pause_over(self) -> None:
        """Call again, when the last call has ended, or is abandoned (RETRY-10).

        If the loop was blocked, the deadline may be over, too: then its timer is next, and no call
        begins (RETRY-18).
        """
        self.end_pause()
        if self.is_decided or self.operator.clock() > self.due:
            return
        if self.attempt is None or not self.operator.cancelled.tell(
            self.attempt.shared, self.start_again
        ):
            self.start()

    def end_pause(self) -> None:
        """End the back-off."""
        self.pause = None
        if self.operator.gate is not None:
            self.operator.gate.pausing.pop(self, None)

    def start_again(self) -> None:
        """Call again, if the record is still undecided."""
        if not self.is_decided:
            self.start()

    def close_attempt(self) -> None:
        """Ignore the present attempt from now on."""
        if self.attempt is not None:
            self.attempt.close()

    # The results

    @property
    def is_decided(self) -> bool:
        """Whether the outputs of the record are set."""
        return self.entry.outputs is not None

    def is_raised_besides(self, outcome: Outcome) -> bool:
        """Return whether a call in callback form has completed its record and raised (FAIL-1).

        An error in the instant of the deadline is late, if the deadline has decided the record.
        """
        by_callback = isinstance(outcome, Raised) and outcome.by_callback
        is_late = self.timed_out or self.is_late(outcome)
        return by_callback and self.is_decided and not is_late

    def is_late(self, outcome: Outcome) -> bool:
        """Return whether an outcome came after the deadline."""
        return outcome.at > self.due

    def results_of(self, outcome: Outcome) -> tuple[Any, ...]:
        """Return the results of a call.

        Raises:
            CallFailed: the call, or collecting its results, raised (FAIL-1, RES-6).
            InvalidResult: the call gave an object that is not a collection of results (RES-3).
        """
        if isinstance(outcome, Raised):
            raise failure_of(self.record, outcome.error)
        return self.collect(outcome)

    def collect(self, outcome: Returned) -> tuple[Any, ...]:
        """Read the results whole before the first is emitted (RES-6)."""
        try:
            given = supplied(outcome.given) if outcome.is_supplied else outcome.given
            return collect_results(self.record, given)
        except BaseException as error:
            reraise_fatal(error)
            failure = call_failed(self.record, error)
            raise failure from failure.__cause__

    # The deadline

    def on_deadline(self) -> None:
        """Decide the record at its deadline, if it is undecided (TIME-1, TIME-2)."""
        if not self.is_decided:
            self.operator.timeouts += 1
            self.timed_out = True
            self.cancel()
            try:
                results = self.results_at_deadline()
            except OperatorError as failure:
                self.decide_despite(failure)
            else:
                self.decide(results)

    def results_at_deadline(self) -> tuple[Any, ...]:
        """Return the results of the timeout handler in place of the call (TIME-3).

        Raises:
            CallTimedOut: the function has no handler, or it gave None or raised (TIME-4).
            InvalidResult: the handler gave an object that is not a collection of results (RES-3).
            CallFailed: the handler's results raised when they were collected (RES-6).
        """
        timeout, handler = self.operator.config.timeout, self.operator.function.timeout
        assert timeout is not None
        return results_at_deadline(self.record, handler, timeout, self.last_error)

    def cancel_deadline(self) -> None:
        """Leave no timer behind for a decided record (TIME-1, RETRY-18)."""
        if self.pause is not None:
            self.operator.timers.cancel(self.pause)
            self.end_pause()
        if self.deadline is not None:
            self.operator.timers.cancel(self.deadline)
            self.deadline = None  # breaks a reference cycle

    # The decision

    def decide(self, results: tuple[Any, ...]) -> None:
        """Set the outputs of the record, which the consumer may take from now on."""
        self.close_attempt()
        self.attempt = None  # breaks a reference cycle
        self.cancel_deadline()
        self.entry.outputs = deque(self.output_of(result) for result in results)
        self.operator.queue.completed(self.entry)
        self.operator.output.tell()
        self.operator.free_key(self)
        if self.operator.gathered is not None:
            self.operator.gathered.is_decided(self)

    def output_of(self, result: Any) -> Record:
        """Give a result the timestamp and the key of its record (ELEM-1, ELEM-2)."""
        return Record(result, self.record.timestamp, self.record.key)
