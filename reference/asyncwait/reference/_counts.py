"""Counts of limits: the calls that each limit counts, and the room that they leave.

All operators with the same limit object share its count (LIMIT-1). A count is a list of calls, and
adds up their sizes anew each time.
"""

from __future__ import annotations

import math
import weakref
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from anyio import current_time
from anyio.lowlevel import current_token
from msgspec.structs import replace

from asyncwait.reference._outcomes import Outcome, Raised, Returned
from asyncwait.reference._timers import Timer
from asyncwait.spec import InvalidConfig, Record, RetryAfter
from asyncwait.spec.limits import (
    Adaptive,
    AnyLimit,
    Breaker,
    BreakerOpen,
    Budget,
    Cost,
    CostMistold,
    CostTooLarge,
    CostUnknown,
    InFlight,
    Limit,
    NotCalled,
    is_finite,
)
from asyncwait.toolkit import causes, reraise_fatal, settled, status_of, transient

ROUNDING = 1e-9
"""Tolerance of sums of floats, in seconds or as a share of a limit."""


class Waiter(Protocol):
    """The handler of a record that waits for a call; see `ResultHandler`."""

    record: Record
    attempts: int
    due: float
    pause: Timer | None
    place: int
    was_called: bool

    @property
    def is_decided(self) -> bool:
        """Whether the outputs of the record are set."""
        ...

    def on_refused(self, error: NotCalled) -> None:
        """Fail the record of a call that does not begin, as the gate's mail."""
        ...

    def decide(self, results: tuple[Any, ...]) -> None:
        """Set the outputs of the record."""
        ...


class WaitingCalls(Protocol):
    """The gate of an operator that shares a limit; see `Gate`."""

    def look_soon(self) -> None:
        """Look for calls with room after the present mails."""
        ...


class Caller(Protocol):
    """An attempt, a batch, or a load that needs a permit for its call.

    Attributes:
        permit: permit of the call; None before the request.
    """

    permit: Permit | None

    @property
    def values(self) -> Sequence[Any]:
        """The values of the call, if it began now."""
        ...

    @property
    def handlers(self) -> Sequence[Waiter]:
        """The handlers of the records that wait for the call."""
        ...

    def permitted(self, permit: Permit) -> None:
        """Call the function, for which all limits have room."""
        ...

    def is_refused(self) -> None:
        """Take note that the call will not begin."""
        ...


