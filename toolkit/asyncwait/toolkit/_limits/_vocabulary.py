"""What a service allows, and what may be spent, in the words of whoever calls it."""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, Generic, Literal, TypeAlias, TypeGuard, TypeVar

from msgspec import Struct

from asyncwait.spec import AsyncWaitError, InvalidConfig
from asyncwait.spec.checks import is_plain_function

T = TypeVar("T")

_A_FIFTIETH = 0.02
"""Of `per`: how long a call may be on its way, unless somebody says it."""

_QUARTER = 0.25
"""Seconds; as long as that in any case: a burst of a hundred connections takes a busy machine so
many milliseconds."""


class Limit(Struct, frozen=True, kw_only=True):
    """So many calls, or so much of what they cost, in any `per` seconds.

    A call counts from its turn until `per` seconds after it has reached the service. That is when
    it has ended, or `latency` seconds after its start, if that is sooner: so the limit holds by the
    clock of the service, too.

    Args:
        calls: calls in any `per` seconds; with `batch`, a call for a list is one.
        cost: what a call for a value costs, or may cost at most, as a number >= 0: asked before the
            call. What a call returns as a `Cost` is put in its place.
        up_to: of such costs in any `per` seconds.
        per: seconds.
        unit: of the costs; by it a `Cost` tells several from each other.
        latency: seconds in which a call reaches the service, at most; None for a fiftieth of `per`,
            and a quarter of a second at least.

    Raises:
        InvalidConfig: there are not either `calls` or both `cost` and `up_to`; or one is no such
            number.
    """

    calls: int | None = None
    cost: Callable[[Any], float] | None = None
    up_to: float | None = None
    per: float
    unit: str = "cost"
    latency: float | None = None

    def __post_init__(self) -> None:
        if (self.calls is None) is (self.up_to is None):
            expected = "given, or else `cost` and `up_to`, not both"
            raise InvalidConfig.of("Limit.calls", self.calls, expected)
        if self.calls is not None:
            require_count("Limit.calls", self.calls)
        if self.up_to is not None:
            require_positive("Limit.up_to", self.up_to)
        if (self.cost is None) is (self.calls is None) or not _is_cost(self.cost):
            expected = "a plain function of a value with `up_to`, and None with `calls`"
            raise InvalidConfig.of("Limit.cost", self.cost, expected)
        require_positive("Limit.per", self.per)
        require_text("Limit.unit", self.unit)
        if self.latency is not None and not (is_number(self.latency) and self.latency >= 0):
            raise InvalidConfig.of("Limit.latency", self.latency, "seconds >= 0, or None")

    @property
    def most(self) -> float:
        """Calls, or costs, in any `per` seconds."""
        return float(self.calls or self.up_to or 0)

    @property
    def arrives_in(self) -> float:
        """Seconds in which a call reaches the service, at most."""
        if self.latency is not None:
            return self.latency
        return max(_QUARTER, _A_FIFTIETH * self.per)


class InFlight(Struct, frozen=True):
    """So many calls at a time.

    Raises:
        InvalidConfig: it is no whole number above 0.
    """

    calls: int

    def __post_init__(self) -> None:
        require_count("InFlight.calls", self.calls)


class Adaptive(Struct, frozen=True):
    """As many calls at a time as the service bears, which has to be found.

    There are 4 at first, and twice as many with each round until the service says that they are too
    many, by a `RetryAfter` or the HTTP status 429 of an error. Then there are half as many. From
    then on, each round that is served adds a twentieth, or one call, but next to nothing near what
    was too many the last time; a further 429 takes a tenth away, and nothing is called for as long
    as the service asks. Calls are spread over the time that one takes.

    Args:
        most: calls at a time at most; None for the capacity of the operator.

    Raises:
        InvalidConfig: it is neither None nor a whole number above 0.
    """

    most: int | None = None

    def __post_init__(self) -> None:
        if self.most is not None:
            require_count("Adaptive.most", self.most)


