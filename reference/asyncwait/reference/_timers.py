"""Timers over the loop's clock; what they call runs as a mail."""

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
    """Rings once, at the time that was set last."""

    def set(self, when: float) -> None:
        """Ring at `when`, in seconds of the loop's clock, and not at the time set before."""


class LoopAlarm:
    """A timer of the asyncio loop.

    Args:
        call_at: the loop's.
        ring: called when it is time.
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
    """A task that sleeps, for any loop; it exists as soon as a time was set.

    Args:
        spawn: starts the task.
        ring: called when it is time.
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
        self.loop = loop
        self.post = post
        self.timers: dict[Timer, None] = {}  # a set that keeps the order of registration
        self.rings_at = math.inf
        self.earliest = math.inf  # no timer is due before
        self.alarm = self.alarm_of(loop, spawn)

    def __len__(self) -> int:
        return len(self.timers)

    def now(self) -> float:
        """Return the time of the loop's clock, in seconds."""
        return self.loop.time()

    def register(self, when: float, callback: Callable[[], object]) -> Timer:
        """Have `callback` run as a mail as soon as the clock shows `when`.

        Args:
            when: in seconds of the loop's clock; infinite for never.
            callback: what to run.
        """
        timer = Timer(when, callback)
        self.timers[timer] = None
        self.earliest = min(when, self.earliest)
        if when < self.rings_at:
            self.set_alarm(when)
        return timer

    def cancel(self, timer: Timer) -> None:
        """Have `timer` never fire, also if the alarm has rung for it and its mail is on the way.

        The alarm stays, may ring for nothing, and is set anew then: nearly every record cancels
        its deadline, and hardly ever before an earlier one has passed.
        """
        self.timers.pop(timer, None)

    def run_before(self, time: float) -> None:
        """Run what was due before a time, although the alarm may not have rung for it.

        If the loop was blocked, what happened later may come to be looked at first.
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
        """Call back all timers that are due, the earliest first."""
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
