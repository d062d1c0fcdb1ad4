"""Virtual clocks: time jumps to the next timer as soon as everything waits.

One event loop turn after another without time moving is a livelock; after `MAX_TURNS` of them the
clock calls `on_spin` once, and the run it belongs to is ended from outside.

On asyncio a cancelled scope of anyio has the loop turn until its tasks have left it: it cancels
them again in each turn. Time goes on meanwhile, as it does on a real clock, where a turn takes some
microseconds.

No turn is timed by the real clock. An operator that blocks its loop for longer than a scenario may
take is ended with its process, and the trace says "blocked" (END-8). A shorter busy wait is not
looked for: as much passes in one turn where the machine is busy or memory is collected, so a bound
that convicts nobody sound is hardly below that patience, and within it nothing is late by a clock
that stands still.
"""

import asyncio
import selectors
import time
from collections.abc import Callable
from typing import Any

MAX_TURNS = 20_000
"""Loop turns within one instant. Sound operators need a few for each event: hundreds at most."""

REDELIVERIES = 1_000
"""Loop turns within one instant after which time goes on while a scope cancels again and again."""

_REDELIVERY = "_deliver_cancellation"
"""The name of the method with which anyio's scopes do that, in all releases from 4.0 on."""


class SpinWatch:
    """Counts loop turns in one instant of the clock."""

    def __init__(self, on_spin: Callable[[], object] = lambda: None) -> None:
        self._on_spin = on_spin
        self._turns = 0
        self.in_all = 0
        self._now = 0.0

    def restart(self, on_spin: Callable[[], object]) -> None:
        """Count from 0 again, and call `on_spin` instead."""
        self._on_spin, self._turns = on_spin, 0

    def spin(self) -> None:
        """Tell that there were too many turns."""
        self._on_spin()

    def turn(self, now: float) -> bool:
        """Note one turn at the time `now`; return whether this is the one too many."""
        if now != self._now:
            self._now, self._turns = now, 0
        self._turns += 1
        self.in_all += 1
        return self._turns == MAX_TURNS


class _JumpingSelector(selectors.DefaultSelector):
    """Polls files without waiting, and moves the clock instead of sleeping."""

    def __init__(self, loop: "VirtualLoop") -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0 or self._loop.settle():
            self._loop.turned()
            return ready
        if timeout is None or not self._loop.may_jump():
            return super().select(None)
        self._loop.jump(timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An asyncio loop that starts at time 0 and never sleeps."""

    def __init__(self) -> None:
        self._now = 0.0
        self._cancels_again = False
        self._redeliveries = 0
        self.spin = SpinWatch()
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        """Return the virtual time in seconds."""
        return self._now

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.Handle:
        """Refuse other threads, as asyncio does in debug mode: they have `call_soon_threadsafe`.

        Without this a call from another thread works by luck: the harness waits for its threads.
        """
        if self.is_running() and asyncio._get_running_loop() is not self:  # noqa: SLF001
            raise RuntimeError("call_soon() from another thread; use call_soon_threadsafe()")
        if getattr(callback, "__name__", "") == _REDELIVERY:
            self._cancels_again = True
        return super().call_soon(callback, *args, context=context)

    def settle(self) -> bool:
        """Make the last steps of this instant runnable; return whether there were any."""
        return False

    def may_jump(self) -> bool:
        """Return whether the clock may move now; for loops that outside threads talk to."""
        return True

    def jump(self, seconds: float) -> None:
        """Move the clock; for the selector."""
        self._now += seconds
        self._redeliveries = 0

    def turned(self) -> None:
        """Note a turn of the loop without a jump; for the selector."""
        if self._cancels_again:
            self._cancels_again = False
            self._redeliveries += 1
            if self._redeliveries >= REDELIVERIES and self.may_jump():
                self._jump_to_next_timer()
        if self.spin.turn(self._now):
            self.call_soon(self.spin.spin)

    def _jump_to_next_timer(self) -> None:
        following = min((timer.when() for timer in live_timers(self)), default=self._now)
        self.jump(max(0.0, following - self._now))

    def pending_timers(self) -> int:
        """Return how many timers are set: one that outlives its operator is a leak."""
        return len(live_timers(self))


def live_timers(loop: asyncio.AbstractEventLoop) -> list[asyncio.TimerHandle]:
    """Return the timers that are set and not cancelled; asyncio has no public way to ask."""
    timers: list[asyncio.TimerHandle] = loop._scheduled  # type: ignore[attr-defined] # noqa: SLF001
    return [timer for timer in timers if not timer.cancelled()]


def loop_clock() -> Callable[[], float]:
    """Return the clock of the running loop, as a function that any thread may call."""
    try:
        return asyncio.get_running_loop().time
    except RuntimeError:
        import trio

        return trio.lowlevel.current_clock().current_time


def loop_blocker() -> Callable[[float], object]:
    """Return the function that blocks the running loop for so many seconds: its clock just moves.

    On a real clock it sleeps.
    """
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        import trio
        import trio.testing

        clock = trio.lowlevel.current_clock()
        return clock.jump if isinstance(clock, trio.testing.MockClock) else time.sleep
    return running.jump if isinstance(running, VirtualLoop) else time.sleep


def loop_door() -> Callable[[Callable[[], object]], object]:
    """Return the function with which other threads have something run on the running loop."""
    try:
        return asyncio.get_running_loop().call_soon_threadsafe
    except RuntimeError:
        import trio

        return trio.lowlevel.current_trio_token().run_sync_soon
