"""Which of the calls that were cancelled run on."""

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from asyncwait.backends.emitter._life import Life, Tasks
from asyncwait.backends.emitter._signal import Signal
from asyncwait.spec import TooManyAbandonedCalls
from asyncwait.toolkit import CallScope, call_scope

LOOK = 0.004
"""Seconds from a cancellation to the look whether the call has ended, and from look to look."""

LATE = 0.001
"""Seconds from which a look is late: the loop stalled, and held the call up as well."""

ON_TIME, MOST = 2, 8
"""Looks on time in a row, and looks at all, after which a call that runs is abandoned."""


@dataclass(slots=True, eq=False)
class Call:
    """A call in coroutine form.

    Args:
        watch: looks after it when it was cancelled.
        scope: it runs within this.
        has_ended: whether it runs no more.
        is_abandoned: whether it was cancelled, had its turn to end, and runs on.
        entries: of the records that wait for what it comes to.
        on_left: called when none does any more, be it over or not.
        news: given when it ends or is abandoned.
    """

    watch: "Watch"
    scope: CallScope = field(default_factory=call_scope)
    has_ended: bool = False
    is_abandoned: bool = False
    news: Signal = field(default_factory=Signal)
    entries: set[object] = field(default_factory=set)
    on_left: Callable[[], object] = lambda: None

    def leave(self, entry: object) -> None:
        """Go on without a record; when the last has left, the call is cancelled (BAT-13)."""
        if entry in self.entries:
            self.entries.discard(entry)
            if not self.entries:
                self.on_left()
                self.cancel()

    def cancel(self) -> None:
        """Ask it to end, once (TIME-5, RETRY-12)."""
        if not self.scope.cancel_called:
            self.scope.cancel()
            self.watch.cancelled(self)

    def end(self) -> None:
        """Take note that it has ended."""
        self.has_ended = True
        if self.entries:
            self.entries.clear()
            self.on_left()
        self.watch.ended(self)
        self.news.give()

    def abandon(self) -> None:
        """Take note that nobody waits for its end any more."""
        self.is_abandoned = True
        self.news.give()

    async def left(self) -> None:
        """Wait until it has ended or is abandoned."""
        while not (self.has_ended or self.is_abandoned):
            await self.news.wait()


class Watch:
    """Tells the cancelled calls that end from those that are abandoned.

    Args:
        most: how many abandoned ones may run at a time.
        clock: of the loop, in seconds.
        tasks: of the operator.
        life: of the operator.
    """

    def __init__(self, most: int, clock: Callable[[], float], tasks: Tasks, life: Life) -> None:
        self._most = most
        self._clock = clock
        self._tasks = tasks
        self._life = life
        self._running: set[Call] = set()
        self.abandoned = 0
        """Calls that were found to run on (TIME-8)."""

    def cancelled(self, call: Call) -> None:
        """Look after a call that was cancelled."""
        self._tasks.start(self.judge, call)

    def ended(self, call: Call) -> None:
        """Let go of a call that has ended."""
        self._running.discard(call)

    async def judge(self, call: Call) -> None:
        """Look several times: only a look on time tells that the call had its turn to end."""
        on_time = looks = 0
        while on_time < ON_TIME and looks < MOST:
            due = self._clock() + LOOK
            await anyio.sleep(LOOK)
            if call.has_ended:
                return
            on_time = on_time + 1 if self._clock() < due + LATE else 0
            looks += 1
        self.abandon(call)

    def abandon(self, call: Call) -> None:
        """Count a call that runs on; more of them than may run at all fail it (TIME-9)."""
        self.abandoned += 1
        self._running.add(call)
        call.abandon()
        running = len(self._running)
        if running > self._most:
            reason = (
                f"{running} cancelled calls run on, and at most {self._most} may run at a time; "
                "does fn swallow its cancellation?"
            )
            self._life.fail(TooManyAbandonedCalls(None, reason))
