"""Jobs as data: values, how long each call takes, limits, options, source and consumer."""

from collections.abc import Sequence
from itertools import accumulate, cycle, islice
from math import inf
from typing import Any, Literal

from msgspec import Struct

Kind = Literal["calls", "cost", "in_flight", "adaptive", "budget", "breaker"]


class Rule(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A limit as data: the operator gets a limit object of it, the optimum reads it directly.

    Args:
        kind: of the limit.
        most: calls or costs in a window; calls, or weights, at a time; calls in all; failures.
        per: seconds of the window; seconds over which a breaker counts.
        latency: None for the documented default.
        by: the limit holds for each key.
        burst: calls that may start together.
        weight: the cost of a value is its weight.
        max_wait: seconds that a value waits for room.
        rest: seconds for which a breaker stays open.
    """

    kind: Kind
    most: float
    per: float = 0.0
    latency: float | None = None
    by: bool = False
    burst: int | None = None
    weight: bool = False
    max_wait: float | None = None
    rest: float | None = None

    @property
    def arrives_in(self) -> float:
        if self.latency is not None:
            return self.latency
        return min(max(0.25, self.per / 50), self.per / 10)


class Work(Struct, frozen=True):
    """A value of a job: everything that its calls do."""

    index: int
    at: float
    takes: float
    again: float
    key: int
    cost: int
    fails: int

    def seconds(self, attempt: int) -> float:
        """Return how long a call takes; `attempt` counts from 0."""
        return self.takes if attempt == 0 else self.again


class Job(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job; sequences repeat themselves until each value has its number.

    Args:
        takes: seconds of the first call of each value.
        again: seconds of each further call, a hedge included; None for as long as the first.
        keys: none for a key of its own for each value.
        fails: failing calls of each value.
        after: seconds that a failing call names in a RetryAfter; None for another error.
        gaps: seconds in front of each value of the source; none for a source that has all values.
        reads: seconds that the consumer spends on each result.
        retry, batch, cache: arguments of `Retry`, `Batch`, `Cache`.
        hedge: seconds after which a second call begins.
        operators: operators that share the limits, and the values in turn.
    """

    name: str
    count: int
    takes: Sequence[float]
    again: float | None = None
    keys: Sequence[int] = ()
    costs: Sequence[int] = (1,)
    fails: Sequence[int] = (0,)
    after: float | None = None
    gaps: Sequence[float] = ()
    reads: Sequence[float] = (0,)
    limits: tuple[Rule, ...] = ()
    mode: Literal["ordered", "unordered", "key-ordered"] = "ordered"
    capacity: int = 100
    timeout: float | None = None
    retry: dict[str, Any] | None = None
    max_held: int | None = None
    copy: bool = False
    batch: dict[str, Any] | None = None
    cache: dict[str, Any] | None = None
    many: bool = False
    hedge: float | None = None
    operators: int = 1

    def work(self) -> list[Work]:
        """Return the values."""
        again = self.again
        columns = zip(
            range(self.count),
            accumulate(islice(cycle(self.gaps or (0,)), self.count)),
            cycle(self.takes),
            cycle(self.keys or range(self.count)),
            cycle(self.costs),
            cycle(self.fails),
            strict=False,
        )
        return [
            Work(index, at, takes, takes if again is None else again, key, cost, fails)
            for index, at, takes, key, cost, fails in columns
        ]

    def shares(self) -> list[list[Work]]:
        """Return the values of each operator."""
        work = self.work()
        return [work[place :: self.operators] for place in range(self.operators)]

    @property
    def budget(self) -> int | None:
        """Return the calls that the budget allows; None without a budget."""
        budgets = [int(each.most) for each in self.limits if each.kind == "budget"]
        return min(budgets, default=None)

    @property
    def most_calls(self) -> int:
        """Return the calls of one value, at most."""
        return int((self.retry or {"max_attempts": 1}).get("max_attempts", 3))

    @property
    def longest(self) -> float:
        """Return the longest time of one call."""
        return float((self.retry or {}).get("attempt_timeout") or inf)

    def back_off(self, attempts: int, *, is_cut: bool = False) -> float:
        """Return the seconds to wait after so many calls; `is_cut`: the last one was too long."""
        if self.after is not None and not is_cut:
            return self.after
        retry = {"initial": 0.1, "multiplier": 2.0, "cap": 60.0, **(self.retry or {})}
        return float(min(retry["initial"] * retry["multiplier"] ** (attempts - 1), retry["cap"]))
