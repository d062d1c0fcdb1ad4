"""Limits of a service, budgets, and the errors for calls that a limit prevents.

A limit is a value: `asyncwait.toolkit` counts the calls. Operators of one process share a limit if
they have the same object. A copy, or an equal object, is another limit.
"""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from asyncwait.spec._errors import AsyncWaitError, InvalidConfig
from asyncwait.spec.checks import is_plain_function, require_whole
from asyncwait.spec.exports import claim_exports

T_co = TypeVar("T_co", covariant=True)

_LONGEST_LATENCY = 0.1
"""Largest default `latency`, as a share of `per`; it reduces the rate by at most this share."""

_LATENCY = 0.25
"""Smallest default `latency` in seconds, within `_LONGEST_LATENCY`: the time of a connection."""

_LATENCY_SHARE = 0.02
"""Default `latency` as a share of `per`, where it is longer than `_LATENCY`."""


class Limit(Struct, frozen=True, kw_only=True, weakref=True):
    """A number of calls, or an amount of their cost, in any window of `per` seconds.

    A call counts from its permit until `per` seconds after it has reached the service. The operator
    takes the earlier of two moments for that: the end of the call, and `latency` seconds after its
    start. So the limit holds by the clock of the service, too.

    Args:
        calls: calls in a window; with `batch`, a call for a list counts as 1.
        cost: function of a value that returns the cost of a call for it, or an upper bound, as a
            number >= 0. The operator calls it before the call. A call that returns a `Cost`
            replaces this estimate.
        up_to: cost in a window.
        per: length of the window in seconds.
        unit: unit of the costs; a `Cost` names several costs by their units.
        latency: longest time in seconds from the start of a call until the service counts it. None
            for a fiftieth of `per`, at least 0.25 s, and at most a tenth of `per`.
        by: function of a value that returns a key, say the host; each key has a window of its own.
            Not with `batch`.
        burst: calls, or cost, that may start together; the rest follows at an even pace.
        max_wait: longest time in seconds that a call waits for this limit without a break; then
            its record fails with `PermitTimedOut`. None for no bound.

    Raises:
        InvalidConfig: neither `calls` nor both `cost` and `up_to` are given, or an argument is out
            of its range.
    """

    calls: int | None = None
    cost: Callable[[Any], float] | None = None
    up_to: float | None = None
    per: float
    unit: str = "cost"
    latency: float | None = None
    by: Callable[[Any], Any] | None = None
    burst: float | None = None
    max_wait: float | None = None

    def __post_init__(self) -> None:
        if (self.calls is None) is (self.up_to is None):
            expected = "given, or else `cost` and `up_to`, not both"
            raise InvalidConfig.of("Limit.calls", self.calls, expected)
        if self.calls is not None:
            require_whole("Limit.calls", self.calls)
        if self.up_to is not None:
            _require_positive("Limit.up_to", self.up_to)
        if (self.cost is None) is (self.calls is None) or not _is_function(self.cost):
            expected = "a plain function of a value with `up_to`, and None with `calls`"
            raise InvalidConfig.of("Limit.cost", self.cost, expected)
        _require_positive("Limit.per", self.per)
        _require_text("Limit.unit", self.unit)
        if self.latency is not None and not (is_finite(self.latency) and self.latency >= 0):
            raise InvalidConfig.of("Limit.latency", self.latency, "seconds >= 0, or None")
        _require_function("Limit.by", self.by)
        if self.burst is not None and not (is_finite(self.burst) and 0 < self.burst <= self.most):
            expected = f"a number above 0 and up to {self.most:.10g}, or None"
            raise InvalidConfig.of("Limit.burst", self.burst, expected)
        _require_longest("Limit.max_wait", self.max_wait)

    @property
    def most(self) -> float:
        """Calls, or cost, in any window."""
        return float(self.calls or self.up_to or 0)

    @property
    def arrives_in(self) -> float:
        """Longest time in seconds from the start of a call until the service counts it."""
        if self.latency is not None:
            return self.latency
        return min(max(_LATENCY, _LATENCY_SHARE * self.per), _LONGEST_LATENCY * self.per)


