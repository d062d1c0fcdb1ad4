"""Processing-time timers over the loop's clock; what they call is run as a mail."""

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio

from asyncwait.reference._loop import Loop


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
    """Fires timers on time, whatever the rest of the operator is waiting for (TO-5).

    One task sleeps until the earliest timer; it exists from the first timer on.

    Args:
        loop: whose clock counts.
        post: sends a mail.
        spawn: starts a task that ends with the operator.
    """

    def __init__(
        self,
        loop: Loop,
        post: Callable[[Callable[[], object]], object],
        spawn: Callable[[Callable[[], Awaitable[Any]]], object],
    ) -> None:
        self._loop = loop
        self._post = post
        self._spawn = spawn
        self._timers: dict[Timer, None] = {}  # a set that keeps the order of registration
        self._sleeps_until: float | None = None
        self._earlier = anyio.Event()

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
        if self._sleeps_until is None:
            self._sleeps_until = when
            self._spawn(self._run)
        elif when < self._sleeps_until:
            self._earlier.set()
        return timer

    def cancel(self, timer: Timer) -> None:
        """Have `timer` never fire; if it has fired, its mail runs nevertheless."""
        self._timers.pop(timer, None)

    async def _run(self) -> None:
        """Sleep until the earliest timer, or until there is an earlier one; fire; repeat."""
        while True:
            self._earlier = anyio.Event()
            self._sleeps_until = min((timer.when for timer in self._timers), default=math.inf)
            with anyio.CancelScope(deadline=self._sleeps_until):
                await self._earlier.wait()
            self._fire_due(self.now())

    def _fire_due(self, now: float) -> None:
        """Send the callbacks of all timers that are due, the earliest first."""
        due = sorted((t for t in self._timers if t.when <= now), key=lambda timer: timer.when)
        for timer in due:
            del self._timers[timer]
            self._post(timer.callback)
