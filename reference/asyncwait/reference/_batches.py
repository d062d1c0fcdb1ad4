"""Attempts that share a call of the function: how they gather, and when a batch of them goes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from asyncwait.reference._calls import TaskCall
from asyncwait.reference._mailbox import Mail
from asyncwait.reference._outcomes import Outcome, Raised, Returned
from asyncwait.toolkit import answers_of, outcome_of, reraise_fatal

if TYPE_CHECKING:
    from collections.abc import Callable

    from asyncwait.reference._gate import Permit
    from asyncwait.reference._handler import Attempt, ResultHandler
    from asyncwait.reference._operator import AsyncWaitOperator
    from asyncwait.reference._timers import Timer
    from asyncwait.spec import Batch


@dataclass(eq=False)
class BatchCall(TaskCall):
    """One call of the function for several attempts, each of which may leave it alone (BAT-12).

    Args:
        gathered: where they have gathered.
        attempts: in the order in which they gathered.
        staying: those that go by what the call comes to, still.
        given: those whose values the function was given, in that order.
        values: which it was given, copies where copies are made.
        began: when it was called, in seconds of the loop's clock: one limit holds for all.
        has_failed: as a whole: it has raised, or that limit has passed.
        permit: of the call, where there are limits.
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
    def operator(self) -> AsyncWaitOperator:
        """The one whose records they are."""
        return self.gathered.operator

    def leave(self, attempt: Attempt) -> None:
        """Go on without an attempt; when the last has left, nobody waits for the call (BAT-13)."""
        self.staying.discard(attempt)
        if not self.staying:
            self.cancel()
            self.gathered.is_over(self)

    async def invoke(self) -> Outcome:
        """Call the function with the values of all whose time is not over (RETRY-18)."""
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
        """Begin an attempt in the step of the call; return what stands for it there, if anything.

        One whose value can't be copied has failed alone (COPY-4).
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
        """The mail of the call's end: each record has its own outcome (BAT-8, BAT-9, BAT-10)."""
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
        """Take note that an attempt has left by its limit, as all others do now."""
        self.has_failed = True
        self.bound(attempt)

    def outcomes(self, outcome: Outcome) -> Sequence[Outcome]:
        """Return what the call came to for each record that it was made for."""
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
        """Return what the call gave for each value; what it raises when it is read, for none."""
        try:
            return answers_of(self.values, outcome.given)
        except BaseException as error:
            reraise_fatal(error)
            return Raised(error, outcome.at)

    def bound(self, attempt: Attempt) -> None:
        """Bound how many share the next call of a record, the last of which is its own (BAT-14)."""
        config = self.operator.config
        if config.batch is not None and config.batch.split and config.retry is not None:
            room = max(1, len(self.given) // 2) if self.has_failed else None
            is_last = attempt.number == config.retry.max_attempts - 1
            attempt.handler.room = 1 if is_last else room


class Gathering:
    """Attempts that wait for others to share a call, and the calls that run (BAT-1 to BAT-7).

    Args:
        operator: whose attempts they are.
        batch: the sizes and times.
        call_class: calls the function for a batch.
        nothing_more_comes: whether it is no use to wait for others.
    """

    def __init__(
        self,
        operator: AsyncWaitOperator,
        batch: Batch,
        call_class: type[BatchCall],
        nothing_more_comes: Callable[[], bool],
    ) -> None:
        self.operator = operator
        self.batch = batch
        self.call_class = call_class
        self.nothing_more_comes = nothing_more_comes
        self.waiting: dict[Attempt, float] = {}
        """When each has come, in seconds of the loop's clock; the first of them first."""
        self.away: dict[ResultHandler, None] = {}
        """Those whose attempt went with a batch, and who are neither decided nor back."""
        self.running: set[BatchCall] = set()
        self.alarm: Timer | None = None
        self.glance: Mail | None = None
        """Which is to look, and is on its way."""
        self.starting: BatchCall | None = None
        """Which has its task, and has not begun: tasks may begin in any order (ORD-4)."""
        self.permit: Permit | None = None
        """For which the next batch waits, where there are limits."""

    def join(self, attempt: Attempt) -> None:
        """Have an attempt wait for others, no longer than it may."""
        self.waiting[attempt] = self.operator.clock()
        self.away.pop(attempt.handler, None)
        if self.next_batch()[1]:
            self.look()
        else:
            self.look_soon()

    def leave(self, attempt: Attempt) -> None:
        """Forget an attempt that its record does without."""
        if self.waiting.pop(attempt, None) is not None:
            if self.permit is not None and not self.waiting:
                self.no_more_waits(self.permit)
            self.set_alarm()

    def is_decided(self, handler: ResultHandler) -> None:
        """Take note that a record will not come back; the others may have waited for that."""
        self.away.pop(handler, None)
        self.look_soon()

    def some_may_come(self) -> bool:
        """Whether a record may come back, or one come whose key is free then (BAT-3)."""
        retry = self.operator.config.retry
        last = 1 if retry is None else retry.max_attempts
        return any(
            handler.attempts < last or (handler.line is not None and len(handler.line) > 1)
            for handler in self.away
        )

    def is_over(self, call: BatchCall) -> None:
        """Take note that a call takes no place any more: it has ended, or nobody waits for it."""
        self.running.discard(call)
        if self.starting is call:
            self.starting = None
        self.look_soon()

    def look_soon(self) -> None:
        """Look behind all that happens at once: whoever joins by that does not go alone."""
        if self.glance is None:
            self.glance = Mail(self.look)
            self.operator.mailbox.offer(self.glance)

    def look(self) -> None:
        """Let the next batch go if it may, and has to; when it has begun, the one behind it."""
        self.glance = None
        if self.may_go:
            attempts, is_full = self.next_batch()
            is_over = self.has_waited() or self.nothing_more_comes() or self.is_stopped
            if is_full or is_over:
                self.ask(attempts)
        self.set_alarm()

    @property
    def may_go(self) -> bool:
        """Whether there is a batch, and a place for it."""
        is_free = len(self.running) < self.batch.in_flight and self.starting is None
        return is_free and self.permit is None and len(self.waiting) > 0

    @property
    def is_stopped(self) -> bool:
        """Whether a budget is spent, so that no batch goes any more."""
        return self.operator.gate is not None and self.operator.gate.spent is not None

    def has_begun(self) -> None:
        """Take note that the call that went last has begun."""
        self.starting = None
        self.look_soon()

    def next_batch(self) -> tuple[Sequence[Attempt], bool]:
        """Return what would go now, and whether no more would fit into it."""
        attempts: list[Attempt] = []
        room = self.batch.max_size
        for attempt in self.waiting:
            room = min(room, attempt.handler.room or room)
            if len(attempts) >= room:
                return attempts, True
            attempts.append(attempt)
        return attempts, len(attempts) >= room

    def has_waited(self) -> bool:
        """Whether the first of them has waited as long as it may."""
        return self.due <= self.operator.clock()

    @property
    def due(self) -> float:
        """When the first of them has to go, in seconds of the loop's clock."""
        return next(iter(self.waiting.values())) + self.batch.max_wait

    def ask(self, attempts: Sequence[Attempt]) -> None:
        """Have the function called for a batch, once the limits have room; others may join it."""
        if self.operator.gate is None:
            self.go(attempts)
        else:
            self.operator.gate.enter(self)

    @property
    def attempts(self) -> Sequence[Attempt]:
        """The attempts that would go now: as many as do not exceed a limit (LIMIT-13)."""
        gate, (attempts, _) = self.operator.gate, self.next_batch()
        assert gate is not None
        sizes = range(len(attempts), 1, -1)
        fits = (n for n in sizes if not gate.is_too_large(values_of(attempts[:n])))
        return attempts[: next(fits, 1)]

    @property
    def values(self) -> Sequence[Any]:
        """Their values."""
        return values_of(self.attempts)

    @property
    def handlers(self) -> Sequence[ResultHandler]:
        """Their handlers."""
        return [attempt.handler for attempt in self.attempts]

    def is_refused(self) -> None:
        """Take note that the next batch is not called for; nor does it wait any more."""
        self.permit = None
        for attempt in self.attempts:
            del self.waiting[attempt]
        self.look_soon()

    def no_more_waits(self, permit: Permit) -> None:
        """Wait for no permit any more, as no record does."""
        self.permit = None
        if self.operator.gate is not None:
            self.operator.gate.withdraw(permit)

    def permitted(self, permit: Permit | None) -> None:
        """Have the function called for a batch: all limits have room for it."""
        self.permit = None
        self.go(self.attempts, permit)

    def go(self, attempts: Sequence[Attempt], permit: Permit | None = None) -> None:
        """Have the function called for a batch."""
        for attempt in attempts:
            del self.waiting[attempt]
            self.away[attempt.handler] = None
        call = self.call_class(self, attempts)
        self.running.add(call)
        self.starting = call
        call.permitted(permit)

    def set_alarm(self) -> None:
        """Look again when the first of them has to go; no timer of an earlier one stays (BAT-4)."""
        timers = self.operator.timers
        if self.alarm is not None:
            timers.cancel(self.alarm)
            self.alarm = None
        if self.may_go:
            self.alarm = timers.register(self.due, self.on_alarm)

    def on_alarm(self) -> None:
        """The timer's mail; the clock may be a tick behind it."""
        self.alarm = None
        if self.may_go:
            self.ask(self.next_batch()[0])
        self.look()


def values_of(attempts: Sequence[Attempt]) -> Sequence[Any]:
    """Return the values of attempts."""
    return [attempt.handler.record.value for attempt in attempts]
