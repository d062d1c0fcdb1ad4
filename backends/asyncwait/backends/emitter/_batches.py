"""Attempts that share a call of the function: how they gather, and when a batch of them goes."""

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import anyio
import anyio.lowlevel

from asyncwait.backends.emitter._blocking import ElementQueue
from asyncwait.backends.emitter._calls import Attempt, CoroutineCalls
from asyncwait.backends.emitter._entries import Entry
from asyncwait.backends.emitter._signal import Signal
from asyncwait.backends.emitter._watch import Call
from asyncwait.spec import OperatorConfig, Record
from asyncwait.toolkit import answers_of, reraise_fatal


class Together:
    """Attempts that share a call; each has its own outcome (BAT-8, BAT-9, BAT-10).

    Args:
        attempts: as their values were given, in that order; one at least.
        values: which they are, copies where copies are made.
        bound: bounds how many share the next calls, in case this one fails as a whole, be it by the
            limit of its time; if there is no number, in case it does not.
    """

    def __init__(
        self, attempts: Sequence[Attempt], values: list[Any], bound: Callable[..., object]
    ) -> None:
        self._attempts = attempts
        self._values = values
        self._bound = bound
        bound(attempts, len(attempts))

    @property
    def record(self) -> Record:
        """Whose call it is by name."""
        return self._attempts[0].record

    @property
    def value(self) -> list[Any]:
        """What the function is called with: a list of its own, which it may change."""
        return [*self._values]

    def enter(self, call: Call) -> None:
        """Have each of them leave a call that begins, and not cancel it for all (BAT-12)."""
        for attempt in self._attempts:
            attempt.enter(call)

    def leave(self, call: Call) -> None:
        """Take note that the call has ended."""
        for attempt in self._attempts:
            attempt.leave(call)

    def answer(self, supply: Callable[[], Any], at: float) -> None:
        """Report what the call gives for each; what reading that raises is for all."""
        try:
            answers = answers_of(self._values, supply())
        except BaseException as error:
            reraise_fatal(error)
            self.fail(error, at)
            return
        for attempt, answer in zip(self._attempts, answers, strict=True):
            if attempt.counts(at):
                self._bound((attempt,))
                _report(attempt, answer, at)

    def fail(self, error: BaseException, at: float) -> None:
        """Report an error that the call has raised, for each."""
        for attempt in self._attempts:
            attempt.fail(error, at)


def _report(attempt: Attempt, answer: Any, at: float) -> None:
    if isinstance(answer, BaseException):
        attempt.fail(answer, at)
    else:
        attempt.answer(lambda: answer, at)


