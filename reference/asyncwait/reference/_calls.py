"""Running the user's function, in coroutine form and in callback form."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import anyio

from asyncwait.reference._queues import RecordEntry
from asyncwait.reference._timers import Post, Spawn, Timer, TimerService
from asyncwait.spec import FunctionParts, TooManyAbandonedCalls, awaitable_of

GRACE = 0.001
"""Seconds that a cancelled call may take to end; one that takes longer is abandoned.

The loop has then run the call at least once, and other tasks that the call may wait for.
"""


def must_pass(error: BaseException) -> bool:
    """Say whether `error` is for the whole program, be it alone or in a group."""
    if isinstance(error, BaseExceptionGroup):
        return error.subgroup((KeyboardInterrupt, SystemExit)) is not None
    return isinstance(error, KeyboardInterrupt | SystemExit)


def is_being_cancelled() -> bool:
    """Say whether the caller is cancelled through a scope, by the operator or from outside.

    That tells a cancellation that somebody asked for from one that user code made up, which is
    an error like any other.
    """
    return anyio.current_effective_deadline() == -math.inf


@dataclass(frozen=True, slots=True)
class Returned:
    """A call came to results, which `supply` gives; it may raise, and is called on the loop."""

    supply: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Raised:
    """A call came to an error."""

    error: BaseException


Outcome: TypeAlias = Returned | Raised
OnOutcome: TypeAlias = Callable[[RecordEntry, Outcome], object]


class Completion:
    """The `ResultFuture` of one record, which a function in callback form completes.

    Each completion becomes a mail, whatever thread it comes from (CO-1). Once the operator is
    closed it does nothing; Flink raises in the client's thread (CO-15), which can't help it.

    Args:
        entry: the record's.
        post: sends a mail.
        on_outcome: the mail.
    """

    def __init__(self, entry: RecordEntry, post: Post, on_outcome: OnOutcome) -> None:
        self._entry = entry
        self._post = post
        self._on_outcome = on_outcome

    def complete(self, results: Any) -> None:
        """Decide the record with `results`."""
        self._send(Returned(lambda: results))

    def complete_with(self, supplier: Callable[[], Any]) -> None:
        """Decide the record with what `supplier` returns; it is called on the loop (CO-10)."""
        self._send(Returned(supplier))

    def complete_exceptionally(self, error: BaseException) -> None:
        """Decide the record with `error`, of whatever kind it is (FA-6)."""
        self._send(Raised(error))

    def _send(self, outcome: Outcome) -> None:
        self._post(lambda: self._on_outcome(self._entry, outcome))


@dataclass(slots=True, eq=False)
class Call:
    """A call in coroutine form, which runs in a task of its own.

    Args:
        entry: whose call it is.
        begun: set when the function is called.
        scope: cancels the call.
        outlived: fires if the call goes on although it was cancelled.
        abandoned: whether it does.
    """

    entry: RecordEntry
    begun: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    outlived: Timer | None = None
    abandoned: bool = False


class CallRunner:
    """Starts calls in either form, and cancels those in coroutine form.

    Args:
        parts: the user's function.
        capacity: how many abandoned calls may run at once.
        timers: tell when a cancelled call should have ended.
        post: sends a mail.
        spawn: starts a task that ends with the operator.
        on_outcome: the mail of a call that came to something.
    """

    def __init__(
        self,
        parts: FunctionParts,
        capacity: int,
        timers: TimerService,
        post: Post,
        spawn: Spawn,
        on_outcome: OnOutcome,
    ) -> None:
        self._parts = parts
        self._capacity = capacity
        self._timers = timers
        self._post = post
        self._spawn = spawn
        self._on_outcome = on_outcome
        self._running: dict[RecordEntry, Call] = {}
        self.started = 0
        self.abandoned = 0
        self._abandoned_now = 0

    @property
    def in_doubt(self) -> int:
        """Calls that were cancelled and have neither ended nor been found abandoned."""
        return sum(c.outlived is not None and not c.abandoned for c in self._running.values())

    async def start(self, entry: RecordEntry) -> None:
        """Call the function for a record, and return once the call has begun (BP-11).

        A callback function that raises has failed, unless it completed the record before.
        """
        self.started += 1
        if self._parts.invoke is None:
            await self._start_task(entry)
            return
        completion = Completion(entry, self._post, self._on_outcome)
        try:
            self._parts.invoke(entry.element.value, completion)
        except BaseException as error:
            if must_pass(error):
                raise
            completion.complete_exceptionally(error)

    def cancel(self, entry: RecordEntry) -> None:
        """Cancel the call of a record that was decided without it, if there is one running.

        A call in callback form can't be cancelled; what it comes to is ignored.
        """
        call = self._running.get(entry)
        if call is not None:
            call.scope.cancel()
            due = self._timers.now() + GRACE
            call.outlived = self._timers.register(due, lambda: self._on_outlived(call))

    async def _start_task(self, entry: RecordEntry) -> None:
        """Start a task for a call. Trio runs new tasks in any order, hence the wait."""
        call = self._running[entry] = Call(entry)
        self._spawn(self._run, call)
        await call.begun.wait()

    async def _run(self, call: Call) -> None:
        """Run one call to its end, and let no error out of the task but those for all."""
        outcome: Outcome | None = None
        with call.scope:
            try:
                outcome = Returned(await self._invoke(call))
            except BaseException as error:
                if must_pass(error):
                    raise
                outcome = None if is_being_cancelled() else Raised(error)
        self._post(lambda: self._on_ended(call, outcome))

    async def _invoke(self, call: Call) -> Callable[[], Any]:
        call.begun.set()
        record = call.entry.element
        assert self._parts.call is not None
        results = await awaitable_of(record, self._parts.call(record.value))
        return lambda: results

    def _on_ended(self, call: Call, outcome: Outcome | None) -> None:
        """The mail of a call's end: what it came to counts unless it was cancelled."""
        del self._running[call.entry]
        if call.outlived is not None:
            self._timers.cancel(call.outlived)
        if call.abandoned:
            self._abandoned_now -= 1
        if outcome is not None:
            self._on_outcome(call.entry, outcome)

    def _on_outlived(self, call: Call) -> None:
        """The mail of a call that should have ended: it is abandoned.

        Raises:
            TooManyAbandonedCalls: more of them run than there is capacity. They hold no room, so
                without this limit a function that never lets go would pile up calls for ever.
        """
        call.abandoned = True
        self.abandoned += 1
        self._abandoned_now += 1
        if self._abandoned_now > self._capacity:
            reason = (
                f"{self._abandoned_now} calls run on after their records were decided without "
                f"them, more than the capacity of {self._capacity}; let fn end when cancelled"
            )
            raise TooManyAbandonedCalls(None, reason)
