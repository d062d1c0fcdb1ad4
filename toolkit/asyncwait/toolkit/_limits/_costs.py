"""Costs, weights and keys of a call: estimates before it, actual costs after it."""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, TypeGuard

from asyncwait.spec.limits import (
    AnyLimit,
    Budget,
    Cost,
    CostMistold,
    CostTooLarge,
    CostUnknown,
    InFlight,
    Limit,
)
from asyncwait.spec.texts import shown
from asyncwait.toolkit._function import settled
from asyncwait.toolkit._keys import stand_in
from asyncwait.toolkit._limits._meters import ROUNDING, says_too_many
from asyncwait.toolkit._transient import attribute_of


class Costs:
    """Costs of the calls of one operator.

    Args:
        limits: the limits; amounts and keys have the same order.
    """

    def __init__(self, limits: Sequence[AnyLimit]) -> None:
        self._limits = limits
        units = [(each.unit, each.cost) for each in limits if _has_unit(each)]
        self._told_alone = next((unit for unit, cost in units if cost is None), None)
        """The unit of a budget without an estimate, whose calls have to report their costs."""
        self._known = {unit for unit, _ in units}
        self.has_units = bool(units)
        """Whether a `Cost` may report an amount of a limit."""
        self._by = [each.by if isinstance(each, Limit | InFlight) else None for each in limits]
        self.has_keys = any(self._by)
        """Whether a limit has keys."""
        is_constant = not any(map(_function_of, limits))
        self.constant = [self._amount(each, [None]) for each in limits if is_constant]
        """The amounts of each call; empty if they depend on its values."""

    def of(self, values: Sequence[Any]) -> list[float]:
        """Return the estimated amount of a call for these values, for each limit.

        Raises:
            CostTooLarge: the amount is more than a limit ever allows.
            CostUnknown: the user's function raised, or returned no number >= 0.
        """
        if self.constant:
            return self.constant
        amounts = [self._amount(limit, values) for limit in self._limits]
        for limit, amount in zip(self._limits, amounts, strict=True):
            if amount > _most(limit) * ROUNDING:
                raise _too_large(limit, amount, values)
        return amounts

    def _amount(self, limit: AnyLimit, values: Sequence[Any]) -> float:
        function = _function_of(limit)
        if function is not None:
            return sum(_asked(limit, function, value) for value in values)
        return 0.0 if isinstance(limit, Budget) and limit.unit != "calls" else 1.0

    def fitting(self, calls: Sequence[Sequence[Any]], most: Sequence[float] | None = None) -> int:
        """Return how many parts a single call may have, 1 at least.

        Args:
            calls: the values of each part.
            most: the largest amount of the call for each limit; None for what the limits allow.
        """
        if self.constant:
            return len(calls)
        bounds = most or [_most(limit) for limit in self._limits]
        count, sums = 0, [0.0] * len(self._limits)
        for values in calls:
            try:
                amounts = self.of(values) if values else sums
            except (CostTooLarge, CostUnknown):
                break
            for place, limit in enumerate(self._limits):
                if _function_of(limit) is not None and values:
                    sums[place] += amounts[place]
            if any(total > bound * ROUNDING for total, bound in zip(sums, bounds, strict=True)):
                break
            count += 1
        return max(1, count)

    def keys(self, value: Any) -> tuple[Any, ...]:
        """Return the key of a value for each limit; None for a limit without keys.

        Raises:
            CostUnknown: a function `by` raised, or returned an object that is no key.
        """
        try:
            keys = tuple(None if by is None else stand_in(by(value)) for by in self._by)
            hash(keys)
        except Exception as error:
            raise CostUnknown(f"`by` of a limit raised {shown(error)}") from error
        return keys

    def told(self, given: Any) -> Sequence[float | None]:
        """Return the actual amounts that a call reports by its result; None without a report.

        Raises:
            CostMistold: the cost is invalid, or missing where no estimate can replace it.
        """
        unit = self._told_alone
        if unit is None and type(given) is not Cost:
            return ()
        if type(given) is Cost:
            if unit is not None and isinstance(given.used, Mapping) and unit not in given.used:
                raise CostMistold(
                    f"expected a cost in {unit} from Cost.used, got {shown(given.used)}: "
                    "the budget has no `cost` that would say it"
                )
            return self._told(given)
        raise CostMistold(
            f"expected a Cost(result, used), got {shown(given)}: the budget in {unit} has "
            "no `cost` that would say it"
        )

    def _told(self, given: Cost[Any]) -> Sequence[float | None]:
        if not isinstance(given.used, Mapping):
            used = _require_told(given.used, given)
            return [used if _has_unit(limit) else None for limit in self._limits]
        used_by = given.used
        known = {unit.casefold(): unit for unit in self._known}
        for unit in used_by:
            meant = known.get(f"{unit}".casefold(), unit)
            if unit not in self._known and meant != unit:
                raise CostMistold(f"expected a cost in {meant}, got one in {shown(unit)}")
        return [
            _require_told(used_by[limit.unit], given)
            if _has_unit(limit) and limit.unit in used_by
            else None
            for limit in self._limits
        ]

    def told_by(self, error: BaseException) -> Sequence[float | None]:
        """Return the actual amounts of a call that has failed; None for the estimate."""
        given = attribute_of(error, "cost")
        if isinstance(given, Cost):
            try:
                return self._told(given)
            except CostMistold as mistold:
                error.add_note(f"`cost` of this error: {mistold}; the estimate is charged")
                return ()
        is_refused = says_too_many(error)
        return [
            0.0
            if is_refused
            and _has_unit(each)
            and isinstance(each, Budget)
            and each.refused == "free"
            else None
            for each in self._limits
        ]

    def spent(
        self, amounts: Sequence[float], told: Sequence[float | None], given: Any
    ) -> dict[str, float]:
        """Return the cost of a call by unit, for figures.

        Args:
            amounts: estimated amounts, for each limit.
            told: actual amounts, for each limit, as far as the call reports them.
            given: the result of the call, or None.
        """
        spent: dict[str, float] = {}
        for place, limit in enumerate(self._limits):
            if _has_unit(limit):
                amount = told[place] if place < len(told) else None
                spent.setdefault(limit.unit, amounts[place] if amount is None else amount)
        if isinstance(given, Cost) and isinstance(given.used, Mapping):
            for unit, amount in given.used.items():
                if unit not in self._known:
                    spent[f"{unit}"] = _require_told(amount, given)
        return spent