class BatchCalls(CoroutineCalls):
    """Awaits coroutine functions of several values, in batches that a task of its own sends.

    As the emitter blocks until something may come out, that task does until a batch has to go. The
    batch is put together in the step in which the function is called.
    """

    def __init__(
        self,
        *wires: Any,
        config: OperatorConfig,
        copy: Callable[[Any], Any] | None,
        queue: ElementQueue,
        **others: Any,
    ) -> None:
        super().__init__(*wires, **others)
        assert config.batch is not None
        self._batch = config.batch
        self._last = 1 if config.retry is None else config.retry.max_attempts
        self._copy = copy
        self._queue = queue
        self._gathered: dict[Entry, float] = {}
        """Those that wait, and since when; none that is decided."""
        self._in_flight = 0
        self._is_going = False
        self._reached = -inf
        """A time that has come, for all that the clock may be a rounding error behind it."""
        self._news = Signal()
        queue.on_moved = self._news.give
        queue.on_completed = self._forget
        self._life.when_over(self._gathered.clear)

    def start(self, entry: Entry) -> None:
        """Have a record wait for others, no longer than it may."""
        if not (self._life.is_over or entry.is_completed):  # by its deadline, in its back-off
            self._gathered[entry] = self._timers.now()
            self._news.give()

    def _forget(self, entry: Entry) -> None:
        """Let go of a record that is decided, be it while it waits (CAP-7)."""
        self._gathered.pop(entry, None)
        self._news.give()

    # The task that sends

    async def send(self) -> None:
        """Have each batch go when it has to; the next one when that has begun (ORD-4)."""
        while not self._life.is_over:
            if not self._is_going and self._is_due():
                self._is_going = True
                self._tasks.start(self._run)
            due = inf if self._is_going else self._goes_at()
            with anyio.CancelScope(deadline=due) as nap:
                await self._news.wait()
            if nap.cancelled_caught:
                self._reached = due

    def _is_due(self) -> bool:
        """Tell whether there is a batch that may go, and may not wait (BAT-1, BAT-2, BAT-3)."""
        if not self._may_go():
            return False
        if self._next_batch()[1] or self._goes_at() <= max(self._reached, self._timers.now()):
            return True
        return (self._queue.is_ended or self._is_in_vain()) and not self._some_may_come()

    def _some_may_come(self) -> bool:
        """Whether a record may come back, or one come whose key is free then."""
        return any(
            not (entry.is_completed or entry in self._gathered)
            and (entry.attempts < self._last or entry.following is not None)
            for entry in self._queue.called
        )

    def _is_in_vain(self) -> bool:
        """Whether room can only come from those that wait: nothing else may come out."""
        return self._queue.is_full() and not self._in_flight and self._queue.peek() is None

    def _may_go(self) -> bool:
        return bool(self._gathered) and self._in_flight < self._batch.in_flight

    def _goes_at(self) -> float:
        """Return when the first has to go; infinite if that is never, or if none may."""
        if not self._may_go():
            return inf
        return next(iter(self._gathered.values())) + self._batch.max_wait

    def _next_batch(self) -> tuple[list[Entry], bool]:
        """Return what would go now, and whether no more would fit in."""
        entries: list[Entry] = []
        room = self._batch.max_size
        for entry in self._gathered:
            room = min(room, entry.room or room)
            if len(entries) >= room:
                return entries, True
            entries.append(entry)
        return entries, len(entries) >= room

    # A task for each call

    async def _run(self) -> None:
        await anyio.lowlevel.checkpoint_if_cancelled()
        self._is_going = False
        together = None if self._life.is_over or not self._is_due() else self._begin()
        self._news.give()
        if together is not None:
            await self.call(together)

    def _begin(self) -> Together | None:
        """Begin the calls of a batch in this step; a record without a copy fails alone (COPY-4)."""
        entries, now = self._next_batch()[0], self._timers.now()
        for entry in entries:
            del self._gathered[entry]
        attempts = [self.begin(entry) for entry in entries if not entry.is_late(now)]
        self._bound(attempts)
        values = {attempt: self._value_of(attempt, now) for attempt in attempts}
        staying = [attempt for attempt in attempts if attempt.entry.is_called]
        if not staying or self._life.is_over:
            return None
        self.batches += 1
        given = [values[attempt] for attempt in staying]
        return Together(staying, given, self._bound)

    def _bound(self, attempts: Sequence[Attempt], failed: int | None = None) -> None:
        """Bound how many share the next calls, the last of which is a record's own (BAT-14)."""
        if self._batch.split:
            room = None if failed is None else max(1, failed // 2)
            for attempt in attempts:
                attempt.entry.room = 1 if attempt.number == self._last - 1 else room

    def _value_of(self, attempt: Attempt, now: float) -> Any:
        try:
            return attempt.value if self._copy is None else self._copy(attempt.value)
        except BaseException as error:
            reraise_fatal(error)
            attempt.fail(error, now)
            return None

    async def call(self, attempt: Any) -> None:
        """Await the call of a batch, which has its place while a record waits for it (BAT-6)."""
        self._in_flight += 1
        await super().call(attempt)

    def new_call(self) -> Call:
        """Return a call that gives its place up when nobody waits for it any more (BAT-13)."""
        return Call(self._watch, on_left=self._free)

    def _free(self) -> None:
        self._in_flight -= 1
        self._news.give()
