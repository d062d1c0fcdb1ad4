"""Cancelled calls: distinction between calls that end and calls that run on, abandoned."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from asyncwait.reference._timers import Timer, TimerService
from asyncwait.spec import TooManyAbandonedCalls

GRACE = 0.005
"""Seconds that a cancelled call has to end; a call that takes longer is abandoned."""

LOOKS = 2
"""Checks of the call in that time, and checks in a row that must be on time."""

LATE = 0.001
"""Seconds after which a check is late: the loop stalled, and may have delayed the call, too."""

MOST_LOOKS = 8
"""Largest number of checks, late checks included."""


@dataclass(slots=True, eq=False)
class Watch:
    """State of a cancelled call that has not ended.

    Args:
        overdue: timer of the next check.
        looks: number of checks so far.
        calm: number of checks in a row that were on time.
        abandoned: whether the call should have ended, and did not.
        on_known: functions of the call's records, called when it has ended or is abandoned.
    """

    overdue: Timer | None = None
    looks: int = 0
    calm: int = 0
    abandoned: bool = False
    on_known: list[Callable[[], object]] = field(default_factory=list)


class CancelledCalls:
    """Cancelled calls that still run: each cleans up, or is abandoned (TIME-8).

    Args:
        most: largest number of abandoned calls at a time.
        timers: timers of the checks.
        on_known: called when a call has ended or is found abandoned.
    """

    def __init__(self, most: int, timers: TimerService, on_known: Callable[[], object]) -> None:
        self.most = most
        self.timers = timers
        self.on_known = on_known
        self.running: dict[Hashable, Watch] = {}
        self.abandoned_now = 0
        self.abandoned = 0

    @property
    def in_doubt(self) -> int:
        """Calls that have neither ended nor been found abandoned."""
        return sum(not watch.abandoned for watch in self.running.values())

    def tell(self, call: Hashable, on_known: Callable[[], object]) -> bool:
        """Call `on_known` when a call has ended or is found abandoned; return whether it waits.

        If the call was not cancelled, has ended, or is abandoned already, never call `on_known`.
        """
        watch = self.running.get(call)
        if watch is None or watch.abandoned:
            return False
        watch.on_known.append(on_known)
        return True

    def add(self, call: Hashable) -> None:
        """Take note that a call is being cancelled."""
        self.running[call] = watch = Watch()
        self.watch(watch)

    def ended(self, call: Hashable) -> None:
        """Take note that a call has ended; do nothing if it was not cancelled."""
        watch = self.running.pop(call, None)
        if watch is None:
            return
        if watch.overdue is not None:
            self.timers.cancel(watch.overdue)
        if watch.abandoned:
            self.abandoned_now -= 1
        self.tell_all(watch)

    def tell_all(self, watch: Watch) -> None:
        """Call the functions that wait for the end or the abandonment of a call."""
        self.on_known()
        listeners, watch.on_known = watch.on_known, []
        for on_known in listeners:
            on_known()

    def watch(self, watch: Watch) -> None:
        """Register the next check of a call."""
        due = self.timers.now() + GRACE / LOOKS
        watch.overdue = self.timers.register(due, lambda: self.look(watch, due))

    def look(self, watch: Watch, due: float) -> None:
        """Check a call, as a mail of its timer.

        A handler that blocks the loop also keeps the call from ending, so only checks that are on
        time count.
        """
        watch.looks += 1
        watch.calm = 0 if self.timers.now() > due + LATE else watch.calm + 1
        if watch.calm == LOOKS or watch.looks == MOST_LOOKS:
            self.on_overdue(watch)
        else:
            self.watch(watch)

    def on_overdue(self, watch: Watch) -> None:
        """Take note that a call is abandoned (TIME-8).

        Raises:
            TooManyAbandonedCalls: more abandoned calls run than calls are allowed (TIME-9). They
                take no room, so a function that ignores cancellation could add calls without end.
        """
        watch.overdue = None
        watch.abandoned = True
        self.abandoned += 1
        self.abandoned_now += 1
        self.tell_all(watch)
        if self.abandoned_now > self.most:
            reason = (
                f"{self.abandoned_now} calls run on although they were cancelled, and at most "
                f"{self.most} may run at a time; does fn catch its cancellation and go on?"
            )
            raise TooManyAbandonedCalls(None, reason)