@dataclass(eq=False)
class Permit:
    """One call: it waits for its permit, has it, or has ended. Times are the loop's, in seconds.

    Args:
        caller: requests the permit, and makes the call.
        values: values of the call, if it began now.
        needs: need of the call for each limit, in the order of the limits.
        lacking: limits without room for the call, and the start of its wait for each.
        begun: start of the call.
        ended: end of the call.
        outcome: outcome of the call; None for a cancelled call.
        used: the cost that the call reported; None for no cost.
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
        """Whether the call includes a further attempt at a record."""
        return any(handler.was_called for handler in self.caller.handlers)

    @property
    def order(self) -> tuple[bool, int]:
        """Place among the waiting calls: first calls go in the order of their records."""
        places = [0] if self.is_retry else [handler.place for handler in self.caller.handlers]
        return not self.is_retry, min(places, default=0)


@dataclass(eq=False)
class Need:
    """Room that one call takes of one limit.

    Args:
        count: count of the limit.
        size: calls, cost or weight; the cost is an estimate until the call has ended.
        key: key of the call's value, which has room of its own (LIMIT-10); None for no key.
        is_alone: whether the size is unknown, so that no other call runs beside this one.
    """

    count: Count
    size: float
    key: Any = None
    is_alone: bool = False

    @property
    def place(self) -> Any:
        """Room that a waiting call reserves: the limit, or the limit for its key (LIMIT-8)."""
        return self.count, self.key


@dataclass(eq=False)
class Count(ABC):
    """Calls that one limit counts; a subclass defines for how long, and how many it allows.

    Args:
        limit: a copy of the limit, so that this count does not keep the limit itself alive.
        calls: the calls with a permit, and the need of each.
        gates: the gates of the operators that share the limit.
        loop: event loop of the operators.
    """

    limit: Any
    calls: dict[Permit, Need] = field(default_factory=dict)
    gates: dict[WaitingCalls, None] = field(default_factory=dict)
    loop: Any = None

    @property
    def most(self) -> float:
        """Largest size of a call, and of all calls together."""
        return math.inf

    def need(self, values: Sequence[Any]) -> Need:
        """Return the need of a call for some values.

        Raises:
            CostUnknown: a function of the limit raises, or returns no number >= 0.
            CostTooLarge: the call exceeds the limit alone (LIMIT-13).
        """
        need = Need(self, self.size_of(values), self.key_of(values[0]))
        if need.size > self.most:
            text = f"the call needs {need.size:g}, and {self.limit} allows {self.most:g}"
            raise CostTooLarge(text)
        return need

    def size_of(self, values: Sequence[Any]) -> float:
        """Return the size of a call for some values: 1, or the sum of their costs or weights."""
        function = getattr(self.limit, "cost", None) or getattr(self.limit, "weight", None)
        if function is None:
            return 1
        try:
            sizes = [settled("cost or weight", function(value)) for value in values]
        except BaseException as error:
            reraise_fatal(error)
            raise CostUnknown(f"the cost of the call for {self.limit} is unknown") from error
        if not all(map(_is_size, sizes)):
            text = f"the cost of a call for {self.limit} must be a number >= 0, got {sizes}"
            raise CostUnknown(text)
        return math.fsum(sizes)

    def key_of(self, value: Any) -> Any:
        """Return the key of a value, which can be hashed; None for a limit without keys."""
        by = getattr(self.limit, "by", None)
        if by is None:
            return None
        try:
            key = settled("`key` or `by`", by(value))
            hash(key)
        except Exception as error:
            raise CostUnknown(f"the key of the call for {self.limit} is unknown") from error
        return key

    @abstractmethod
    def has_room(self, need: Need) -> bool:
        """Return whether this limit lets a call begin now."""

    def changes_at(self) -> float:
        """Return the next time at which room appears without an event; infinity for never."""
        return math.inf

    def ended(self, permit: Permit) -> None:
        """Take note that a call has ended, with the cost that it reported."""
        del self.calls[permit]


def _is_size(size: Any) -> bool:
    return is_finite(size) and size >= 0


def _is_same(key: Any, other: Any) -> bool:
    """Return whether two keys are one object or equal, as in a dict."""
    return (key,) == (other,)


def _fits(sizes: list[float], most: float) -> bool:
    return math.fsum(sizes) <= most * (1 + ROUNDING)


class WindowCount(Count):
    """Calls in any window of a `Limit` (LIMIT-1, LIMIT-2), also for its burst (LIMIT-11)."""

    @property
    def most(self) -> float:
        return min(most for most, _, _ in self.windows)

    @property
    def windows(self) -> list[tuple[float, float, float]]:
        """The windows: size, and length and latency in seconds."""
        limit = self.limit
        windows = [(limit.most, limit.per, limit.arrives_in)]
        if limit.burst is not None:
            windows.append((limit.burst, limit.per * limit.burst / limit.most, 0.0))
        return windows

    def has_room(self, need: Need) -> bool:
        return all(
            _fits([need.size, *self.counted(need.key, per, latency)], most)
            for most, per, latency in self.windows
        )

    def counted(self, key: Any, per: float, latency: float) -> list[float]:
        """Return the sizes of the calls that a window counts now."""
        now = current_time()
        return [
            need.size
            for permit, need in self.calls.items()
            if _is_same(need.key, key) and self.until(permit, per, latency) > now + ROUNDING
        ]

    def until(self, permit: Permit, per: float, latency: float) -> float:
        """Return the time until which a window counts a call: `per` after its latest arrival."""
        return min(permit.ended, permit.begun + latency) + per

    def changes_at(self) -> float:
        now = current_time() + ROUNDING
        ends = {p: [self.until(p, per, late) for _, per, late in self.windows] for p in self.calls}
        self.calls = {p: need for p, need in self.calls.items() if max(ends[p]) > now}
        return min((at for each in ends.values() for at in each if at > now), default=math.inf)

    def ended(self, permit: Permit) -> None:
        need = self.calls.get(permit)
        if need is not None and self.limit.cost is not None:
            need.size = _cost(permit.used, self.limit.unit, need.size)


class InFlightCount(Count):
    """Calls, or weights, at a time: each call counts until it has ended (LIMIT-3)."""

    @property
    def most(self) -> float:
        return float(self.limit.calls)

    def has_room(self, need: Need) -> bool:
        running = [each.size for each in self.calls.values() if _is_same(each.key, need.key)]
        return _fits([need.size, *running], self.most)


@dataclass(eq=False)
class BudgetCount(Count):
    """Costs of a `Budget`: the costs of ended calls, the estimates of running calls (LIMIT-14).

    Args:
        spent: cost of the ended calls.
        largest: largest cost of a call, which is the estimate of a budget without a cost function;
            None before a call has reported its cost.
    """

    spent: float = 0.0
    largest: float | None = None

    @property
    def most(self) -> float:
        return float(self.limit.amount)

    @property
    def learns(self) -> bool:
        """Whether only the calls report their costs."""
        return self.limit.cost is None and self.limit.unit != "calls"

    @property
    def taken(self) -> float:
        """Cost of the ended calls and estimates of the running calls."""
        return math.fsum([self.spent, *(each.size for each in self.calls.values())])

    def need(self, values: Sequence[Any]) -> Need:
        return Need(self, self.largest or 0.0) if self.learns else super().need(values)

    def has_room(self, need: Need) -> bool:
        if self.learns:
            need.size, need.is_alone = self.largest or 0.0, self.largest is None
        if self.calls and any(each.is_alone for each in [need, *self.calls.values()]):
            return False
        return _fits([need.size, self.taken], self.most) and not self.is_spent_for(need)

    def is_spent_for(self, need: Need) -> bool:
        """Return whether a call exceeds the budget, even if all running calls were free."""
        running = len(self.calls) if self.limit.unit == "calls" else 0
        is_paid = _fits([need.size, self.spent + running], self.most)
        return not is_paid or (self.learns and self.spent >= self.most)

    def is_over(self) -> bool:
        """Return whether any further call exceeds the budget."""
        if self.limit.unit == "calls" or self.learns:
            return self.is_spent_for(Need(self, 1 if not self.learns else self.largest or 0.0))
        return self.spent >= self.most

    def ended(self, permit: Permit) -> None:
        cost = self.calls.pop(permit).size
        if self.limit.unit != "calls":
            is_free = _is_refused(permit.outcome) and self.limit.refused == "free"
            cost = _cost(permit.used, self.limit.unit, 0.0 if is_free else cost)
        if permit.used is not None:
            self.largest = max(self.largest or 0.0, cost)
        self.spent = math.fsum([self.spent, cost])


@dataclass(eq=False)
class BreakerCount(Count):
    """Failures of calls, and the pause after too many of them (LIMIT-16).

    Args:
        failed: times of the failures, in seconds.
        opened: start of the present pause; None without a pause.
        well: time of the last success, or of the first call's start.
    """

    failed: list[float] = field(default_factory=list)
    opened: float | None = None
    well: float = math.inf

    def has_room(self, need: Need) -> bool:
        """Return whether no pause runs, or the pause is over for one call that probes the service.

        Raises:
            BreakerOpen: no call has succeeded for longer than allowed.
        """
        del need
        if self.opened is None:
            return True
        now = current_time()
        if self.limit.longest is not None and now >= self.well + self.limit.longest - ROUNDING:
            raise BreakerOpen(f"no call has succeeded for {now - self.well:g} s: {self.limit}")
        return now >= self.opened + self.limit.rest - ROUNDING and not self.calls

    def changes_at(self) -> float:
        if self.opened is None:
            return math.inf
        times = self.opened + self.limit.rest, self.well + (self.limit.longest or math.inf)
        return min((at for at in times if at > current_time() + ROUNDING), default=math.inf)

    def ended(self, permit: Permit) -> None:
        super().ended(permit)
        self.well = min(self.well, permit.begun)
        if not _has_failed(permit.outcome):
            self.well, self.opened = permit.ended, None
            return
        since = permit.ended - self.limit.over + ROUNDING
        self.failed = [*(at for at in self.failed if at > since), permit.ended]
        if self.opened is not None or len(self.failed) >= self.limit.failures:
            self.opened, self.failed = permit.ended, []


def _is_refused(outcome: Outcome | None) -> bool:
    """Return whether the service has refused a call because of too many calls."""
    if not isinstance(outcome, Raised):
        return False
    return any(isinstance(e, RetryAfter) or status_of(e) == 429 for e in causes(outcome.error))  # noqa: PLR2004 - the HTTP status


def _has_failed(outcome: Outcome | None) -> bool:
    """Return whether a call is a failure of the service: a timeout or another transient error."""
    if not isinstance(outcome, Raised):
        return outcome is None
    return not _is_refused(outcome) and bool(transient(outcome.error))


def _cost(used: Any, unit: str, estimate: float) -> float:
    """Return the cost that a call has reported in a unit, or else its estimate."""
    cost = used.get(unit, estimate) if isinstance(used, Mapping) else used
    return estimate if cost is None else float(cost)


def read_cost(outcome: Outcome | None, counts: Sequence[Count]) -> tuple[Outcome | None, Any]:
    """Return the outcome of a call without its cost, and the cost; None for no cost.

    A call fails if its cost is invalid, or missing where a budget has no estimate.
    """
    if isinstance(outcome, Raised):
        cost = getattr(outcome.error, "cost", None)
        used = cost.used if isinstance(cost, Cost) else None
        return outcome, used if _is_valid(used) else None
    if outcome is None or outcome.is_supplied:
        return outcome, None
    has_cost = isinstance(outcome.given, Cost)
    used = outcome.given.used if has_cost else None
    if has_cost and not _is_valid(used):
        text = f"Cost.used must be numbers >= 0, or one of them by unit, got {used!r}"
        return Raised(CostMistold(text), outcome.at), None
    for count in counts:
        learns = isinstance(count, BudgetCount) and count.learns
        if learns and _cost(used, count.limit.unit, -1) < 0:
            text = f"a call told no cost, which {count.limit} needs"
            return Raised(CostMistold(text), outcome.at), None
    return Returned(outcome.given.result, outcome.at) if has_cost else outcome, used


def _is_valid(used: Any) -> bool:
    costs = used.values() if isinstance(used, Mapping) else (used,)
    return all(map(_is_size, costs))


_KINDS: Mapping[type, type[Count]] = {
    Limit: WindowCount,
    InFlight: InFlightCount,
    Budget: BudgetCount,
    Breaker: BreakerCount,
}

_COUNTS: dict[int, Count] = {}
"""Counts of the limit objects that are alive, by `id`."""


def count_of(limit: AnyLimit) -> Count:
    """Return the count of a limit object, which all operators share.

    Raises:
        InvalidConfig: the reference does not support the limit, or counts it on another loop.
    """
    if isinstance(limit, Adaptive) or (isinstance(limit, Budget) and limit.path is not None):
        expected = "a limit of fixed numbers without a file: the reference operator has no other"
        raise InvalidConfig.of("limits", limit, expected)
    count = _COUNTS.get(id(limit))
    if count is None:
        count = _COUNTS[id(limit)] = _KINDS[type(limit)](replace(limit))
        weakref.finalize(limit, _COUNTS.pop, id(limit), None)
    if count.gates and count.loop != current_token():
        expected = "a limit of operators on one loop: the reference operator shares no others"
        raise InvalidConfig.of("limits", limit, expected)
    count.loop = current_token()
    return count


def require_own(limits: Any) -> Sequence[AnyLimit]:
    """Return limits that are not in a ledger outside of the operator.

    Raises:
        InvalidConfig: a ledger counts the limits.
    """
    if not isinstance(limits, list | tuple):
        expected = "a list of limits: the reference operator knows no ledger"
        raise InvalidConfig.of("limits", limits, expected)
    return limits
