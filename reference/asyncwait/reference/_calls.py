"""Running the user's function, in either form."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
import anyio.lowlevel

from asyncwait.reference._alarms import Spawn
from asyncwait.reference._outcomes import Completion, OnOutcome, Outcome, Raised, Returned
from asyncwait.reference._queues import RecordEntry
from asyncwait.reference._timers import Post, Timer, TimerService
from asyncwait.spec import (
    FunctionParts,
    ResultFuture,
    TooManyAbandonedCalls,
    awaitable_of,
    let_pass,
    was_asked_for,
)

GRACE = 0.005
"""Seconds that a cancelled call has to end; a call that takes longer is abandoned."""

LOOKS = 2
"""How often it is looked at in that time; the last so many looks must be on time."""

LATE = 0.001
"""Seconds from which a look is not: the loop stalled, and has kept the call from its turn, too."""

MOST_LOOKS = 8
"""How often it is looked at whatever the loop does, so as not to look for ever."""


@dataclass(slots=True, eq=False)
class Call:
    """A call in coroutine form, which has a task of its own.

    Args:
        entry: of the record it is for.
        begun: set in the step in which the function is called.
        scope: cancels the call.
        overdue: fires when it is looked whether the call has ended, once it is cancelled.
        looks: how often that was done.
        calm: how often in a row it was on time.
        abandoned: whether the call should have ended, and did not.
    """

    entry: RecordEntry
    begun: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    overdue: Timer | None = None
    looks: int = 0
    calm: int = 0
    abandoned: bool = False


class CallRunner:
    """Starts calls, and cancels those in coroutine form.

    Args:
        parts: the user's function.
        capacity: how many abandoned calls may run at a time.
        timers: for their clock, and to tell which calls are abandoned.
        post: sends a mail.
        spawn: starts a task that ends with the operator.
        on_call: told of a call in the step in which it begins.
        on_outcome: the mail of a call that came to something.
    """

    def __init__(
        self,
        parts: FunctionParts,
        capacity: int,
        *,
        timers: TimerService,
        post: Post,
        spawn: Spawn,
        on_call: Callable[[RecordEntry], Any],
        on_outcome: OnOutcome,
    ) -> None:
        self._parts = parts
        self._capacity = capacity
        self._timers = timers
        self._post = post
        self._spawn = spawn
        self._on_call = on_call
        self._on_outcome = on_outcome
        self._running: dict[RecordEntry, Call] = {}
        self._abandoned_now = 0
        self.started = 0
        self.abandoned = 0

    @property
    def in_doubt(self) -> int:
        """Calls that were cancelled and have neither ended nor been found abandoned."""
        return sum(c.overdue is not None and not c.abandoned for c in self._running.values())

    async def start(self, entry: RecordEntry) -> None:
        """Call the function for a record; return as soon as the call has begun."""
        await anyio.lowlevel.checkpoint_if_cancelled()  # nothing begins after leaving (END-10)
        if self._parts.invoke is not None:
            self._start_callback(entry, self._parts.invoke)
        else:
            await self._start_task(entry)

    def cancel(self, entry: RecordEntry) -> None:
        """Cancel the call of a record that is decided without it (TIME-5).

        A call in callback form can't be cancelled; what it comes to is ignored.
        """
        call = self._running.get(entry)
        if call is not None:
            call.scope.cancel()
            self._watch(call)

    def _watch(self, call: Call) -> None:
        due = self._timers.now() + GRACE / LOOKS
        call.overdue = self._timers.register(due, lambda: self._look(call, due))

    def _start_callback(
        self, entry: RecordEntry, invoke: Callable[[Any, ResultFuture], None]
    ) -> None:
        """Call a function in callback form; it fails if it raises, completed or not (FAIL-1)."""
        completion = Completion(entry, self._timers.now, self._post, self._on_outcome)
        self._begin(entry)
        try:
            invoke(entry.element.value, completion)
        except BaseException as error:
            let_pass(error)
            outcome = Raised(error, self._timers.now(), by_callback=True)
            self._post(lambda: self._on_outcome(entry, outcome))

    def _begin(self, entry: RecordEntry) -> None:
        self.started += 1
        self._on_call(entry)

    async def _start_task(self, entry: RecordEntry) -> None:
        """Start the task of a call, and wait for its first step.

        Trio runs new tasks in any order; without the wait calls would start so too (ORD-4).
        """
        call = self._running[entry] = Call(entry)
        self._spawn(self._run, call)
        await call.begun.wait()

    async def _run(self, call: Call) -> None:
        """Run a call to its end; no error leaves its task but those for the whole program."""
        outcome: Outcome | None = None
        with call.scope:
            try:
                outcome = await self._invoke(call)
            except BaseException as error:
                let_pass(error)
                if not was_asked_for(error):
                    outcome = Raised(error, self._timers.now())
        self._post(lambda: self._on_ended(call, outcome))

    async def _invoke(self, call: Call) -> Outcome:
        await anyio.lowlevel.checkpoint_if_cancelled()  # END-10, as above
        call.begun.set()
        self._begin(call.entry)
        record, function = call.entry.element, cast("Callable[..., Any]", self._parts.call)
        returned = await awaitable_of(record, function(record.value))
        return Returned(lambda: returned, self._timers.now())

    def _on_ended(self, call: Call, outcome: Outcome | None) -> None:
        """The mail of a call's end; there is an outcome unless it was cancelled."""
        del self._running[call.entry]
        if call.overdue is not None:
            self._timers.cancel(call.overdue)
            call.overdue = None  # it knows its call, and the two would live until they are found
        if call.abandoned:
            self._abandoned_now -= 1
        if outcome is not None:
            self._on_outcome(call.entry, outcome)

    def _look(self, call: Call, due: float) -> None:
        """The mail of a call that may have ended: look at it again, or no more.

        What blocks the loop, such as a handler, keeps the call from ending, too, and so only looks
        that are on time count.
        """
        call.looks += 1
        call.calm = 0 if self._timers.now() > due + LATE else call.calm + 1
        if call.calm == LOOKS or call.looks == MOST_LOOKS:
            self._on_overdue(call)
        else:
            self._watch(call)

    def _on_overdue(self, call: Call) -> None:
        """Take note that a call should have ended: it is abandoned (TIME-8).

        Raises:
            TooManyAbandonedCalls: more of them run than there is capacity (TIME-9). They hold no
                room, so a function that never lets go would else pile up calls for ever.
        """
        call.abandoned = True
        self.abandoned += 1
        self._abandoned_now += 1
        if self._abandoned_now > self._capacity:
            reason = (
                f"{self._abandoned_now} calls run on although they were cancelled, more than the "
                f"capacity of {self._capacity}; does fn catch its cancellation and go on?"
            )
            raise TooManyAbandonedCalls(None, reason)
