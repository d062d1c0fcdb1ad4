"""The deadlines of records, and the task that looks after them."""

from collections import OrderedDict
from collections.abc import Callable
from math import inf, nextafter

import anyio

from asyncwait.backends.emitter._entries import Entry
from asyncwait.backends.emitter._life import Life
from asyncwait.backends.emitter._signal import Signal


class Timers:
    """Calls back for each entry that is not completed when its time has come.

    The timeout is the same for all, so that timers are started in the order in which they fire.

    Args:
        timeout: in seconds; infinite for none.
        clock: of the loop, in seconds.
        life: of the operator.
    """

    def __init__(self, timeout: float, clock: Callable[[], float], life: Life) -> None:
        self._timeout = timeout
        self._clock = clock
        self._life = life
        self._running: OrderedDict[Entry, float] = OrderedDict()
        self._started = Signal()
        self.on_time: Callable[[Entry], object] = _nothing
        """Called with an entry whose time has come."""
        self.before: Callable[[], object] = _nothing
        """Called before that: an answer may have come in time, and not have been looked at."""
        life.when_over(self._running.clear)

    def now(self) -> float:
        """Return the time of the loop's clock, in seconds."""
        return self._clock()

    def start(self, entry: Entry) -> None:
        """Start the timer of an entry, whose call begins now (TIME-7, REST-2)."""
        deadline = self._clock() + self._timeout
        if deadline < inf:
            entry.deadline = deadline
            self._running[entry] = deadline
            self._started.give()

    def cancel(self, entry: Entry) -> None:
        """Stop the timer of an entry, and keep nothing of it (TIME-1, CAP-7)."""
        self._running.pop(entry, None)

    def fire_before(self, time: float) -> None:
        """Fire what was due before a time, the earliest first.

        Where something blocks the loop, what comes later may come to be looked at first (TIME-6,
        FAIL-4).
        """
        while self._running and not self._life.is_over:
            entry, deadline = next(iter(self._running.items()))
            if deadline >= time:
                break
            del self._running[entry]
            self.on_time(entry)

    async def run(self) -> None:
        """Fire each timer on time."""
        while not self._life.is_over:
            if not self._running:
                await self._started.wait()
                continue
            deadline = next(iter(self._running.values()))
            with anyio.CancelScope(deadline=deadline):
                await anyio.sleep_forever()
            self.before()
            # A loop may wake a rounding error early; it is the deadline all the same.
            self.fire_before(nextafter(max(deadline, self._clock()), inf))


def _nothing(*_: object) -> None:
    pass