def _has_unit(limit: AnyLimit) -> TypeGuard[Limit | Budget]:
    if isinstance(limit, Budget):
        return limit.unit != "calls"
    return isinstance(limit, Limit) and limit.cost is not None


def _function_of(limit: AnyLimit) -> Callable[[Any], float] | None:
    if isinstance(limit, InFlight):
        return limit.weight
    return limit.cost if isinstance(limit, Limit | Budget) else None


def _most(limit: AnyLimit) -> float:
    match limit:
        case Limit():
            return limit.most if limit.burst is None else limit.burst
        case InFlight():
            return float(limit.calls)
        case Budget():
            return limit.amount
    return inf


def _too_large(limit: AnyLimit, amount: float, values: Sequence[Any]) -> CostTooLarge:
    named = shown(values[0]) if len(values) == 1 else f"{len(values)} values"
    unit = getattr(limit, "unit", "cost")
    unit = "" if unit == "cost" else f" {unit}"
    where = f" in {limit.per:.10g} s" if isinstance(limit, Limit) else ""
    where = " at a time" if isinstance(limit, InFlight) else where
    return CostTooLarge(
        f"a call for {named} costs {amount:.10g}{unit}, and {_most(limit):.10g} are allowed"
        f"{where}: it would never begin"
    )


def _asked(limit: AnyLimit, function: Callable[[Any], Any], value: Any) -> float:
    name = "weight" if isinstance(limit, InFlight) else "cost"
    try:
        amount = settled(f"`{name}`", function(value))
    except Exception as error:
        what = f"`{name}` of {type(limit).__name__} raised {shown(error)}"
        raise CostUnknown(f"the {name} of a call is unknown: {what}") from error
    try:
        return _require_cost(amount, value)
    except TypeError as error:
        raise CostUnknown(f"the {name} of a call is unknown: {error}") from None


def _require_told(amount: Any, of: Any) -> float:
    try:
        return _require_cost(amount, of)
    except TypeError as error:
        raise CostMistold(str(error)) from None


def _require_cost(amount: Any, of: Any) -> float:
    # Numbers of NumPy, decimals and fractions are costs, too.
    is_one = hasattr(amount, "__float__") and not isinstance(amount, bool)
    try:
        is_one = is_one and 0 <= float(amount) < inf
    except (OverflowError, ValueError):
        is_one = False
    if not is_one:
        raise TypeError(f"expected a number >= 0 as the cost of {shown(of)}, got {shown(amount)}")
    return float(amount)
