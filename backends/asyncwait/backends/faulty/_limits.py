"""LIMIT: operators that count calls wrongly, or let the wrong call begin."""

import math
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import (
    Attempt,
    BreakerCount,
    BudgetCount,
    Caller,
    Gate,
    InFlightCount,
    Need,
    Outcome,
    Permit,
    Raised,
    ResultHandler,
    Waiter,
    WindowCount,
)
from asyncwait.spec.limits import BudgetSpent, CostTooLarge


@breaks("LIMIT-1")
class ResetsItsCountersAtFixedTimes(Gate):
    """Counts each window from a fixed time instead of from each call."""

    def begun(self, permit: Permit) -> None:
        super().begun(permit)
        windows = [each.limit for each in self.counts if isinstance(each, WindowCount)]
        if windows and all(limit.burst is None for limit in windows):
            permit.begun -= permit.begun % windows[0].per


@breaks("LIMIT-1")
class CountsFromTheStart(Gate):
    """Counts each call from its start, as if the service had it at once."""

    def begun(self, permit: Permit) -> None:
        super().begun(permit)
        windows = [each.limit for each in self.counts if isinstance(each, WindowCount)]
        permit.begun -= max((limit.arrives_in for limit in windows), default=0)


@breaks("LIMIT-2")
class CountsCostsAtTheEnd(Gate):
    """Counts the cost of a call from its end instead of from its permit."""

    def grant(self, permit: Permit) -> None:
        for need in permit.needs:
            if isinstance(need.count, WindowCount) and need.count.limit.cost is not None:
                need.size = 0
        super().grant(permit)

    def ended(self, permit: Permit, outcome: Outcome | None) -> Outcome | None:
        for need, own in zip(permit.needs, self.needs(permit.values), strict=True):
            need.size = own.size
        return super().ended(permit, outcome)


@breaks("LIMIT-3")
class GivesPermitsOfTheCancelledBack(Attempt):
    """Gives a permit back when it cancels the call instead of when the call has ended."""

    def cancel(self) -> None:
        super().cancel()
        if self.operator.gate is not None and self.permit is not None:
            self.operator.gate.ended(self.permit, None)


@breaks("LIMIT-3")
class ForgetsWeights(Gate):
    """Counts a weight of 1 at most for each call in flight."""

    def needs(self, values: Sequence[Any]) -> Sequence[Need]:
        needs = super().needs(values)
        for need in needs:
            if isinstance(need.count, InFlightCount):
                need.size = min(need.size, 1)
        return needs


@breaks("LIMIT-4")
class WaitsForTheNextEvent(Gate):
    """Looks for room only when something happens, and sets no alarm for a window."""

    def set_alarm(self) -> None:
        pass


@breaks("LIMIT-5")
class KeepsPermitsInBackOffs(Gate):
    """Keeps the permit of a record during its back-off."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.kept: list[Permit] = []

    def ended(self, permit: Permit, outcome: Outcome | None) -> Outcome | None:
        retry = self.operator.config.retry
        attempts = [handler.attempts for handler in permit.caller.handlers]
        if isinstance(outcome, Raised) and retry is not None and max(attempts) < retry.max_attempts:
            self.kept.append(permit)
            return outcome
        return super().ended(permit, outcome)

    def enter(self, caller: Caller) -> None:
        for permit in [each for each in self.kept if each.caller.handlers == caller.handlers]:
            self.kept.remove(permit)
            super().ended(permit, None)
        super().enter(caller)


@breaks("LIMIT-6")
class CountsThePermitsOfTheDecided(Gate):
    """Counts a call for a record that was decided while it waited to be called again."""

    def withdraw(self, permit: Permit) -> None:
        if permit not in self.waiting or not permit.is_retry:
            super().withdraw(permit)

    def grant(self, permit: Permit) -> None:
        if not all(handler.is_decided for handler in permit.caller.handlers):
            super().grant(permit)
            return
        self.waiting.remove(permit)
        permit.begun = self.operator.clock()
        for need in permit.needs:
            need.count.calls[permit] = need
        self.look_soon()


@breaks("LIMIT-7")
class RepeatsWithoutAPermit(Attempt):
    """Repeats a call without asking the limits for a permit."""

    def start(self) -> None:
        if self.number > 1 and self.operator.gathered is None and self.operator.cache is None:
            self.permitted(None)
        else:
            super().start()


@breaks("LIMIT-7")
class HasRetriesWaitBehindAllOthers(Gate):
    """Puts a record that it calls again at the end of the queue."""

    def in_order(self) -> Sequence[Permit]:
        return list(self.waiting)


@breaks("LIMIT-8")
class LetsSmallCallsPass(Gate):
    """Reserves no room for a call that lacks room, so that smaller calls pass it."""

    def lacking(self, permit: Permit, reserved: set[Any]) -> list[Need]:
        reserved.clear()
        return super().lacking(permit, reserved)


@breaks("LIMIT-9")
class CountsTheTimeBeforeTheFirstCall(ResultHandler):
    """Starts the deadline of a record when the record begins to wait for its permit."""

    since = 0.0

    def start(self) -> None:
        self.since = self.since or self.operator.clock()
        super().start()

    def due_after(self, timeout: float) -> float:
        is_limited = self.operator.gate is not None and self.operator.gathered is None
        return self.since + timeout if is_limited else super().due_after(timeout)


@breaks("LIMIT-10")
class HasOneWindowForAllKeys(Gate):
    """Counts the calls of all keys together."""

    def needs(self, values: Sequence[Any]) -> Sequence[Need]:
        needs = super().needs(values)
        for need in needs:
            need.key = None
        return needs


@breaks("LIMIT-10")
class WaitsBehindOtherKeys(Gate):
    """Stops at the first record whose key lacks room, and calls no record of another key."""

    def lacking(self, permit: Permit, reserved: set[Any]) -> list[Need]:
        return list(permit.needs) if reserved else super().lacking(permit, reserved)


@breaks("LIMIT-11")
class StartsAllAtOnce(Gate):
    """Ignores `burst`, so that a window may start all its calls at once."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        for count in self.counts:
            if isinstance(count, WindowCount):
                count.limit = replace(count.limit, burst=None)


