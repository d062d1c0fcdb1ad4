"""The deadlines of records, the limits of their calls, and the task that looks after them."""

from collections import OrderedDict
from collections.abc import Callable
from math import inf, nextafter

import anyio

from asyncwait.backends.emitter._entries import Entry
from asyncwait.backends.emitter._life import Life
from asyncwait.backends.emitter._signal import Signal


class Line:
    """Times that are all equally long, so that they are over in the order in which they began.

    Args:
        seconds: how long each is; infinite for never over.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._running: OrderedDict[Entry, float] = OrderedDict()

    def start(self, entry: Entry, now: float) -> float:
        """Let the time of an entry begin; return when it will be over."""
        due = now + self._seconds
        if due < inf:
            self._running[entry] = due
        return due

    def cancel(self, entry: Entry) -> None:
        """Keep nothing of the time of an entry (CAP-7)."""
        self._running.pop(entry, None)

    def clear(self) -> None:
        """Keep nothing at all."""
        self._running.clear()

    def first_due(self) -> float:
        """Return when the first one is over; infinite for never."""
        return next(iter(self._running.values()), inf)

    def take(self) -> tuple[Entry, float]:
        """Remove the first one, and return it with when it is over."""
        return self._running.popitem(last=False)


class Timers:
    """Calls back for each entry that is not completed when its time has come.

    And for each whose call takes longer than one call may.

    Args:
        timeout: from the first call on, in seconds; infinite for none.
        clock: of the loop, in seconds.
        life: of the operator.
        limit: of each call, in seconds; infinite for none.
    """

    def __init__(
        self, timeout: float, clock: Callable[[], float], life: Life, *, limit: float = inf
    ) -> None:
        self._clock = clock
        self._life = life
        self._deadlines = Line(timeout)
        self.limit = limit
        self._limits = Line(limit)
        self._sleeps_until = inf
        self._earlier = Signal()
        self.on_time: Callable[[Entry], object] = lambda *_: None
        """Called with an entry whose time has come."""
        self.on_limit: Callable[[Entry, float], object] = lambda *_: None
        """Called with an entry whose call took too long, and with when that was."""
        self.before: Callable[[], object] = lambda *_: None
        """Called before that: an answer may have come in time, and not have been looked at."""
        life.when_over(self._deadlines.clear)
        life.when_over(self._limits.clear)

    def now(self) -> float:
        """Return the time of the loop's clock, in seconds."""
        return self._clock()

    def start(self, entry: Entry) -> None:
        """Start the timers of an entry, whose call begins now (TIME-7, REST-2, RETRY-12).

        Its deadline depends on the first call alone (RETRY-11).
        """
        now = self._clock()
        due = self._limits.start(entry, now)
        if entry.deadline is None:
            deadline = self._deadlines.start(entry, now)
            if deadline < inf:
                entry.deadline = deadline
            due = min(due, deadline)
        if due < self._sleeps_until:
            self._earlier.give()

    def cancel(self, entry: Entry) -> None:
        """Stop the timer of an entry, and keep nothing of it (TIME-1, CAP-7)."""
        self._deadlines.cancel(entry)

    def end_call(self, entry: Entry) -> None:
        """Stop the timer of the call of an entry: what it comes to is known."""
        self._limits.cancel(entry)

    def fire_before(self, time: float) -> None:
        """Fire what was due before a time, the earliest first.

        Where something blocks the loop, what comes later may come to be looked at first (TIME-6,
        FAIL-4).
        """
        while self._first_due() < time and not self._life.is_over:
            self._fire_first()

    async def run(self) -> None:
        """Fire each timer on time."""
        while not self._life.is_over:
            self._sleeps_until = due = self._first_due()
            with anyio.CancelScope(deadline=due):
                await self._earlier.wait()
                continue
            self.before()
            # A loop may wake a rounding error early; it is the deadline all the same.
            self.fire_before(nextafter(max(due, self._clock()), inf))

    def _first_due(self) -> float:
        return min(self._deadlines.first_due(), self._limits.first_due())

    def _fire_first(self) -> None:
        """Fire a deadline first if it is in the instant of a limit: no call could follow."""
        if self._deadlines.first_due() <= self._limits.first_due():
            self.on_time(self._deadlines.take()[0])
        else:
            self.on_limit(*self._limits.take())
