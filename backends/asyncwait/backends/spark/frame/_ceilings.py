"""Ceilings for a whole job, and the share of each of its tasks."""

from typing import Any

from msgspec import Struct

from asyncwait.backends.spark.frame._pace import Pace
from asyncwait.spec import InvalidConfig


class Ceilings(Struct, frozen=True):
    """What a job may do; see `asyncwait.backends.spark.ordered_wait`.

    Raises:
        InvalidConfig: one of them is none.
    """

    max_in_flight: int | None
    calls_per_second: float | None
    adaptive: bool
    max_tasks: int | None

    def __post_init__(self) -> None:
        for name in ("max_in_flight", "max_tasks"):
            value: Any = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 1 or value is True):
                raise InvalidConfig.of(name, value, "a whole number >= 1, or None")
        rate: Any = self.calls_per_second
        is_number = isinstance(rate, int | float) and not isinstance(rate, bool)
        if rate is not None and not (is_number and 0 < rate < float("inf")):
            raise InvalidConfig.of("calls_per_second", rate, "a number > 0, or None")
        if not isinstance(self.adaptive, bool):
            raise InvalidConfig.of("adaptive", self.adaptive, "True or False")

    def share(self, df: Any, capacity: int) -> tuple[int, Pace]:
        """Return the capacity of one task, and its pace.

        Args:
            df: tells how many tasks run at a time, where nobody else does.
            capacity: what a task may have without these ceilings.

        Raises:
            InvalidConfig: there are more tasks than calls, or nobody knows how many there are.
        """
        if self.max_in_flight is None and self.calls_per_second is None:
            return capacity, Pace(None, self.adaptive, capacity)
        tasks = self.max_tasks or _slots(df)
        if self.max_in_flight is not None:
            if self.max_in_flight < tasks:
                expected = f"at least one for each of {tasks} tasks; coalesce, and set max_tasks"
                raise InvalidConfig.of("max_in_flight", self.max_in_flight, expected)
            capacity = min(capacity, self.max_in_flight // tasks)
        rate = None if self.calls_per_second is None else self.calls_per_second / tasks
        return capacity, Pace(rate, self.adaptive, capacity)


def _slots(df: Any) -> int:
    """Return how many tasks the cluster can run at a time, now.

    Raises:
        InvalidConfig: the session does not tell.
    """
    try:
        return int(df.sparkSession.sparkContext.defaultParallelism)
    except Exception as error:  # Connect has no such thing, and says so in a class of its own.
        expected = "given: this session does not tell how many tasks run at a time"
        raise InvalidConfig.of("max_tasks", None, expected) from error
