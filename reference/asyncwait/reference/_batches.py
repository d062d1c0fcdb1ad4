"""Batches: attempts that wait for each other, and share one call of the function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from asyncwait.reference._calls import SharedCall
from asyncwait.reference._counts import Permit
from asyncwait.reference._handler import Attempt, RecordOperator, ResultHandler
from asyncwait.reference._mailbox import Mail
from asyncwait.reference._outcomes import Outcome, Raised, Returned
from asyncwait.reference._timers import Timer
from asyncwait.spec import Batch
from asyncwait.toolkit import answers_of, outcome_of, reraise_fatal


class BatchingOperator(RecordOperator, Protocol):
    """The parts of an operator that its batches use; see `AsyncWaitOperator`."""

    batches: int


@dataclass(eq=False)
class BatchCall(SharedCall):
    """One call of the function for several attempts, each of which may leave it alone (BAT-12).

    Args:
        gathered: the waiting attempts and running calls of the operator.
        attempts: attempts of this call, in the order of their arrival.
        staying: attempts that still wait for the outcome.
        given: attempts whose values the function received, in this order.
        values: values, or their copies, that the function received.
        began: start of the call, in seconds of the loop's clock; the attempts' limit runs from it.
        has_failed: whether the whole call has raised, or exceeded the limit of an attempt.
        permit: permit of the call; None without limits.
    """

    gathered: Gathering
    attempts: Sequence[Attempt]
    staying: set[Attempt] = field(default_factory=set)
    given: list[Attempt] = field(default_factory=list)
    values: Sequence[Any] = ()
    began: float = math.inf
    has_failed: bool = False
    permit: Permit | None = None

    def __post_init__(self) -> None:
        self.staying.update(self.attempts)
        for attempt in self.attempts:
            attempt.batch = self

    @property
    def operator(self) -> BatchingOperator:
        """Operator of the records."""
        return self.gathered.operator

    def leave(self, attempt: Attempt) -> None:
        """Remove an attempt; cancel the call when the last attempt has left (BAT-13)."""
        self.staying.discard(attempt)
        if not self.staying:
            self.cancel()
            self.gathered.is_over(self)

    async def invoke(self) -> Outcome:
        """Call the function with the values of all attempts before their deadlines (RETRY-18)."""
        self.gathered.has_begun()
        self.has_begun()
        self.began, function = self.operator.clock(), self.operator.function.call
        self.values = values = [value for each in self.attempts for value in self.begin(each)]
        assert function is not None
        assert self.scope is not None
        if not values:
            return Returned((), self.began)
        self.operator.batches += 1
        record = self.given[0].handler.record
        returned = await outcome_of(record, function(list(values)), self.scope)
        return Returned(returned, self.operator.clock())

    def begin(self, attempt: Attempt) -> Sequence[Any]:
        """Begin an attempt in the step of the call; return its value in a list, or an empty list.

        An attempt whose value can't be copied fails alone.
        """
        if attempt not in self.staying or self.began > attempt.handler.due:
            return ()
        attempt.begin()
        self.bound(attempt)
        copy, value = self.operator.function.copy, attempt.handler.record.value
        try:
            value = value if copy is None else copy(value)
        except BaseException as error:
            reraise_fatal(error)
            attempt.post(attempt.on_outcome, Raised(error, self.began))
            return ()
        self.given.append(attempt)
        return (value,)

    def on_ended(self, outcome: Outcome | None) -> None:
        """Give each record its own outcome, as the mail of the end (BAT-8, BAT-9, BAT-10)."""
        self.gathered.is_over(self)
        if self.scope is not None and self.scope.cancel_called:
            self.operator.cancelled.ended(self)
        self.scope = None
        outcome = self.has_ended(outcome)
        if outcome is not None:
            for attempt, own in zip(self.given, self.outcomes(outcome), strict=True):
                if attempt in self.staying:
                    self.bound(attempt)
                    attempt.on_outcome(own)

    def on_limit(self, attempt: Attempt) -> None:
        """Take note that an attempt has left by its limit, as all other attempts do now."""
        self.has_failed = True
        self.bound(attempt)

    def outcomes(self, outcome: Outcome) -> Sequence[Outcome]:
        """Return the outcome of the call for each of its records."""
        read = outcome if isinstance(outcome, Raised) else self.answers(outcome)
        if isinstance(read, Raised):
            self.has_failed = True
            return [read] * len(self.given)
        return [
            Raised(answer, outcome.at)
            if isinstance(answer, BaseException)
            else Returned(answer, outcome.at)
            for answer in read
        ]

    def answers(self, outcome: Returned) -> Sequence[Any] | Raised:
        """Return the answer for each value, or the error that reading the answers raised."""
        try:
            return answers_of(self.values, outcome.given)
        except BaseException as error:
            reraise_fatal(error)
            return Raised(error, outcome.at)

    def bound(self, attempt: Attempt) -> None:
        """Bound the size of the record's next batch; in its last call it is alone (BAT-14)."""
        config = self.operator.config
        if config.batch is not None and config.batch.split and config.retry is not None:
            room = max(1, len(self.given) // 2) if self.has_failed else None
            is_last = attempt.number == config.retry.max_attempts - 1
            attempt.handler.room = 1 if is_last else room


class Gathering:
    """Attempts that wait for others to share a call, and the calls that run (BAT-1 to BAT-7).

    Args:
        operator: operator of the attempts.
        batch: sizes and times of batches.
        call_class: class of the batched call.
        nothing_more_comes: returns whether no further record can join the waiting attempts.
    """

    def __init__(
        self,
        operator: BatchingOperator,
        batch: Batch,
        call_class: type[BatchCall],
        nothing_more_comes: Callable[[], bool],
    ) -> None:
        self.operator = operator
        self.batch = batch
        self.call_class = call_class
        self.nothing_more_comes = nothing_more_comes
        self.waiting: dict[Attempt, float] = {}
        """Arrival of each waiting attempt, in seconds of the loop's clock, in this order."""
        self.away: dict[ResultHandler, None] = {}
        """Handlers with an attempt in a batch that are neither decided nor waiting again."""
        self.running: set[BatchCall] = set()
        self.alarm: Timer | None = None
        self.glance: Mail | None = None
        """Mail in the mailbox that will run `look`; None without such a mail."""
        self.starting: BatchCall | None = None
        """Call with a task that has not begun; the next call waits for it (ORD-4)."""
        self.permit: Permit | None = None
        """Permit for which the next batch waits; None without limits."""

    def join(self, attempt: Attempt) -> None:
        """Add an attempt, which waits for others for `max_wait` at most."""
        self.waiting[attempt] = self.operator.clock()
        self.away.pop(attempt.handler, None)
        if self.next_batch()[1]:
            self.look()
        else:
            self.look_soon()

    def leave(self, attempt: Attempt) -> None:
        """Forget a waiting attempt that its record no longer needs."""
        if self.waiting.pop(attempt, None) is not None:
            if self.permit is not None and not self.waiting:
                self.no_more_waits(self.permit)
            self.set_alarm()

    def is_decided(self, handler: ResultHandler) -> None:
        """Take note that a record is decided; waiting attempts may have waited for its return."""
        self.away.pop(handler, None)
        self.look_soon()

    def some_may_come(self) -> bool:
        """Return whether a called record may return, or free its key for another (BAT-3)."""
        retry = self.operator.config.retry
        last = 1 if retry is None else retry.max_attempts
        return any(
            handler.attempts < last or (handler.line is not None and len(handler.line) > 1)
            for handler in self.away
        )

    def is_over(self, call: BatchCall) -> None:
        """Free the place of a call that has ended, or for which no attempt waits any more."""
        self.running.discard(call)
        if self.starting is call:
            self.starting = None
        self.look_soon()

    def look_soon(self) -> None:
        """Run `look` after the present mails, so that attempts that they add can join."""
        if self.glance is None:
            self.glance = Mail(self.look)
            self.operator.mailbox.offer(self.glance)

    def look(self) -> None:
        """Start the next batch if it is due; the batch after it starts when this one has begun."""
        self.glance = None
        if self.may_go:
            attempts, is_full = self.next_batch()
            is_over = self.has_waited() or self.nothing_more_comes() or self.is_stopped
            if is_full or is_over:
                self.ask(attempts)
        self.set_alarm()

    @property
    def may_go(self) -> bool:
        """Whether attempts wait, and another call may run."""
        is_free = len(self.running) < self.batch.in_flight and self.starting is None
        return is_free and self.permit is None and len(self.waiting) > 0

    @property
    def is_stopped(self) -> bool:
        """Whether a budget is spent, so that no further batch starts."""
        return self.operator.gate is not None and self.operator.gate.spent is not None

    def has_begun(self) -> None:
        """Take note that the starting call has begun."""
        self.starting = None
        self.look_soon()

    def next_batch(self) -> tuple[Sequence[Attempt], bool]:
        """Return the attempts of the next batch, and whether the batch is full."""
        attempts: list[Attempt] = []
        room = self.batch.max_size
        for attempt in self.waiting:
            room = min(room, attempt.handler.room or room)
            if len(attempts) >= room:
                return attempts, True
            attempts.append(attempt)
        return attempts, len(attempts) >= room

    def has_waited(self) -> bool:
        """Return whether the first attempt has waited for `max_wait`."""
        return self.due <= self.operator.clock()

    @property
    def due(self) -> float:
        """Time at which the first attempt has to start, in seconds of the loop's clock."""
        return next(iter(self.waiting.values())) + self.batch.max_wait

    def ask(self, attempts: Sequence[Attempt]) -> None:
        """Call the function for a batch, once the limits have room; attempts may join till then."""
        if self.operator.gate is None:
            self.go(attempts)
        else:
            self.operator.gate.enter(self)

    @property
    def attempts(self) -> Sequence[Attempt]:
        """Attempts of the next batch: as many as do not exceed a limit (LIMIT-13)."""
        gate, (attempts, _) = self.operator.gate, self.next_batch()
        assert gate is not None
        sizes = range(len(attempts), 1, -1)
        fits = (n for n in sizes if not gate.is_too_large(values_of(attempts[:n])))
        return attempts[: next(fits, 1)]

    @property
    def values(self) -> Sequence[Any]:
        """Values of the next batch."""
        return values_of(self.attempts)

    @property
    def handlers(self) -> Sequence[ResultHandler]:
        """Handlers of the next batch."""
        return [attempt.handler for attempt in self.attempts]

    def is_refused(self) -> None:
        """Drop the attempts of the next batch, for which the function will not be called."""
        self.permit = None
        for attempt in self.attempts:
            del self.waiting[attempt]
        self.look_soon()

    def no_more_waits(self, permit: Permit) -> None:
        """Withdraw the request for a permit, as no attempt waits."""
        self.permit = None
        if self.operator.gate is not None:
            self.operator.gate.withdraw(permit)

    def permitted(self, permit: Permit | None) -> None:
        """Call the function for a batch, for which all limits have room."""
        self.permit = None
        self.go(self.attempts, permit)

    def go(self, attempts: Sequence[Attempt], permit: Permit | None = None) -> None:
        """Call the function for a batch."""
        for attempt in attempts:
            del self.waiting[attempt]
            self.away[attempt.handler] = None
        call = self.call_class(self, attempts)
        self.running.add(call)
        self.starting = call
        call.permitted(permit)

    def set_alarm(self) -> None:
        """Set the timer for the first attempt, in place of any earlier timer (BAT-4)."""
        timers = self.operator.timers
        if self.alarm is not None:
            timers.cancel(self.alarm)
            self.alarm = None
        if self.may_go:
            self.alarm = timers.register(self.due, self.on_alarm)

    def on_alarm(self) -> None:
        """Start the due batch, as the timer's mail; the clock may be a tick behind the timer."""
        self.alarm = None
        if self.may_go:
            self.ask(self.next_batch()[0])
        self.look()


def values_of(attempts: Sequence[Attempt]) -> Sequence[Any]:
    """Return the values of the attempts' records."""
    return [attempt.handler.record.value for attempt in attempts]
