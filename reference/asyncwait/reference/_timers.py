"""Timers over the loop's clock; what they call runs as a mail."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from asyncwait.reference._alarms import Alarm, LoopAlarm, Spawn, TaskAlarm
from asyncwait.spec import Loop

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
        self._earliest = math.inf  # no timer is due before
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
        self._earliest = min(when, self._earliest)
        if when < self._rings_at:
            self._set_alarm(when)
        return timer

    def cancel(self, timer: Timer) -> None:
        """Have `timer` never fire, also if the alarm has rung for it and its mail is on the way.

        The alarm stays, may ring for nothing, and is set anew then: nearly every record cancels
        its deadline, and hardly ever before an earlier one has passed.
        """
        self._timers.pop(timer, None)

    def run_before(self, time: float) -> None:
        """Run what was due before a time, although the alarm may not have rung for it.

        If the loop was blocked, what happened later may come to be looked at first.
        """
        if self._earliest < time:
            self._run([timer for timer in self._timers if timer.when < time])

    def close(self) -> None:
        """Cancel all timers (END-4)."""
        self._timers.clear()
        self._set_alarm(math.inf)

    def _ring(self) -> None:
        now = max(self.now(), self._rings_at)  # loops may ring early by a tick of their clocks
        self._post(lambda: self._run([timer for timer in self._timers if timer.when <= now]))
        later = (timer.when for timer in self._timers if timer.when > now)
        self._set_alarm(min(later, default=math.inf))

    def _run(self, due: list[Timer]) -> None:
        """Call back all timers that are due, the earliest first."""
        for timer in sorted(due, key=lambda timer: timer.when):
            if timer in self._timers:  # an earlier one may have cancelled it
                del self._timers[timer]
                timer.callback()
        self._earliest = min((timer.when for timer in self._timers), default=math.inf)

    def _set_alarm(self, when: float) -> None:
        self._rings_at = when
        self._alarm.set(when)

    def _alarm_of(self, loop: Loop, spawn: Spawn) -> Alarm:
        if loop.call_at is None:
            return TaskAlarm(spawn, self._ring)
        return LoopAlarm(loop.call_at, self._ring)
