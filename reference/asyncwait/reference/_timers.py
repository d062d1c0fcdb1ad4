"""Processing-time timers over the loop's clock; what they call is run as a mail."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import anyio

from asyncwait.reference._loop import Loop

Post: TypeAlias = Callable[[Callable[[], object]], object]
"""Sends a mail; does nothing once the mailbox is closed."""

Spawn: TypeAlias = Callable[..., object]
"""Starts a coroutine function, with its arguments, as a task that ends with the operator."""


@dataclass(frozen=True, slots=True, eq=False)
class Timer:
    """Calls something once.

    Args:
        when: on the loop's clock, in seconds.
        callback: what to run as a mail then.
    """

    when: float
    callback: Callable[[], object]


class TimerService:
    """Fires timers on time, whatever the operator is waiting for (TO-5, BP-3).

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
        self._alarm: Alarm
        if loop.call_at is None:
            self._alarm = TaskAlarm(spawn, self._ring)
        else:
            self._alarm = LoopAlarm(loop.call_at, self._ring)

    def __len__(self) -> int:
        return len(self._timers)

    def now(self) -> float:
        """Return the time on the loop's clock, in seconds."""
        return self._loop.time()

    def register(self, when: float, callback: Callable[[], object]) -> Timer:
        """Have `callback` run as a mail as soon as the clock shows `when`.

        Args:
            when: on the loop's clock, in seconds; infinite for never.
            callback: what to run.
        """
        timer = Timer(when, callback)
        self._timers[timer] = None
        if when < self._rings_at:
            self._set_alarm(when)
        return timer

    def cancel(self, timer: Timer) -> None:
        """Have `timer` never fire; if it has fired already, its mail still runs.

        The alarm may ring for it and find nothing to do: cheaper than to set it anew each time.
        """
        self._timers.pop(timer, None)

    def close(self) -> None:
        """Cancel all timers."""
        self._timers.clear()
        self._set_alarm(math.inf)

    def _ring(self) -> None:
        """Fire what is due, and set the alarm for what comes next."""
        now = max(self.now(), self._rings_at)  # a loop may ring a tick of its clock too early
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


class Alarm(Protocol):
    """Rings once, at the time that was set last."""

    def set(self, when: float) -> None:
        """Ring at `when` on the loop's clock, in seconds, and no more at the time set before."""


class LoopAlarm:
    """The alarm on asyncio: a timer of the loop.

    Args:
        call_at: the loop's.
        ring: called when it is time.
    """

    def __init__(
        self,
        call_at: Callable[[float, Callable[[], object]], asyncio.TimerHandle],
        ring: Callable[[], object],
    ) -> None:
        self._call_at = call_at
        self._ring = ring
        self._handle: asyncio.TimerHandle | None = None

    def set(self, when: float) -> None:
        """Ring at `when`, and no more at the time set before."""
        if self._handle is not None:
            self._handle.cancel()
        self._handle = None if when == math.inf else self._call_at(when, self._ring)


class TaskAlarm:
    """The alarm elsewhere: a task that sleeps; it exists once a time was set.

    Args:
        spawn: starts the task.
        ring: called when it is time.
    """

    def __init__(self, spawn: Callable[[Callable[[], Awaitable[Any]]], object], ring: Any) -> None:
        self._spawn = spawn
        self._ring = ring
        self._when = math.inf
        self._moved: anyio.Event | None = None

    def set(self, when: float) -> None:
        """Ring at `when`, and no more at the time set before."""
        self._when = when
        if self._moved is not None:
            self._moved.set()
        elif when != math.inf:
            self._moved = anyio.Event()
            self._spawn(self._run)

    async def _run(self) -> None:
        while True:
            self._moved = anyio.Event()
            with anyio.CancelScope(deadline=self._when) as sleep:
                await self._moved.wait()
            if sleep.cancelled_caught:
                self._ring()
