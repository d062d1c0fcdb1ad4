"""Meters of each limit object, which all operators of the process share."""

import weakref
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from math import inf
from time import monotonic
from typing import Any, TypeAlias

from asyncwait.spec.limits import Adaptive, AnyLimit, Breaker, Budget, InFlight, Limit
from asyncwait.toolkit._limits._meters import BudgetMeter, Circuit, Meter, Room, Search, windows_of

ARRIVALS = count()
Order: TypeAlias = tuple[bool, int]
"""Whether a call is a first call, and the number of its arrival."""


class Parking:
    """A meter, and the lines that are parked at it."""

    __slots__ = ("due", "last", "lines", "meter", "users")

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.lines: list[tuple[Order, int, Any]] = []
        """A heap of the parked lines, and of outdated entries of lines that have left."""
        self.due = inf
        """Time at which its first line may have room; infinity if room needs the end of a call."""
        self.users = 0
        """Lines whose calls need it."""
        self.last = -inf
        """Latest time of a check; a timer may fire early by a rounding error."""

    def park(self, line: Any) -> None:
        """Add a line, with the order of its first call."""
        line.stamp = next(ARRIVALS)
        heappush(self.lines, (line.order, line.stamp, line))

    def first(self) -> Any:
        """Return the first of the parked lines; None without one."""
        lines = self.lines
        while lines:
            _, stamp, line = lines[0]
            if line.stop is not None and line.stamp == stamp:
                return line
            heappop(lines)
        return None

    def is_reserved(self, order: Order) -> bool:
        """Return whether an earlier call waits for this meter."""
        return bool(self.lines) and (first := self.first()) is not None and first.order < order


class Shared:
    """A limit with its meters, in the process.

    Args:
        make: returns new meters, for one key.
        now: the present time of the first loop that uses the limit.
    """

    def __init__(self, make: Callable[[], Sequence[Meter]], now: float) -> None:
        self._make = make
        self._by_key: dict[Any, tuple[Parking, ...]] = {}
        self._most = 64
        self._began = monotonic(), now
        self._offsets: list[tuple[Callable[[], Any], float]] = []
        self._is_new = True

    @property
    def budgets(self) -> Sequence[BudgetMeter]:
        """The meters of a budget."""
        meters = (each.meter for each in self.meters(None, -inf))
        return [meter for meter in meters if isinstance(meter, BudgetMeter)]

    def meters(self, key: Any, now: float) -> tuple[Parking, ...]:
        """Return the meters for a key.

        Args:
            key: the key; None without keys.
            now: the present time, by the clock of the limit.
        """
        found = self._by_key.get(key)
        if found is None:
            if len(self._by_key) >= self._most:  # Keys without counted calls need no meter.
                self._by_key = {
                    each: meters
                    for each, meters in self._by_key.items()
                    if any(m.users or not m.meter.is_idle(now) for m in meters)
                }
                self._most = max(64, 2 * len(self._by_key))
            found = self._by_key[key] = tuple(map(Parking, self._make()))
        return found

    def offset(self, clock: Callable[[], float], now: float) -> float:
        """Return the seconds to add to the clock of a loop for the clock of this limit.

        The limit has the clock of the loop that used it first. The clock of another loop may have
        another origin, or be virtual: it continues from the present time of the limit.
        """
        loop = getattr(clock, "__self__", clock)
        for known, offset in self._offsets:
            if known() is loop:
                return offset
        real, began = self._began
        last = max((m.last for meters in self._by_key.values() for m in meters), default=-inf)
        offset = 0.0 if self._is_new else max(began + monotonic() - real, last) - now
        self._is_new = False
        self._offsets = [each for each in self._offsets if each[0]() is not None]
        try:
            self._offsets.append((weakref.ref(loop), offset))
        except TypeError:  # The clock of trio has no weak references.
            self._offsets.append((lambda: loop, offset))
        return offset


def _maker(limit: AnyLimit, capacity: int, now: float) -> Callable[[], Sequence[Meter]]:
    """Return a function that makes the meters of a limit, and holds no reference to the limit."""
    match limit:
        case Limit():
            parts = limit.most, limit.per, limit.arrives_in, limit.burst
            return lambda: windows_of(*parts)
        case InFlight():
            calls = limit.calls
            return lambda: [Room(calls)]
        case Adaptive():
            most = min(capacity, limit.most or capacity)
            return lambda: [Search(most, now)]
        case Breaker():
            trips = limit.failures, limit.over, limit.rest, limit.longest
            return lambda: [Circuit(*trips)]
        case Budget():
            budget = BudgetMeter(limit)
            return lambda: [budget]


_SHARED: dict[int, tuple["weakref.ref[Any]", Shared]] = {}
"""Limits by identity, because two equal objects are two limits."""


def shared_of(
    limit: AnyLimit, capacity: int, clock: Callable[[], float], now: float
) -> tuple[Shared, float]:
    """Return the meters of a limit object, and the offset of a clock; see `Shared.offset`."""
    if isinstance(limit, Adaptive):
        return Shared(_maker(limit, capacity, now), now), 0.0
    number = id(limit)
    found = _SHARED.get(number)
    if found is None or found[0]() is not limit:
        shared = Shared(_maker(limit, capacity, now), now)
        files = [budget.file for budget in shared.budgets if budget.file is not None]

        def forget(reference: Any) -> None:
            if (held := _SHARED.get(number)) is not None and held[0] is reference:
                del _SHARED[number]
            for file in files:
                file.close()

        found = _SHARED[number] = weakref.ref(limit, forget), shared
    return found[1], found[1].offset(clock, now)
