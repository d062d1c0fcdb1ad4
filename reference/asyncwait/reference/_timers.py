"""Timers of the loop's clock; their callbacks run as mails."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import anyio

from asyncwait.spec.mailbox import CallAt, Loop

Spawn: TypeAlias = Callable[..., Any]
"""Starts a coroutine function, with its arguments, as a task that ends with the operator."""


class Alarm(Protocol):
    """Alarm that rings once, at the time that was set last."""

    def set(self, when: float) -> None:
        """Ring at `when`, in seconds of the loop's clock, and not at the time set before."""


class LoopAlarm:
    """Alarm by a timer of the asyncio loop.

    Args:
        call_at: `call_at` of the loop.
        ring: called at the set time.
    """

    def __init__(self, call_at: CallAt, ring: Callable[[], object]) -> None:
        self._call_at = call_at
        self._ring = ring
        self._handle: asyncio.TimerHandle | None = None

    def set(self, when: float) -> None:
        """Ring at `when`, in seconds of the loop's clock, and not at the time set before."""
        if self._handle is not None:
            self._handle.cancel()
        self._handle = None if when == math.inf else self._call_at(when, self._ring)


class TaskAlarm:
    """Alarm by a sleeping task, for any loop; the task starts when a time is set.

    Args:
        spawn: starts the task.
        ring: called at the set time.
    """

    def __init__(self, spawn: Spawn, ring: Callable[[], object]) -> None:
        self._spawn = spawn
        self._ring = ring
        self._when = math.inf
        self._moved: anyio.Event | None = None

    def set(self, when: float) -> None:
        """Ring at `when`, in seconds of the loop's clock, and not at the time set before."""
        self._when = when
        if self._moved is not None:
            self._moved.set()
        elif when != math.inf:
            self._moved = anyio.Event()
            self._spawn(self._run)

    async def _run(self) -> None:
        while True:
            self._moved = moved = anyio.Event()
            with anyio.CancelScope(deadline=self._when) as sleep:
                await moved.wait()
            if sleep.cancelled_caught:
                self._ring()


Post: TypeAlias = Callable[[Callable[[], object]], Any]
"""Sends a mail, from any thread; does nothing after the end of the operator."""


@dataclass(frozen=True, slots=True, eq=False)
class Timer:
    """Timer that fires once.

    Args:
        when: time in seconds of the loop's clock.
        callback: function that runs as a mail then.
    """

    when: float
    callback: Callable[[], object]


class TimerService:
    """Timers of one operator, which fire whatever the operator waits for (END-8).

    Args:
        loop: event loop of the operator.
        post: sends a mail.
        spawn: starts a task that ends with the operator.
    """

    def __init__(self, loop: Loop, post: Post, spawn: Spawn) -> None:
        self.loop = loop
        self.post = post
        self.timers: dict[Timer, None] = {}  # a set that keeps the order of registration
        self.rings_at = math.inf
        self.earliest = math.inf  # no timer is due earlier
        self.alarm = self.alarm_of(loop, spawn)

    def __len__(self) -> int:
        return len(self.timers)

    def now(self) -> float:
        """Return the time of the loop's clock, in seconds."""
        return self.loop.time()

    def register(self, when: float, callback: Callable[[], object]) -> Timer:
        """Register a timer, whose callback runs as a mail when the clock shows `when`.

        Args:
            when: time in seconds of the loop's clock; infinity for never.
            callback: function to run.
        """
        timer = Timer(when, callback)
        self.timers[timer] = None
        self.earliest = min(when, self.earliest)
        if when < self.rings_at:
            self.set_alarm(when)
        return timer

    def cancel(self, timer: Timer) -> None:
        """Cancel `timer`, even if the alarm has rung for it and its mail waits.

        The alarm stays, may ring without a due timer, and is then set anew: nearly every record
        cancels its deadline, so setting the alarm each time would cost more.
        """
        self.timers.pop(timer, None)

    def run_before(self, time: float) -> None:
        """Run the timers that were due before a time, even if the alarm has not rung for them.

        After the loop was blocked, a mail of a later event may run before the alarm's mail.
        """
        if self.earliest < time:
            self.run_due([timer for timer in self.timers if timer.when < time])

    def close(self) -> None:
        """Cancel all timers (END-4)."""
        self.timers.clear()
        self.set_alarm(math.inf)

    def ring(self) -> None:
        now = max(self.now(), self.rings_at)  # loops may ring early by a tick of their clocks
        self.post(lambda: self.run_due([timer for timer in self.timers if timer.when <= now]))
        later = (timer.when for timer in self.timers if timer.when > now)
        self.set_alarm(min(later, default=math.inf))

    def run_due(self, due: list[Timer]) -> None:
        """Run the callbacks of due timers, the earliest first."""
        for timer in sorted(due, key=lambda timer: timer.when):
            if timer in self.timers:  # an earlier one may have cancelled it
                del self.timers[timer]
                timer.callback()
        self.earliest = min((timer.when for timer in self.timers), default=math.inf)

    def set_alarm(self, when: float) -> None:
        self.rings_at = when
        self.alarm.set(when)

    def alarm_of(self, loop: Loop, spawn: Spawn) -> Alarm:
        if loop.call_at is None:
            return TaskAlarm(spawn, self.ring)
        return LoopAlarm(loop.call_at, self.ring)