class Budget(Struct, frozen=True):
    """What may be spent in all: then no further value is read, and what is in flight is decided.

    Args:
        amount: in `unit`.
        unit: "calls", of which each costs one, or what costs are counted in; by it a `Cost` tells
            several from each other.
        cost: what a call for a value costs, or may cost at most, as of a `Limit`. None if each call
            tells by a `Cost`: the first one runs alone then, and each of the others is thought to
            cost as much as the dearest so far.
        path: a file that remembers what was spent, so that the budget holds for several runs, one
            after the other or side by side on one machine. A call counts there from its turn on
            as what it is thought to cost, and whatever becomes of the process; for nothing while
            there is no `cost` and no call has told any. None for the budget of this run.
        then: what happens when it is spent: "fail" raises a `BudgetSpent` behind the last result;
            "stop" ends the results, as if the source had ended.
        exists: whether the file at `path`, or the Redis, must hold the budget already. If neither
            does, a `LedgerLost` is raised, as when the file was deleted or the Redis was flushed:
            the budget would look unspent. The first program of a budget needs False.

    Raises:
        InvalidConfig: one of them is none of these.
    """

    amount: float
    unit: str = "calls"
    cost: Callable[[Any], float] | None = None
    path: str | None = None
    then: Literal["fail", "stop"] = "fail"
    exists: bool = False

    def __post_init__(self) -> None:
        require_positive("Budget.amount", self.amount)
        require_text("Budget.unit", self.unit)
        if self.path is not None:
            require_text("Budget.path", self.path)
        if not _is_cost(self.cost) or (self.cost is not None and self.unit == "calls"):
            expected = "None, or with a unit that is not calls a plain function of a value"
            raise InvalidConfig.of("Budget.cost", self.cost, expected)
        if self.then not in ("fail", "stop"):
            raise InvalidConfig.of("Budget.then", self.then, '"fail" or "stop"')
        if not isinstance(self.exists, bool):
            raise InvalidConfig.of("Budget.exists", self.exists, "True or False")


AnyLimit: TypeAlias = Limit | InFlight | Adaptive | Budget


class Cost(Struct, Generic[T], frozen=True):
    """What a function returns that knows what its call has cost: its result, and that.

    Where there are no `limits`, it is a result like any other; on a DataFrame its result is.

    Args:
        result: what it would return else.
        used: the cost, which takes the place of each estimate; or costs by the units of limits. A
            unit that no limit has is for figures only. For a list of values it is one for all.
    """

    result: T
    used: float | Mapping[str, float]


class NotCalled(AsyncWaitError):
    """A call is not made, so that another attempt is in vain.

    Attributes:
        is_of_call: a call was made, and has raised it, as an operator inside it does.
    """

    is_of_call = False


class BudgetSpent(NotCalled):
    """A budget is spent: nothing more is called."""


class LedgerLost(NotCalled):
    """Nobody can say any more whether a call may begin, so none does."""


class KeeperLost(AsyncWaitError):
    """What keeps results can't be used: a further call would be paid, and perhaps paid again."""


def ends_all(error: BaseException | None) -> TypeGuard[BudgetSpent | LedgerLost | KeeperLost]:
    """Say whether no further call is made, either, and it is no call that has raised that."""
    if isinstance(error, KeeperLost):
        return True
    return isinstance(error, BudgetSpent | LedgerLost) and not error.is_of_call


def is_unpaid(error: BaseException | None) -> TypeGuard[BudgetSpent]:
    """Say whether a call is not made as its own budget is spent, and none inside it."""
    return isinstance(error, BudgetSpent) and not error.is_of_call


class CostUnknown(NotCalled):
    """Nobody can say what a call costs that is to be counted: it is not made."""


class CostTooLarge(NotCalled):
    """A call costs more by itself than a limit allows: it is not made."""


class CostMistold(TypeError):
    """What a call tells of its cost is none. It was made, and another one would tell the same."""


def require_limits(limits: Any) -> tuple[AnyLimit, ...]:
    """Return limits as they are given.

    Raises:
        InvalidConfig: they are none.
    """
    if not isinstance(limits, list | tuple) or not limits:
        expected = "a list of Limit, InFlight, Adaptive or Budget, or None"
        raise InvalidConfig.of("limits", limits, expected)
    for number, each in enumerate(limits):
        if not isinstance(each, AnyLimit):
            expected = "a Limit, InFlight, Adaptive or Budget"
            raise InvalidConfig.of(f"limits[{number}]", each, expected)
    return tuple(limits)


def require_count(name: str, value: Any) -> None:
    """Refuse what is no whole number above 0, by name."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidConfig.of(name, value, "a whole number >= 1")


def require_text(name: str, value: Any) -> None:
    """Refuse what is no text, or empty, by name."""
    if not isinstance(value, str) or not value:
        raise InvalidConfig.of(name, value, "a text that is not empty")


def require_positive(name: str, value: Any) -> None:
    """Refuse what is no number above 0, by name."""
    if not (is_number(value) and value > 0):
        raise InvalidConfig.of(name, value, "a number > 0")


def is_number(value: Any) -> bool:
    """Say whether something can be counted with."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    except OverflowError:
        return False


def _is_cost(cost: Any) -> bool:
    return cost is None or is_plain_function(cost)
