"""Meters for each kind of limit, which determine the time at which a call may start.

All times are seconds of one clock for each limit; see `Shared`.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from http import HTTPStatus
from math import ceil, inf

from msgspec import Struct

from asyncwait.spec import InvalidConfig, RetryAfter
from asyncwait.spec.checks import require_posix
from asyncwait.spec.limits import BreakerOpen, Budget, BudgetSpent
from asyncwait.toolkit._transient import status_of, transient

ROUNDING = 1 + 1e-9
"""Relative tolerance of sums of costs."""


class Use(Struct, eq=False, gc=False):
    """Use of one limit by one call.

    Args:
        amount: estimated amount; after the call, the actual amount if the call reports it.
        asked: time of the permit.
        began: time of the start; infinity before.
        ended: time of the end; infinity before.
    """

    amount: float
    asked: float
    began: float = inf
    ended: float = inf


class Meter(ABC):
    """Use of one limit, for one key."""

    counts_starts = False
    """Whether the time of its next room depends on the starts of calls."""

    @abstractmethod
    def delay(self, amount: float, now: float) -> float:
        """Return the seconds until the next check for a call of this amount.

        Returns:
            0 if the call may start, and infinity if its start depends on the end of another call.

        Raises:
            NotCalled: a call of this amount may never start.
        """

    @abstractmethod
    def take(self, amount: float, now: float) -> Use:
        """Count a call."""

    def begin(self, use: Use, now: float) -> None:
        """Note the start of a call."""
        use.began = now

    @abstractmethod
    def end(
        self, use: Use, now: float, told: float | None = None, error: BaseException | None = None
    ) -> None:
        """Note the end of a call, or that it does not start: then it does not count at all.

        Args:
            use: result of `take`.
            now: the present time.
            told: actual amount; None if the call does not report it.
            error: error of the call; None without an error.
        """

    def is_idle(self, now: float) -> bool:
        """Return whether no call counts any more."""
        del now
        return False


class Window(Meter):
    """An amount in any stretch of time: see `Limit`.

    Args:
        most: amount in a window.
        per: seconds of a window.
        latency: longest time from the start of a call until it counts at the service.
    """

    counts_starts = True

    def __init__(self, most: float, per: float, latency: float) -> None:
        self._most, self._per, self._latency = most * ROUNDING, per, latency
        self._longest = latency + per
        self._total = 0.0
        self._open = 0
        """Calls that have permits and have not started."""
        self._begun: deque[Use] = deque()
        """Calls in the order of their starts; those in `_short` count there."""
        self._short: deque[Use] = deque()
        """Calls that ended within the latency, in the order of their ends."""

    def delay(self, amount: float, now: float) -> float:
        begun = self._begun
        if self._total + amount <= self._most and not (
            begun and begun[0].began + self._longest <= now
        ):
            return 0
        self._forget(now)
        return 0 if self._total + amount <= self._most else self._next() - now

    def take(self, amount: float, now: float) -> Use:
        self._total += amount
        self._open += 1
        return Use(amount, now)

    def begin(self, use: Use, now: float) -> None:
        use.began = now
        self._open -= 1
        self._begun.append(use)

    def end(
        self, use: Use, now: float, told: float | None = None, error: BaseException | None = None
    ) -> None:
        del error
        if use.began == inf:
            self._total -= use.amount
            self._open -= 1
            return
        if told is not None:
            self._forget(now)
            if min(now, use.began + self._latency) + self._per > now:
                self._total += told - use.amount
            use.amount = told
        use.ended = now
        if now < use.began + self._latency:
            self._short.append(use)

    def _forget(self, now: float) -> None:
        begun, short, latency, per = self._begun, self._short, self._latency, self._per
        while begun:
            use = begun[0]
            if use.ended >= (arrived := use.began + latency):
                if arrived + per > now:
                    break
                self._total -= use.amount
            begun.popleft()
        while short and short[0].ended + per <= now:
            self._total -= short.popleft().amount
        if not (self._open or begun or short):
            self._total = 0.0  # removes rounding errors

    def _next(self) -> float:
        begun, short = self._begun, self._short
        begun_next = begun[0].began + self._latency + self._per if begun else inf
        return min(begun_next, short[0].ended + self._per) if short else begun_next

    def is_idle(self, now: float) -> bool:
        self._forget(now)
        return not (self._open or self._begun or self._short)


class Room(Meter):
    """Calls, or their weights, at a time: see `InFlight`."""

    def __init__(self, most: float) -> None:
        self._most = most * ROUNDING
        self._open = 0
        self._total = 0.0
        self._one = Use(1.0, 0.0)
        """The use of each call of weight 1, shared by all of these calls."""

    def delay(self, amount: float, now: float) -> float:  # noqa: ARG002 - written for speed
        return 0 if self._total + amount <= self._most else inf

    def take(self, amount: float, now: float) -> Use:
        self._open += 1
        self._total += amount
        return self._one if amount == 1 else Use(amount, now)

    def end(
        self,
        use: Use,
        now: float,  # noqa: ARG002 - the same
        told: float | None = None,  # noqa: ARG002
        error: BaseException | None = None,  # noqa: ARG002
    ) -> None:
        self._open -= 1
        self._total = self._total - use.amount if self._open else 0.0

    def is_idle(self, now: float) -> bool:
        del now
        return not self._open


_FEWER = 0.9
"""Factor for the calls at a time after a refusal."""

_FIRST_FEWER = 0.5
"""The same for the first refusal: before it the number doubled with each round."""

_MORE = 0.05
"""Relative growth after a round without a refusal."""

_A_LITTLE_MORE = 0.0005
"""The same near the number that was refused last."""

_DOUBLED_IN = 1.5
"""Seconds in which this little growth doubles: the limit of the service may have risen."""

_NEAR = (0.95, 1.02)
"""Bounds of "near", relative to the number that was refused last."""

_FIRST = 4
"""Calls at a time to begin with."""

_WEIGHT = 0.1
"""Weight of the last call in the average duration of calls."""


class Search(Meter):
    """As many calls at a time as the service bears: see `Adaptive`."""

    def __init__(self, most: int, now: float) -> None:
        self._most = most
        self._open = 0
        self._next = self._since = now
        """Time at which the next call may start, and time of the last refusal that lowered it."""
        self._limit = float(min(_FIRST, most))
        """Calls at a time."""
        self._too_many: float | None = None
        """The number that was refused last."""
        self._took = 0.0
        """Average duration of a call that was served, in seconds."""

    def delay(self, amount: float, now: float) -> float:
        del amount
        if self._open >= ceil(self._limit):
            return inf
        return max(0.0, self._next - now)

    def take(self, amount: float, now: float) -> Use:
        gap = self._took / self._limit
        self._next = max(self._next, now - gap) + gap
        self._open += 1
        return Use(amount, now)

    def end(
        self, use: Use, now: float, told: float | None = None, error: BaseException | None = None
    ) -> None:
        del told
        self._open -= 1
        if use.began == inf:
            return
        if error is None:
            self._served(now - use.began, now)
        elif says_too_many(error) and use.began >= self._since:
            self._refused(error, now)

    def _served(self, took: float, now: float) -> None:
        self._took += (took - self._took) * (_WEIGHT if self._took else 1)
        self._limit = min(float(self._most), self._limit + self._step(now))

    def _step(self, now: float) -> float:
        if self._too_many is None:
            return 1.0
        least, most = _NEAR
        if least <= self._limit / self._too_many < most:
            return min(_MORE, _A_LITTLE_MORE * 2 ** ((now - self._since) / _DOUBLED_IN))
        return min(1 / self._limit, _MORE)

    def _refused(self, error: BaseException, now: float) -> None:
        """Lower the number, and start no call before the service allows it.

        `end` ignores refusals of calls that started before the last refusal.
        """
        is_first = self._too_many is None
        self._too_many = self._limit
        self._limit = max(1.0, self._limit * (_FIRST_FEWER if is_first else _FEWER))
        asks = error if isinstance(error, RetryAfter) else transient(error)
        self._since = now + (asks.seconds if isinstance(asks, RetryAfter) else 0)
        self._next = max(self._next, self._since)


def says_too_many(error: BaseException) -> bool:
    """Return whether an error is a refusal by a service that was called too often."""
    return isinstance(error, RetryAfter) or status_of(error) == HTTPStatus.TOO_MANY_REQUESTS


class Circuit(Meter):
    """A pause while the service is down: see `Breaker`."""

    def __init__(self, failures: int, over: float, rest: float, longest: float | None) -> None:
        self._most, self._over, self._rest, self._longest = failures, over, rest, longest
        self._failures: deque[float] = deque()
        self._open_until: float | None = None
        """Time at which the next probe may start; None outside of a pause."""
        self._since = 0.0
        """Start of the present pause."""
        self._probe: Use | None = None
        self._is_dead = False
        """Whether a probe has failed after the longest pause."""
        self._reason: BaseException | None = None

    def delay(self, amount: float, now: float) -> float:
        del amount
        if self._open_until is None:
            return 0
        if self._probe is not None:
            return inf
        longest = self._longest
        if self._is_dead and longest is not None:
            error = BreakerOpen(
                f"the service was down for {now - self._since:.10g} s, and the Breaker allows "
                f"{longest:.10g} s"
            )
            error.__cause__ = self._reason
            raise error
        return max(0.0, self._open_until - now)

    def take(self, amount: float, now: float) -> Use:
        use = Use(amount, now)
        if self._open_until is not None:
            self._probe = use
        return use

    def end(
        self, use: Use, now: float, told: float | None = None, error: BaseException | None = None
    ) -> None:
        del told
        has_failed = error is not None and (
            isinstance(error, TimeoutError) or (not says_too_many(error) and bool(transient(error)))
        )
        if use is self._probe:
            self._probe = None
            if has_failed:
                self._reason, self._open_until = error, now + self._rest
                self._is_dead = self._longest is not None and now - self._since >= self._longest
            elif use.began < inf:
                self._open_until = None
        elif has_failed and self._open_until is None:
            self._failures.append(now)
            while self._failures[0] <= now - self._over:
                self._failures.popleft()
            if len(self._failures) >= self._most:
                self._failures.clear()
                self._reason, self._since, self._open_until = error, now, now + self._rest


class BudgetMeter(Meter):
    """Amount spent of a budget: see `Budget`.

    Args:
        budget: the budget.

    Raises:
        InvalidConfig: the file of the budget has another unit, or is not a file of a budget.
        LedgerLost: the budget must exist, and its file does not.
    """

    def __init__(self, budget: Budget) -> None:
        self._amount, self._unit, self._path = budget.amount, budget.unit, budget.path
        self._is_told = budget.cost is None and budget.unit != "calls"
        """Whether only a `Cost` reports the cost of a call."""
        self._largest: float | None = None
        """The largest cost that a call has reported."""
        self._spent = 0.0
        self._open = 0
        self.file = None
        """The file of the costs; None if the budget has no path."""
        if budget.path is not None:
            require_posix("a Budget with a file")
            from asyncwait.toolkit._limits._spending import SpendingFile

            self.file = SpendingFile(budget.path, budget.unit, exists=budget.exists)
        elif budget.exists:
            expected = "False for a budget without a path or a Redis, which ends with its run"
            raise InvalidConfig.of("Budget.exists", True, expected)

    def delay(self, amount: float, now: float) -> float:
        """Return 0; or infinity while calls run that may cost less than their estimates."""
        del now
        spent = self._spent if self.file is None else self.file.spent()
        amount = self._estimate(amount)
        is_blind = self._is_told and not amount and self._largest is None and self._open > 0
        if spent < self._amount and spent + amount <= self._amount * ROUNDING and not is_blind:
            return 0
        if self._open:
            return inf
        place = "" if self._path is None else f", as {self._path} has it"
        cost = f", of {amount:.10g}," if amount else ""
        raise BudgetSpent(
            f"{spent:.10g} of a budget of {self._amount:.10g} {self._unit} are spent{place}: "
            f"the next call{cost} is not made; go on with a larger Budget: what no journal has is "
            "called and paid for again"
        )

    @property
    def least(self) -> float:
        """Lower bound of the amount of any call."""
        return 1.0 if self._unit == "calls" else 0.0

    def _estimate(self, amount: float) -> float:
        """Return the estimated cost of a call; the file may have a larger reported cost."""
        if not self._is_told:
            return amount
        return max(self._largest or 0.0, 0.0 if self.file is None else self.file.largest)

    def take(self, amount: float, now: float) -> Use:
        use = Use(self._estimate(amount), now)
        self._spend(use.amount)
        self._open += 1
        return use

    def end(
        self, use: Use, now: float, told: float | None = None, error: BaseException | None = None
    ) -> None:
        del now, error
        self._open -= 1
        if use.began == inf:
            told = 0.0
        elif told is not None:
            self._largest = max(told, self._largest or 0.0)
        if told is not None:
            self._spend(told - use.amount)
            use.amount = told

    def _spend(self, amount: float) -> None:
        if self.file is None:
            self._spent += amount
        elif amount:
            self.file.add(amount)

    def close(self) -> None:
        """Close the file."""
        if self.file is not None:
            self.file.close()


def windows_of(most: float, per: float, latency: float, burst: float | None) -> Sequence[Meter]:
    """Return the meters of a `Limit` for one key."""
    whole = Window(most, per, latency)
    return [whole] if burst is None else [whole, Window(burst, per * burst / most, 0.0)]
