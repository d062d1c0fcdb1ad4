"""All limits of an operator at once, and what calls cost."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from math import inf
from threading import Lock
from typing import Any, TypeGuard

from asyncwait.spec import InvalidConfig
from asyncwait.spec.texts import one_line, shown
from asyncwait.toolkit._limits._meters import Meter, Room, Search, Turn, Window
from asyncwait.toolkit._limits._purse import Purse
from asyncwait.toolkit._limits._vocabulary import (
    Adaptive,
    AnyLimit,
    Budget,
    Cost,
    CostTooLarge,
    CostUnknown,
    InFlight,
    Limit,
)


class Book:
    """What calls run and what they cost, and when the next one may begin; for any thread.

    Args:
        limits: of all these calls, which all hold; or None in the place of one that others keep.
        capacity: calls at a time, whatever they allow.
        clock: gives the time, in seconds.
    """

    def __init__(
        self, limits: Sequence[AnyLimit | None], capacity: int, clock: Callable[[], float]
    ) -> None:
        self._clock = clock
        self._lock = Lock()
        self._meters: list[Meter] = [
            _meter(limit, place, capacity, clock())
            for place, limit in enumerate(limits)
            if limit is not None
        ]
        files = [meter.file for meter in self._meters if isinstance(meter, Purse) and meter.file]
        self._files = sorted(files, key=lambda file: file.identity)
        """Of budgets, in an order that is the same for all who share several of them."""
        self._refuse_one_file_twice()

    def _refuse_one_file_twice(self) -> None:
        for one, other in pairwise(self._files):
            if one.identity == other.identity:
                self.close()
                expected = f"another file than {one.path!r}, which is of another Budget here"
                raise InvalidConfig.of("Budget.path", other.path, expected)

    def take(self, amounts: Sequence[float]) -> Turn | float:
        """Count a call, and return its turn; or in how many seconds to ask again.

        Raises:
            BudgetSpent: there is nothing left for it.
        """
        with self._alone():
            turn = Turn([*amounts], self._clock())
            wait = max((meter.delay(turn) for meter in self._meters), default=0.0)
            if wait > 0:
                return wait
            return self._count(turn)

    def count(self, amounts: Sequence[float]) -> Turn:
        """Count a call that others have given its turn."""
        with self._alone():
            return self._count(Turn([*amounts], self._clock()))

    @contextmanager
    def _alone(self) -> Generator[None]:
        """Have nobody else take the rest between the look and the entry, or write beside it."""
        with self._lock, ExitStack() as alone:
            for file in self._files:
                alone.enter_context(file.locked())
            yield

    def _count(self, turn: Turn) -> Turn:
        for meter in self._meters:
            meter.take(turn)
        return turn

    def begin(self, turn: Turn) -> None:
        """Note that a call begins."""
        with self._lock:
            turn.began = self._clock()
            for meter in self._meters:
                meter.begin(turn)

    def end(self, turn: Turn, error: BaseException | None = None) -> None:
        """Note that a call has ended; or that it does not begin."""
        with self._alone():
            turn.ended, turn.error = self._clock(), error
            for meter in self._meters:
                meter.end(turn)

    def close(self) -> None:
        """Let go of the files of budgets."""
        for meter in self._meters:
            if isinstance(meter, Purse):
                meter.close()


class Costs:
    """What calls cost, as it is thought before, and told afterwards.

    Args:
        limits: one for each amount.
    """

    def __init__(self, limits: Sequence[AnyLimit]) -> None:
        self._limits = limits
        units = [(each.unit, each.cost) for each in limits if _has_unit(each)]
        self._told_alone = next((unit for unit, cost in units if cost is None), None)
        """The unit of a budget, if only a `Cost` tells what calls cost."""

    def spent(self, turn: Turn) -> dict[str, float]:
        """Return what a call has cost, by unit, as far as one knows."""
        spent: dict[str, float] = {}
        for place, limit in enumerate(self._limits):
            if _has_unit(limit):
                told = turn.told[place] if turn.told else None
                spent.setdefault(limit.unit, turn.amounts[place] if told is None else told)
        return spent

    def others(self, given: Cost[Any]) -> dict[str, float]:
        """Return what a call tells by units that no limit has.

        Raises:
            TypeError: one of them is no cost.
        """
        if not isinstance(given.used, Mapping):
            return {}
        known = {each.unit for each in self._limits if _has_unit(each)}
        told = {f"{unit}": amount for unit, amount in given.used.items() if unit not in known}
        return {unit: _require_cost(amount, given) for unit, amount in told.items()}

    def of(self, values: Sequence[Any]) -> list[float]:
        """Return what a call for these values costs, by limit.

        Raises:
            CostTooLarge: that is more than a limit ever allows.
            CostUnknown: a cost is no number, or to ask for it has raised.
        """
        return [self._of(limit, values) for limit in self._limits]

    def _of(self, limit: AnyLimit, values: Sequence[Any]) -> float:
        if not _has_unit(limit):
            return 1.0
        if (cost := limit.cost) is None:
            return 0.0
        amount = sum(_asked(cost, value) for value in values)
        if isinstance(limit, Limit) and amount > limit.most:
            named = shown(values[0]) if len(values) == 1 else f"{len(values)} values"
            unit = "" if limit.unit == "cost" else f" {limit.unit}"
            raise CostTooLarge(
                f"a call for {named} costs {amount:.10g}{unit}, and {limit.most:.10g} are allowed "
                f"in {limit.per:.10g} s: it would never begin"
            )
        return amount

    def told(self, given: Any) -> list[float | None]:
        """Return what a call tells by what it gives: an amount for each limit, or None.

        Raises:
            TypeError: that is no cost; or nothing is told where no estimate can stand for it.
        """
        if not isinstance(given, Cost):
            if self._told_alone is not None:
                unit = self._told_alone
                raise TypeError(
                    f"expected a Cost(result, used), got {shown(given)}: the budget in {unit} has "
                    "no `cost` that would say it"
                )
            return []
        if not isinstance(given.used, Mapping):
            used = _require_cost(given.used, given)
            return [used if _has_unit(limit) else None for limit in self._limits]
        if self._told_alone is not None and self._told_alone not in given.used:
            raise TypeError(
                f"expected a cost in {self._told_alone} from Cost.used, got {shown(given.used)}: "
                "the budget has no `cost` that would say it"
            )
        return [self._told(given, limit) for limit in self._limits]

    def _told(self, given: Any, limit: Any) -> float | None:
        if not _has_unit(limit) or limit.unit not in given.used:
            return None
        return _require_cost(given.used[limit.unit], given)


def _has_unit(limit: AnyLimit) -> TypeGuard[Limit | Budget]:
    """Say whether a `Cost` tells something of this limit."""
    if isinstance(limit, Budget):
        return limit.unit != "calls"
    return isinstance(limit, Limit) and limit.cost is not None


def _asked(cost: Callable[[Any], Any], value: Any) -> float:
    """Return what a call for a value costs, as a function of the user's says."""
    try:
        return _require_cost(cost(value), value)
    except Exception as error:
        raise CostUnknown(f"nobody can say what a call costs: {one_line(error)}") from error


def _require_cost(amount: Any, of: Any) -> float:
    # Numbers of NumPy, decimals and fractions are costs, too.
    is_one = hasattr(amount, "__float__") and not isinstance(amount, bool)
    if not is_one or not 0 <= float(amount) < inf:
        raise TypeError(f"expected a number >= 0 as the cost of {shown(of)}, got {shown(amount)}")
    return float(amount)


def _meter(limit: AnyLimit, place: int, capacity: int, now: float) -> Meter:
    match limit:
        case Limit():
            return Window(limit, place)
        case InFlight():
            return Room(limit.calls)
        case Adaptive():
            return Search(min(capacity, limit.most or capacity), now)
        case Budget():
            return Purse(limit, place)
