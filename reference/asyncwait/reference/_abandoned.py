"""Calls that were cancelled: which of them end, and which run on, abandoned."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from asyncwait.reference._timers import Timer, TimerService
from asyncwait.spec import TooManyAbandonedCalls

GRACE = 0.005
"""Seconds that a cancelled call has to end; a call that takes longer is abandoned."""

LOOKS = 2
"""How often it is looked at in that time; the last so many looks must be on time."""

LATE = 0.001
"""Seconds from which a look is not: the loop stalled, and has kept the call from its turn, too."""

MOST_LOOKS = 8
"""How often it is looked at whatever the loop does, so as not to look for ever."""


@dataclass(slots=True, eq=False)
class Watch:
    """What is known of a call that was cancelled and has not ended.

    Args:
        overdue: fires when it is looked whether the call has ended.
        looks: how often that was done.
        calm: how often in a row it was on time.
        abandoned: whether the call should have ended, and did not.
        on_known: all who are told when it is known which of the two it is: records of one call.
    """

    overdue: Timer | None = None
    looks: int = 0
    calm: int = 0
    abandoned: bool = False
    on_known: list[Callable[[], object]] = field(default_factory=list)


class CancelledCalls:
    """Tells calls that clean up from those that are abandoned (TIME-8).

    Args:
        most: how many abandoned calls may run at a time.
        timers: to look at them some time later.
        on_known: told when it is known of one more what becomes of it.
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

        It does not, and is never called, if the call was not cancelled, or that is known already.
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
        """Tell whoever waits to know what becomes of a call."""
        self.on_known()
        listeners, watch.on_known = watch.on_known, []
        for on_known in listeners:
            on_known()

    def watch(self, watch: Watch) -> None:
        """Look some time later whether a call has ended."""
        due = self.timers.now() + GRACE / LOOKS
        watch.overdue = self.timers.register(due, lambda: self.look(watch, due))

    def look(self, watch: Watch, due: float) -> None:
        """The mail of a call that may have ended: look at it again, or no more.

        What blocks the loop, such as a handler, keeps the call from ending, too, and so only looks
        that are on time count.
        """
        watch.looks += 1
        watch.calm = 0 if self.timers.now() > due + LATE else watch.calm + 1
        if watch.calm == LOOKS or watch.looks == MOST_LOOKS:
            self.on_overdue(watch)
        else:
            self.watch(watch)

    def on_overdue(self, watch: Watch) -> None:
        """Take note that a call should have ended: it is abandoned (TIME-8).

        Raises:
            TooManyAbandonedCalls: more of them run than calls may at all (TIME-9). They hold no
                room, so a function that never lets go would else pile up calls for ever.
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
