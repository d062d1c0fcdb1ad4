"""The gate between admission and call: a call begins when all limits have room for it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from asyncwait.reference._counts import (
    ROUNDING,
    BudgetCount,
    Count,
    Need,
    count_of,
    read_cost,
)
from asyncwait.reference._mailbox import Mail
from asyncwait.spec import Record
from asyncwait.spec.limits import BudgetSpent, NotCalled, PermitTimedOut
from asyncwait.toolkit import isolated

if TYPE_CHECKING:
    from asyncwait.reference._handler import ResultHandler
    from asyncwait.reference._operator import AsyncWaitOperator
    from asyncwait.reference._outcomes import Outcome
    from asyncwait.reference._timers import Timer
    from asyncwait.spec import OperatorError
from asyncwait.spec.limits import AnyLimit


class Caller(Protocol):
    """A call to come: of an attempt, a batch, or a load.

    Attributes:
        permit: for which the call waits.
    """

    permit: Permit | None

    @property
    def values(self) -> Sequence[Any]:
        """The values of the call, as it would be made now."""
        ...

    @property
    def handlers(self) -> Sequence[ResultHandler]:
        """The handlers of the records that wait for the call."""
        ...

    def permitted(self, permit: Permit) -> None:
        """Have the function called: all limits have room for it."""
        ...

    def is_refused(self) -> None:
        """Take note that the call will not be made."""
        ...


@dataclass(eq=False)
class Permit:
    """One call: it waits for its permit, has it, or has ended. Times are the loop's, in seconds.

    Args:
        caller: asks for the permit, and makes the call.
        values: for which the call would be made now.
        needs: what it needs, in the order of the limits.
        lacking: the limits that have no room for it, and since when it has waited for each.
        begun: when the function was called.
        ended: when the call has ended.
        outcome: what it has come to; None for a call that was cancelled.
        used: the cost that it told; None for no cost.
    """

    caller: Caller
    values: Sequence[Any] = ()
    needs: Sequence[Need] = ()
    lacking: dict[Count, float] = field(default_factory=dict)
    begun: float = math.inf
    ended: float = math.inf
    outcome: Outcome | None = None
    used: Any = None

    @property
    def is_retry(self) -> bool:
        """Whether a record that was called before waits for the call."""
        return any(handler.was_called for handler in self.caller.handlers)

    @property
    def order(self) -> tuple[bool, int]:
        """Place among the waiting calls: first calls go in the order of their records."""
        places = [0] if self.is_retry else [handler.place for handler in self.caller.handlers]
        return not self.is_retry, min(places, default=0)


class Gate:
    """Calls that wait for their permits, retries first (LIMIT-4 to LIMIT-8).

    Args:
        operator: whose calls they are.
        limits: which hold for each call.
        on_spent: called when a budget is spent.

    Attributes:
        waiting: in the order in which they came.
        running: calls with a permit, which have not ended.
        pausing: the handlers of records that back off.
        starting: has its permit, and has not begun: tasks may begin in any order (ORD-4).
        spent: the error of the budget that is spent; None while calls go on.
        is_failure: whether the stream ends with that error.
        failure: the failure of a record that the budget does not pay for; None for no such record.
        unpaid: these records, for snapshots.
    """

    def __init__(
        self,
        operator: AsyncWaitOperator,
        limits: Sequence[AnyLimit],
        on_spent: Callable[[], object],
    ) -> None:
        self.operator = operator
        self.on_spent = on_spent
        self.counts = [count_of(limit) for limit in limits]
        self.context: Context = copy_context()
        self.waiting: list[Permit] = []
        self.running: dict[Permit, None] = {}
        self.pausing: dict[ResultHandler, None] = {}
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
        """Have a call wait for its permit, which it may get at once."""
        caller.permit = permit = Permit(caller)
        self.waiting.append(permit)
        if self.spent is None:
            self.look()
        else:
            self.leave_out(permit, self.spent)

    def withdraw(self, permit: Permit) -> None:
        """Forget a call that its records do without, if it has not begun (LIMIT-6)."""
        if permit in self.waiting:
            self.waiting.remove(permit)
        elif permit.begun == math.inf:
            self.give_back(permit)
        self.look_soon()

    def begun(self, permit: Permit) -> None:
        """Take note that a call begins, in whichever task; now the next one may.

        From now on other operators know, too, when windows stop counting the call.
        """
        permit.begun = self.operator.clock()
        self.starting = None
        self.tell_all()

    def ended(self, permit: Permit, outcome: Outcome | None) -> Outcome | None:
        """Take note of what a call came to; return that without the cost that it told.

        Args:
            permit: of the call.
            outcome: None for a call that was cancelled.
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
        """Leave nothing that counts, as the operator is over."""
        self.waiting.clear()
        for permit in list(self.running):
            self.ended(permit, None)
        for count in self.counts:
            count.gates.pop(self, None)

    # Who gets a permit

    def look_soon(self) -> None:
        """Look behind all that happens at once."""
        if self.glance is None:
            self.glance = Mail(self.look)
            self.operator.mailbox.offer(self.glance)

    def tell_all(self) -> None:
        """Have all operators look that share a limit."""
        for gate in {gate for count in self.counts for gate in count.gates} | {self}:
            gate.look_soon()

    def look(self) -> None:
        """Give the next call its permit; when it has begun, the one behind it may get its own.

        A call that lacks room in a limit reserves this limit for itself: no call behind it takes
        room of the limit (LIMIT-8), and calls that need other limits, or other keys, pass.
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
        """Return the calls that wait: those of records that were called before come first.

        A record that has waited for its key goes before later ones, which have waited here.
        """
        return sorted(self.waiting, key=operator.attrgetter("order"))

    def lacking(self, permit: Permit, reserved: set[Any]) -> list[Need]:
        """Return what a call needs and lacks: no room, or only room that is reserved."""
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
        """Return what a call for some values needs of each limit.

        Raises:
            NotCalled: that is too much, or can't be known (LIMIT-13).
        """
        return [isolated(count.need, self.context)(values) for count in self.counts]

    def is_known(self, permit: Permit) -> bool:
        """Note what a call needs; one of which that is unknown or too much has failed."""
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
        """Whether a call for some values would exceed a limit, however long it waits."""
        try:
            self.needs(values)
        except NotCalled:
            return True
        return False

    def note(self, permit: Permit, lacking: Sequence[Need]) -> None:
        """Note for which limits a call waits; it has failed after its longest wait (LIMIT-17)."""
        now = self.operator.clock()
        permit.lacking = {n.count: permit.lacking.get(n.count, now) for n in lacking}
        for count, since in permit.lacking.items():
            if now >= since + longest_wait(count) - ROUNDING:
                text = f"the call has waited {now - since:g} s for {count.limit}"
                self.refuse(permit, PermitTimedOut(text))
                return

    def refuse(self, permit: Permit, error: NotCalled) -> None:
        """Have the records of a call fail that does not begin: no further attempt follows."""
        self.waiting.remove(permit)
        handlers = permit.caller.handlers
        permit.caller.is_refused()
        for handler in handlers:
            self.operator.mailbox.offer(Mail(partial(handler.on_refused, error)))

    def set_alarm(self) -> None:
        """Look again when time alone may make room, or a call has waited as long as it may."""
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
        """Have no further call begin if a call lacks a budget that is spent (LIMIT-15)."""
        for need in lacking:
            if isinstance(need.count, BudgetCount) and need.count.is_spent_for(need):
                self.stop(need.count)
                return True
        return False

    def stop_if_over(self) -> None:
        """Do the same if records back off for calls of which none will be paid for."""
        over = [each for each in self.counts if isinstance(each, BudgetCount) and each.is_over()]
        if over and self.pausing:
            self.stop(over[0])

    def pause(self, handler: ResultHandler) -> None:
        """Take note that a record backs off; it fails at once if a budget is spent."""
        self.pausing[handler] = None
        if self.spent is None:
            self.look_soon()
        else:
            self.end_pause(handler, self.spent)

    def end_pause(self, handler: ResultHandler, spent: BudgetSpent) -> None:
        """Have a record fail that backs off, unless its deadline comes before its next call."""
        if handler.pause is not None and handler.pause.when <= handler.due:
            self.operator.mailbox.offer(Mail(partial(handler.on_refused, spent)))

    def stop(self, count: BudgetCount) -> None:
        """Read nothing more; records that wait fail, or are left out."""
        limit = count.limit
        self.spent = BudgetSpent(f"{count.taken:g} of {limit.amount:g} {limit.unit} are taken")
        self.is_failure = limit.then == "fail"
        for permit in list(self.waiting):
            self.leave_out(permit, self.spent)
        for handler in list(self.pausing):
            self.end_pause(handler, self.spent)
        self.on_spent()

    def leave_out(self, permit: Permit, spent: BudgetSpent) -> None:
        """Have records fail that were called, or are in front of a record that was.

        Behind the last called record all are left out, as if they had not been read.
        """
        handlers = permit.caller.handlers
        if any(each.was_called or each.place < self.operator.last_called for each in handlers):
            self.refuse(permit, spent)
        else:
            self.waiting.remove(permit)
            permit.caller.is_refused()

    def is_drained(self) -> bool:
        """Whether a budget is spent, and all that is in flight is to be left out."""
        queue = self.operator.queue
        return self.spent is not None and not queue.called and queue.peek_ready() is None

    def fail_later(self, handler: ResultHandler, failure: OperatorError) -> None:
        """Have the stream end with a failure, behind the other results that are in flight."""
        self.failure = self.failure or failure
        self.unpaid.append(handler.record)
        handler.decide(())

    def end(self, stopped: Sequence[Any]) -> BaseException | None:
        """Return the error with which the stream ends; None for none.

        Args:
            stopped: the values that are left out.
        """
        if self.failure is None and self.spent is not None and self.is_failure:
            self.spent.stopped = tuple(stopped)
            return self.spent
        return self.failure

    # Figures

    def figure(self) -> tuple[int, ...]:
        """Return how many records wait for each limit (LIMIT-12)."""
        return tuple(
            sum(len(each.caller.handlers) for each in self.waiting if count in each.lacking)
            for count in self.counts
        )


def is_same(values: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether two lists hold the very same objects; the first of them holds some."""
    return len(values) == len(others) and all(map(operator.is_, values, others))


def longest_wait(count: Count) -> float:
    """Return how long a call may wait for a limit, in seconds."""
    longest: float | None = getattr(count.limit, "max_wait", None)
    return math.inf if longest is None else longest
