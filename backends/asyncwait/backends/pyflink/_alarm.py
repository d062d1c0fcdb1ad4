"""The clock of the loop, and what it is asked to call."""

from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """The time of the loop, and its timers; these are for the loop alone."""

    def time(self) -> float:
        """Return the time in seconds."""
        ...

    def register(self, when: float, callback: Callable[[], object]) -> Callable[[], object]:
        """Call back at a time; return what cancels that."""
        ...


class Alarm:
    """Something that is called at a time, unless it is cancelled."""

    def __init__(self, when: float, ring: Callable[[], object]) -> None:
        self._when, self._ring = when, ring
        self._is_cancelled = False
        self._drop: Callable[[], object] = lambda: None

    def set(self, clock: Clock) -> None:
        """Set it; on the loop."""
        if not self._is_cancelled:
            self._drop = clock.register(self._when, self._ring)

    def cancel(self) -> None:
        """Have it call nobody; on the loop."""
        self._is_cancelled = True
        self._drop()
