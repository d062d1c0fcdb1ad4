"""Timers over the loop's clock; what they call runs as a mail."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from asyncwait.reference._alarms import Alarm, LoopAlarm, Spawn, TaskAlarm
from asyncwait.reference._loop import Loop

Post: TypeAlias = Callable[[Callable[[], object]], Any]
"""Sends a mail, from any thread; does nothing once the operator is over."""


@dataclass(frozen=True, slots=True, eq=False)
class Timer:
    """Calls something once.

    Args:
        when: in seconds of the loop's clock.
        callback: what to run as a mail then.
    """

    when: float
    callback: Callable[[], object]


class TimerService:
    """Fires timers on time, whatever the operator is waiting for (END-8).

    Args:
        loop: whose clock counts.
        post: sends a mail.
        spawn: starts a task that ends with the operator.
    """

    def __init__(self, loop: Loop, post: Post, spawn: Spawn) -> None:
        self._loop = loop
        self._post = post
        self._timers: dict[Timer, None] = {}  # a set that keeps the order of registration
        self._rings_at = math.inf
        self._alarm = self._alarm_of(loop, spawn)

    def __len__(self) -> int:
        return len(self._timers)

    def now(self) -> float:
        """Return the time of the loop's clock, in seconds."""
        return self._loop.time()

    def register(self, when: float, callback: Callable[[], object]) -> Timer:
        """Have `callback` run as a mail as soon as the clock shows `when`.

        Args:
            when: in seconds of the loop's clock; infinite for never.
            callback: what to run.
        """
        timer = Timer(when, callback)
        self._timers[timer] = None
        if when < self._rings_at:
            self._set_alarm(when)
        return timer

    def cancel(self, timer: Timer) -> None:
        """Have `timer` never fire; if it has fired already, its mail still runs.

        The alarm stays, may ring for nothing, and is set anew then: nearly every record cancels
        its deadline, and hardly ever before an earlier one has passed.
        """
        self._timers.pop(timer, None)

    def close(self) -> None:
        """Cancel all timers (END-4)."""
        self._timers.clear()
        self._set_alarm(math.inf)

    def _ring(self) -> None:
        now = max(self.now(), self._rings_at)  # loops may ring early by a tick of their clocks
        self._fire_due(now)
        self._set_alarm(min((timer.when for timer in self._timers), default=math.inf))

    def _fire_due(self, now: float) -> None:
        """Send the callbacks of all timers that are due, the earliest first."""
        due = sorted((t for t in self._timers if t.when <= now), key=lambda timer: timer.when)
        for timer in due:
            del self._timers[timer]
            self._post(timer.callback)

    def _set_alarm(self, when: float) -> None:
        self._rings_at = when
        self._alarm.set(when)

    def _alarm_of(self, loop: Loop, spawn: Spawn) -> Alarm:
        if loop.call_at is None:
            return TaskAlarm(spawn, self._ring)
        return LoopAlarm(loop.call_at, self._ring)