class InFlight(Struct, frozen=True, weakref=True):
    """A number of calls at a time.

    Args:
        calls: calls, or the sum of their weights, at a time.
        weight: function of a value that returns the weight of a call for it, a number >= 0; None
            for weight 1.
        by: function of a value that returns a key, say the host; each key has `calls` of its own.
            Not with `batch`.
        max_wait: see `Limit`.

    Raises:
        InvalidConfig: `calls` is not a whole number >= 1, or another argument is out of its range.
    """

    calls: int
    weight: Callable[[Any], float] | None = None
    by: Callable[[Any], Any] | None = None
    max_wait: float | None = None

    def __post_init__(self) -> None:
        require_whole("InFlight.calls", self.calls)
        _require_function("InFlight.weight", self.weight)
        _require_function("InFlight.by", self.by)
        _require_longest("InFlight.max_wait", self.max_wait)


class Adaptive(Struct, frozen=True, weakref=True):
    """As many calls at a time as the service bears; the operator searches this number.

    The number starts at 4 calls and doubles with each round, until the service refuses a call by a
    `RetryAfter` or the HTTP status 429 of an error. Then it halves. From then on, each round
    without a refusal adds a twentieth, or one call, and almost nothing near the number that was
    refused last; a further refusal subtracts a tenth, and no call starts for as long as the
    service asks. Starts are spread over the duration of a call. Each operator searches by itself.

    Args:
        most: largest number of calls at a time; None for the capacity of the operator.

    Raises:
        InvalidConfig: `most` is neither None nor a whole number >= 1.
    """

    most: int | None = None

    def __post_init__(self) -> None:
        if self.most is not None:
            require_whole("Adaptive.most", self.most)


class Breaker(Struct, frozen=True, kw_only=True, weakref=True):
    """A pause for all calls while the service is down.

    After `failures` failed calls within `over` seconds, no call starts for `rest` seconds. Then one
    call probes the service. If it fails, the pause begins anew; otherwise calls go on. A call fails
    here if its error is transient (`asyncwait.backends.services.transient`: connections, time-outs,
    HTTP 5xx) or its time limit passed; a refusal (HTTP 429) is no failure.

    Args:
        failures: failed calls that open the breaker.
        over: seconds within which these failures happen.
        rest: seconds without a call before each probe.
        longest: longest time in seconds without a successful call; then the stream ends with
            `BreakerOpen`. None for no bound.

    Raises:
        InvalidConfig: an argument is out of its range.
    """

    failures: int = 5
    over: float = 60.0
    rest: float = 30.0
    longest: float | None = 600.0

    def __post_init__(self) -> None:
        require_whole("Breaker.failures", self.failures)
        _require_positive("Breaker.over", self.over)
        _require_positive("Breaker.rest", self.rest)
        _require_longest("Breaker.longest", self.longest)


class Budget(Struct, frozen=True, weakref=True):
    """An amount that may be spent in all.

    When it is spent, the operator reads nothing more and delivers the results of the calls in
    flight. A `Budget` object stays spent for all operators that use it.

    Args:
        amount: the whole budget, in `unit`.
        unit: "calls", where each call costs 1, or the unit of costs; a `Cost` names several costs
            by their units.
        cost: estimated cost of a call for a value, as in `Limit`. None if each call returns its
            cost by a `Cost`: then the first call runs alone, and the estimate for each other call
            is the largest cost so far.
        path: file that stores the costs, so that the budget holds for several runs, one after the
            other or at the same time on one machine. A call counts there from its permit on. None
            for a budget in this object only.
        then: "fail" raises `BudgetSpent` after the last result; "stop" ends the results without an
            error. No record that was called, or that precedes a called record, is omitted without
            an error.
        exists: whether the file at `path`, or the Redis, has to hold the budget already. Then a
            file that was deleted, or a Redis that was flushed, ends the run with a `LedgerLost`;
            otherwise the budget would look unspent. The first program of a budget needs False.
        refused: "free" if a refused call (`RetryAfter`, HTTP 429) costs nothing, "charged" if it
            costs the estimate. In the unit "calls" a refused call costs 1. An error that has a
            `Cost` as its attribute `cost` states the cost itself.

    Raises:
        InvalidConfig: an argument is out of its range.
    """

    amount: float
    unit: str = "calls"
    cost: Callable[[Any], float] | None = None
    path: str | None = None
    then: Literal["fail", "stop"] = "fail"
    exists: bool = False
    refused: Literal["free", "charged"] = "free"

    def __post_init__(self) -> None:
        _require_positive("Budget.amount", self.amount)
        _require_text("Budget.unit", self.unit)
        if self.path is not None:
            _require_text("Budget.path", self.path)
        if not _is_function(self.cost) or (self.cost is not None and self.unit == "calls"):
            expected = "None, or with a unit that is not calls a plain function of a value"
            raise InvalidConfig.of("Budget.cost", self.cost, expected)
        if self.then not in ("fail", "stop"):
            raise InvalidConfig.of("Budget.then", self.then, '"fail" or "stop"')
        if not isinstance(self.exists, bool):
            raise InvalidConfig.of("Budget.exists", self.exists, "True or False")
        if self.refused not in ("free", "charged"):
            raise InvalidConfig.of("Budget.refused", self.refused, '"free" or "charged"')


