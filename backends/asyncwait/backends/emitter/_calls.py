"""Calling the user's function, each call in a task of its own."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel

from asyncwait.backends.emitter._entries import Entry
from asyncwait.backends.emitter._life import Life, Tasks
from asyncwait.backends.emitter._records import Records
from asyncwait.backends.emitter._timers import Timers
from asyncwait.backends.emitter._watch import Call, Watch
from asyncwait.spec import Record
from asyncwait.toolkit import is_own_cancellation, outcome_of, reraise_fatal


class Attempt:
    """The last call of a record that has begun, until there is another one.

    From then on nothing counts any more that it comes to (RETRY-9).
    """

    def __init__(self, entry: Entry, records: Records) -> None:
        self.entry = entry
        self.number = entry.attempts
        """1 for the first call of the record."""
        self._records = records

    @property
    def record(self) -> Record:
        """Whose call it is."""
        assert isinstance(self.entry.element, Record)
        return self.entry.element

    @property
    def value(self) -> Any:
        """What the function is called with."""
        return self.record.value

    @property
    def is_last(self) -> bool:
        """Whether its record was not called again since."""
        return self.entry.attempts == self.number

    def enter(self, call: Call) -> None:
        """Take note of the call, which has begun: its record waits for it."""
        call.entries.add(self.entry)
        self.entry.call = call

    def leave(self, call: Call) -> None:
        """Take note that the call has ended."""
        if self.entry.call is call:  # and not the one of a later attempt, which began meanwhile
            self.entry.call = None

    def counts(self, at: float) -> bool:
        """Say whether what the call comes to at a time counts."""
        return self.is_last and self._records.is_open(self.entry, at)

    def answer(self, supply: Callable[[], Any], at: float) -> None:
        """Report what gives the results of the call; see `Records.answer`."""
        if self.is_last:
            self._records.answer(self.entry, supply, at)

    def fail(self, error: BaseException, at: float, *, besides: bool = False) -> None:
        """Report an error that the call has raised or given; see `Records.fail`."""
        if self.is_last:
            self._records.fail(self.entry, error, at, besides=besides)


class Calls(ABC):
    """Starts calls in the order of their records, and those that are repeated as they are due.

    A task takes the first record that waits when it begins to run, whichever task that is: trio
    begins tasks in any order (ORD-4).

    Args:
        function: the user's, in the form that is called here.
        records: told what a call comes to.
        timers: started with each call.
        tasks: of the operator.
        life: of the operator.
    """

    def __init__(
        self, function: Any, records: Records, timers: Timers, tasks: Tasks, *, life: Life
    ) -> None:
        self._function = function
        self._records = records
        self._timers = timers
        self._tasks = tasks
        self._life = life
        self._waiting: deque[Entry] = deque()
        self.started = 0
        """Calls that began."""
        self.repeated = 0
        """Those among them that were not the first of their record."""
        self.batches = 0
        """Calls that several records shared, or may have."""
        life.when_over(self._waiting.clear)

    def start(self, entry: Entry) -> None:
        """Call the function for a record soon, and behind those before it, if it is undecided."""
        if not self._life.is_over:
            self._waiting.append(entry)
            self._tasks.start(self._run)

    async def _run(self) -> None:
        await anyio.lowlevel.checkpoint_if_cancelled()
        if not self._life.is_over:  # else nothing begins any more (END-10)
            entry = self._waiting.popleft()
            # A deadline that has passed need not have been looked at, if the loop was blocked.
            if not (entry.is_completed or entry.is_late(self._timers.now())):
                await self.call(self.begin(entry))

    def begin(self, entry: Entry) -> Attempt:
        """Count the call of a record, and start its timers."""
        self.started += 1
        self.repeated += entry.attempts > 0
        entry.attempts += 1
        if entry.attempts == 1:
            self._records.begun(entry)
        entry.is_called = True
        self._timers.start(entry)
        return Attempt(entry, self._records)

    @abstractmethod
    async def call(self, attempt: Attempt) -> None:
        """Call the function for a record, and report what that comes to."""


class CoroutineCalls(Calls):
    """Awaits coroutine functions."""

    def __init__(self, *wires: Any, watch: Watch, life: Life) -> None:
        super().__init__(*wires, life=life)
        self._watch = watch
        self._running: dict[Call, None] = {}
        life.when_over(self._cancel_all)

    def _cancel_all(self) -> None:
        """Cancel whatever runs: no scope of the operator's tasks reaches into calls."""
        for call in self._running:
            call.scope.cancel()

    def new_call(self) -> Call:
        """Return a call that is about to begin."""
        return Call(self._watch)

    async def call(self, attempt: Attempt) -> None:
        """Await the call of a record, and report what it gives or raises."""
        call = self.new_call()
        self._running[call] = None
        with call.scope:
            try:
                returned = await self._returned(attempt, call)
            except BaseException as error:
                reraise_fatal(error)
                if not call.scope.cancel_called:
                    if is_own_cancellation(error):
                        raise  # on trio, where whoever cancels the operator cancels its calls
                    attempt.fail(error, self._timers.now())
            else:
                attempt.answer(lambda: returned, self._timers.now())
        del self._running[call]
        call.end()

    async def _returned(self, attempt: Attempt, call: Call) -> Any:
        """Await what the function gives; a deadline that passed before finds none to cancel."""
        attempt.enter(call)
        try:
            return await outcome_of(attempt.record, self._function(attempt.value), call.scope)
        finally:
            attempt.leave(call)
