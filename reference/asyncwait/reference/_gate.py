"""The gate between admission and call: a call begins when all limits have room for it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from contextvars import Context, copy_context
from functools import partial
from typing import Any, Protocol

from asyncwait.reference._counts import (
    ROUNDING,
    BudgetCount,
    Caller,
    Count,
    Need,
    Permit,
    Waiter,
    count_of,
    read_cost,
)
from asyncwait.reference._mailbox import Mail, TaskMailbox
from asyncwait.reference._outcomes import Outcome
from asyncwait.reference._queues import ElementQueue
from asyncwait.reference._timers import Timer, TimerService
from asyncwait.spec import OperatorConfig, OperatorError, Record
from asyncwait.spec.limits import AnyLimit, BudgetSpent, NotCalled, PermitTimedOut
from asyncwait.toolkit import isolated


class GatedOperator(Protocol):
    """The parts of an operator that its gate uses; see `AsyncWaitOperator`."""

    clock: Callable[[], float]
    config: OperatorConfig
    last_called: int
    mailbox: TaskMailbox
    queue: ElementQueue
    timers: TimerService


class Gate:
    """Calls that wait for their permits, retries first (LIMIT-4 to LIMIT-8).

    Args:
        operator: operator of the calls.
        limits: limits of each call.
        on_spent: called when a budget is spent.

    Attributes:
        waiting: calls without a permit, in the order of their arrival.
        running: calls with a permit that have not ended.
        pausing: handlers of records that back off.
        starting: call with a permit that has not begun; the next call waits for it (ORD-4).
        spent: error of the spent budget; None before a budget is spent.
        is_failure: whether the stream ends with this error.
        failure: first failure of a record that lacks budget; None without such a record.
        unpaid: all records that lack budget, for snapshots.
    """

    def __init__(
        self,
        operator: GatedOperator,
        limits: Sequence[AnyLimit],
        on_spent: Callable[[], object],
    ) -> None:
        self.operator = operator
        self.on_spent = on_spent
        self.counts = [count_of(limit) for limit in limits]
        self.context: Context = copy_context()
        self.waiting: list[Permit] = []
        self.running: dict[Permit, None] = {}
        self.pausing: dict[Waiter, None] = {}
        self.starting: Permit | None = None
        self.alarm: Timer | None = None
        self.glance: Mail | None = None
        self.spent: BudgetSpent | None = None
        self.is_failure = False
        self.failure: OperatorError | None = None
        self.unpaid: list[Record] = []
        for count in self.counts:
            count.gates[self] = None

    # Calls

    def enter(self, caller: Caller) -> None:
        """Request a permit for a call, which may begin at once."""
        caller.permit = permit = Permit(caller)
        self.waiting.append(permit)
        if self.spent is None:
            self.look()
        else:
            self.leave_out(permit, self.spent)

    def withdraw(self, permit: Permit) -> None:
        """Forget a call that its records no longer need, if it has not begun (LIMIT-6)."""
        if permit in self.waiting:
            self.waiting.remove(permit)
        elif permit.begun == math.inf:
            self.give_back(permit)
        self.look_soon()

    def begun(self, permit: Permit) -> None:
        """Take note that a call begins, in any task, so that the next call may get its permit.

        Other operators look again: the time at which windows stop counting the call is known now.
        """
        permit.begun = self.operator.clock()
        self.starting = None
        self.tell_all()

    def ended(self, permit: Permit, outcome: Outcome | None) -> Outcome | None:
        """Take note of the outcome of a call; return the outcome without its cost.

        Args:
            permit: permit of the call.
            outcome: outcome of the call; None for a cancelled call.
        """
        if permit.begun == math.inf:
            self.give_back(permit)
        elif permit.ended == math.inf:
            self.running.pop(permit)
            permit.ended = self.operator.clock() if outcome is None else outcome.at
            permit.outcome, permit.used = read_cost(outcome, self.counts)
            for need in permit.needs:
                need.count.ended(permit)
            outcome = permit.outcome
        self.tell_all()
        return outcome

    def give_back(self, permit: Permit) -> None:
        """Free the permit of a call that does not begin (LIMIT-6)."""
        self.running.pop(permit, None)
        for need in permit.needs:
            need.count.calls.pop(permit, None)
        if self.starting is permit:
            self.starting = None

    def close(self) -> None:
        """Remove all calls from the counts, as the operator is over."""
        self.waiting.clear()
        for permit in list(self.running):
            self.ended(permit, None)
        for count in self.counts:
            count.gates.pop(self, None)

    # Choice of the next call

    def look_soon(self) -> None:
        """Run `look` after the present mails."""
        if self.glance is None:
            self.glance = Mail(self.look)
            self.operator.mailbox.offer(self.glance)

    def tell_all(self) -> None:
        """Let all operators that share a limit look again."""
        for gate in {gate for count in self.counts for gate in count.gates} | {self}:
            gate.look_soon()

    def look(self) -> None:
        """Give the next call its permit; the call after it gets a permit when this one has begun.

        A call that lacks room in a limit reserves this limit for itself: no later call takes room
        of the limit (LIMIT-8), but calls that need other limits, or other keys, may pass.
        """
        self.glance = None
        if self.starting is not None or self.spent is not None:
            return
        reserved: set[Any] = set()
        for permit in self.in_order():
            if not self.is_known(permit):
                continue
            lacking = self.lacking(permit, reserved)
            reserved.update(need.place for need in lacking)
            if not lacking:
                self.grant(permit)
                return
            if self.stop_if_spent(lacking):
                return
            self.note(permit, lacking)
        self.set_alarm()
        self.stop_if_over()

    def in_order(self) -> Sequence[Permit]:
        """Return the waiting calls: further attempts first, then first calls in input order.

        A record that has waited for its key precedes later records that came to the gate before.
        """
        return sorted(self.waiting, key=operator.attrgetter("order"))

    def lacking(self, permit: Permit, reserved: set[Any]) -> list[Need]:
        """Return the needs of a call without room, or with room that is reserved."""
        return [
            need for need in permit.needs if need.place in reserved or not need.count.has_room(need)
        ]

    def grant(self, permit: Permit) -> None:
        """Let a call begin."""
        self.waiting.remove(permit)
        self.running[permit] = None
        self.starting = permit
        for need in permit.needs:
            need.count.calls[permit] = need
        permit.caller.permitted(permit)

    def needs(self, values: Sequence[Any]) -> Sequence[Need]:
        """Return the need of a call for some values, for each limit.

        Raises:
            NotCalled: a need is too large, or can't be determined (LIMIT-13).
        """
        return [isolated(count.need, self.context)(values) for count in self.counts]

    def is_known(self, permit: Permit) -> bool:
        """Determine the needs of a call; refuse a call with a need unknown or too large."""
        values = permit.caller.values
        if is_same(values, permit.values):
            return True
        permit.values = values
        try:
            permit.needs = self.needs(values)
        except NotCalled as error:
            self.refuse(permit, error)
            return False
        return True

    def is_too_large(self, values: Sequence[Any]) -> bool:
        """Return whether a call for some values would exceed a limit, however long it waits."""
        try:
            self.needs(values)
        except NotCalled:
            return True
        return False

    def note(self, permit: Permit, lacking: Sequence[Need]) -> None:
        """Note the limits that a call waits for; refuse it after its longest wait (LIMIT-17)."""
        now = self.operator.clock()
        permit.lacking = {n.count: permit.lacking.get(n.count, now) for n in lacking}
        for count, since in permit.lacking.items():
            if now >= since + longest_wait(count) - ROUNDING:
                text = f"the call has waited {now - since:g} s for {count.limit}"
                self.refuse(permit, PermitTimedOut(text))
                return

    def refuse(self, permit: Permit, error: NotCalled) -> None:
        """Refuse a call: its records fail without a further attempt."""
        self.waiting.remove(permit)
        handlers = permit.caller.handlers
        permit.caller.is_refused()
        for handler in handlers:
            self.operator.mailbox.offer(Mail(partial(handler.on_refused, error)))

    def set_alarm(self) -> None:
        """Set a timer for the next time at which room appears or a longest wait ends."""
        timers = self.operator.timers
        if self.alarm is not None:
            timers.cancel(self.alarm)
        ends = [
            since + longest_wait(count)
            for permit in self.waiting
            for count, since in permit.lacking.items()
        ]
        changes = [count.changes_at() for count in self.counts] if self.waiting else []
        due = min((*ends, *changes), default=math.inf)
        self.alarm = None if due == math.inf else timers.register(due, self.look)

    # A budget that is spent

    def stop_if_spent(self, lacking: Sequence[Need]) -> bool:
        """Let no further call begin if a call lacks a budget that is spent (LIMIT-15)."""
        for need in lacking:
            if isinstance(need.count, BudgetCount) and need.count.is_spent_for(need):
                self.stop(need.count)
                return True
        return False

    def stop_if_over(self) -> None:
        """Let no further call begin if records back off, and a budget allows no further call."""
        over = [each for each in self.counts if isinstance(each, BudgetCount) and each.is_over()]
        if over and self.pausing:
            self.stop(over[0])

    def pause(self, handler: Waiter) -> None:
        """Take note that a record backs off; it fails at once if a budget is spent."""
        self.pausing[handler] = None
        if self.spent is None:
            self.look_soon()
        else:
            self.end_pause(handler, self.spent)

    def end_pause(self, handler: Waiter, spent: BudgetSpent) -> None:
        """Let a record in a back-off fail, unless its deadline precedes its next call."""
        if handler.pause is not None and handler.pause.when <= handler.due:
            self.operator.mailbox.offer(Mail(partial(handler.on_refused, spent)))

    def stop(self, count: BudgetCount) -> None:
        """Read nothing more; waiting records fail, or are left out."""
        limit = count.limit
        self.spent = BudgetSpent(f"{count.taken:g} of {limit.amount:g} {limit.unit} are taken")
        self.is_failure = limit.then == "fail"
        for permit in list(self.waiting):
            self.leave_out(permit, self.spent)
        for handler in list(self.pausing):
            self.end_pause(handler, self.spent)
        self.on_spent()

    def leave_out(self, permit: Permit, spent: BudgetSpent) -> None:
        """Let the records of a call fail if one was called, or precedes a called record.

        Records after the last called record are left out, as if they had not been read.
        """
        handlers = permit.caller.handlers
        if any(each.was_called or each.place < self.operator.last_called for each in handlers):
            self.refuse(permit, spent)
        else:
            self.waiting.remove(permit)
            permit.caller.is_refused()

    def is_drained(self) -> bool:
        """Return whether a budget is spent, and all records in flight are left out."""
        queue = self.operator.queue
        return self.spent is not None and not queue.called and queue.peek_ready() is None

    def fail_later(self, handler: Waiter, failure: OperatorError) -> None:
        """Let the stream end with a failure, after the results of the other records in flight."""
        self.failure = self.failure or failure
        self.unpaid.append(handler.record)
        handler.decide(())

    def end(self, stopped: Sequence[Any]) -> BaseException | None:
        """Return the error with which the stream ends; None for none.

        Args:
            stopped: values of the records that are left out.
        """
        if self.failure is None and self.spent is not None and self.is_failure:
            self.spent.stopped = tuple(stopped)
            return self.spent
        return self.failure

    # Figures

    def figure(self) -> tuple[int, ...]:
        """Return the number of records that wait for each limit (LIMIT-12)."""
        return tuple(
            sum(len(each.caller.handlers) for each in self.waiting if count in each.lacking)
            for count in self.counts
        )


def is_same(values: Sequence[Any], others: Sequence[Any]) -> bool:
    """Return whether two lists hold the very same objects; the first list is not empty."""
    return len(values) == len(others) and all(map(operator.is_, values, others))


def longest_wait(count: Count) -> float:
    """Return the longest wait of a call for a limit, in seconds."""
    longest: float | None = getattr(count.limit, "max_wait", None)
    return math.inf if longest is None else longest