@breaks("LIMIT-12")
class CountsTheFirstAlone(Gate):
    """Counts one waiting record for each limit, however many wait."""

    def figure(self) -> tuple[int, ...]:
        return tuple(min(each, 1) for each in super().figure())


@breaks("LIMIT-13")
class WaitsForRoomThatNeverComes(Gate):
    """Lets a record wait although its call exceeds a limit."""

    def is_known(self, permit: Permit) -> bool:
        if self.is_too_large(permit.caller.values):
            permit.values = permit.caller.values
            permit.needs = [Need(self.counts[0], math.inf)]
            return True
        return super().is_known(permit)


@breaks("LIMIT-13")
class CallsWhatExceedsALimit(Gate):
    """Calls a record whose call exceeds a limit as soon as no other call runs."""

    def needs(self, values: Sequence[Any]) -> Sequence[Need]:
        needs = []
        for count in self.counts:
            try:
                needs.append(count.need(values))
            except CostTooLarge:
                needs.append(Need(count, count.most))
        return needs


@breaks("LIMIT-14")
class ChargesAtTheEnd(Gate):
    """Charges a budget when a call has ended, and reserves nothing for running calls."""

    def grant(self, permit: Permit) -> None:
        self.own = {need: need.size for need in permit.needs if isinstance(need.count, BudgetCount)}
        for need in self.own:
            need.size, need.is_alone = 0, False
        super().grant(permit)

    def ended(self, permit: Permit, outcome: Outcome | None) -> Outcome | None:
        for need in permit.needs:
            need.size = self.own.get(need, need.size)
        return super().ended(permit, outcome)


@breaks("LIMIT-15")
class LeavesOutWhatBacksOff(Gate):
    """Leaves a record out if the budget does not pay for its second call."""

    def end_pause(self, handler: Waiter, spent: BudgetSpent) -> None:
        del spent
        assert isinstance(handler, ResultHandler)
        self.operator.queue.called.pop(handler.entry, None)
        handler.cancel_deadline()
        self.on_spent()


@breaks("LIMIT-15")
class EndsAsIfAllWereThere(Gate):
    """Ends the stream without an error when a budget is spent."""

    def end(self, stopped: Sequence[Any]) -> BaseException | None:
        super().end(stopped)
        return None


@breaks("LIMIT-16")
class RestsForOneCallAlone(Gate):
    """Starts all waiting calls after the rest of a breaker instead of one call that probes."""

    def begun(self, permit: Permit) -> None:
        super().begun(permit)
        for count in self.counts:
            if isinstance(count, BreakerCount) and count.opened is not None:
                count.opened = None


@breaks("LIMIT-16")
class CountsFailuresWithoutARest(Gate):
    """Counts the failures that open a breaker, and never pauses its calls."""

    def ended(self, permit: Permit, outcome: Outcome | None) -> Outcome | None:
        ended = super().ended(permit, outcome)
        for count in self.counts:
            if isinstance(count, BreakerCount):
                count.opened = None
        return ended


@breaks("LIMIT-17")
class WaitsForEver(Gate):
    """Lets a record wait for its permit without any bound."""

    def note(self, permit: Permit, lacking: Sequence[Need]) -> None:
        permit.lacking = {need.count: math.inf for need in lacking}


@breaks("LIMIT-17")
class WaitsHalfAsLong(Gate):
    """Lets a record fail after half of the time that it may wait for its permit."""

    def note(self, permit: Permit, lacking: Sequence[Need]) -> None:
        now = self.operator.clock()
        for need in lacking:
            half = (getattr(need.count.limit, "max_wait", None) or 0) / 2
            permit.lacking.setdefault(need.count, now - half)
        super().note(permit, lacking)
