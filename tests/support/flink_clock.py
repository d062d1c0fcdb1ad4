"""The time of a known scenario, in milliseconds, and the timers that Flink sets."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Timer:
    """Calls back once.

    Args:
        when: in milliseconds.
        callback: Flink's.
    """

    when: int
    callback: Any


class FlinkClock:
    """A clock that a player moves from timer to timer.

    Args:
        time: that it shows at first.
        lag: how much later than at its time a timer fires.
    """

    def __init__(self, time: int, lag: int) -> None:
        self.time, self._lag = time, lag
        self._timers: dict[Timer, None] = {}  # in the order in which they were set

    def __len__(self) -> int:
        return len(self._timers)

    def register(self, when: int, callback: Any) -> Callable[[], object]:
        """Set a timer; return what cancels it."""
        timer = Timer(when, callback)
        self._timers[timer] = None
        return lambda: self._timers.pop(timer, None)

    def fire_until(self, end: int) -> bool:
        """Go on to the next timer that is due at a time; return whether there was one."""
        timer = min(self._timers, key=lambda timer: timer.when, default=None)
        if timer is None or timer.when + self._lag > end:
            return False
        self.time = max(self.time, timer.when + self._lag)
        del self._timers[timer]
        timer.callback.onProcessingTime(timer.when)
        return True