AnyLimit: TypeAlias = Limit | InFlight | Adaptive | Breaker | Budget


class SharedLimits(Protocol):
    """Limits that a ledger outside of the operator counts, for several operators."""

    @property
    def limits(self) -> Sequence[AnyLimit]:
        """The limits."""
        ...

    def ledger(self) -> Any:
        """Return the ledger for one more operator; see `asyncwait.toolkit.Ledger`."""
        ...


class Cost(Struct, Generic[T_co], frozen=True):
    """The result of a call together with its cost.

    The forms for plain values return the result alone, also without `limits`. `open_operator` takes
    the `Cost` object itself for the results of the call, like any other object.

    Args:
        result: the result.
        used: the cost, which replaces each estimate; or a mapping from the units of limits to
            costs. A unit that no limit has is for figures only. For a batch it is the sum.
    """

    result: T_co
    used: float | Mapping[str, float]


class NotCalled(AsyncWaitError):
    """Base of the errors of a call that does not start; no further attempt follows.

    Attributes:
        gate: the gate that refused one of several calls for a record; None otherwise.
    """

    gate: Any = None


class BudgetSpent(NotCalled):
    """A budget is spent: no further call starts.

    Attributes:
        stopped: values that the operator has read and that have no results, in input order.
    """

    stopped: tuple[Any, ...] = ()


class LedgerLost(NotCalled):
    """The ledger of the limits is lost or unreachable, so that no call may start."""


class BreakerOpen(NotCalled):
    """The service was down for longer than a `Breaker` allows."""


class PermitTimedOut(NotCalled):
    """A call has waited for a limit for longer than `max_wait`."""


class CostUnknown(NotCalled):
    """The cost, weight or key of a call can not be determined."""


class CostTooLarge(NotCalled):
    """A single call costs more than a limit ever allows."""


class CostMistold(AsyncWaitError, TypeError):
    """A call returned no cost where a budget needs one, or an invalid cost. It is not repeated."""


def require_limits(limits: Any) -> tuple[AnyLimit, ...]:
    """Return limits as a tuple.

    Args:
        limits: a list or tuple of limits, or an object with `limits` and `ledger`.

    Raises:
        InvalidConfig: `limits` is not a list of different limits.
    """
    given = getattr(limits, "limits", limits)
    if not isinstance(given, list | tuple) or not given:
        expected = "a list of Limit, InFlight, Adaptive, Breaker or Budget, or None"
        raise InvalidConfig.of("limits", given, expected)
    for number, each in enumerate(given):
        if not isinstance(each, AnyLimit):
            expected = "a Limit, InFlight, Adaptive, Breaker or Budget"
            raise InvalidConfig.of(f"limits[{number}]", each, expected)
        if any(each is other for other in given[:number]):
            raise InvalidConfig.of(f"limits[{number}]", each, "another object than those before it")
    return tuple(given)


def is_finite(value: Any) -> bool:
    """Return whether a value is a finite number."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    except OverflowError:
        return False


def _require_text(name: str, value: Any) -> None:
    if not isinstance(value, str) or not value:
        raise InvalidConfig.of(name, value, "a text that is not empty")


def _require_positive(name: str, value: Any) -> None:
    if not (is_finite(value) and value > 0):
        raise InvalidConfig.of(name, value, "a number > 0")


def _require_function(name: str, function: Any) -> None:
    if not _is_function(function):
        raise InvalidConfig.of(name, function, "a plain function of a value, or None")


def _require_longest(name: str, seconds: Any) -> None:
    if seconds is not None and not (is_finite(seconds) and seconds > 0):
        raise InvalidConfig.of(name, seconds, "seconds > 0, or None")


def _is_function(function: Any) -> bool:
    return function is None or is_plain_function(function, 1)


__all__ = [
    "Adaptive",
    "AnyLimit",
    "Breaker",
    "BreakerOpen",
    "Budget",
    "BudgetSpent",
    "Cost",
    "CostMistold",
    "CostTooLarge",
    "CostUnknown",
    "InFlight",
    "LedgerLost",
    "Limit",
    "NotCalled",
    "PermitTimedOut",
    "SharedLimits",
    "is_finite",
    "require_limits",
]

claim_exports(__name__)
