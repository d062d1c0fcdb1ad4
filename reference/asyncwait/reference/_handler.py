"""What becomes of one record: its call, its deadline, and which of the two decides it."""

# Collaborators know each other's types, which is no import at run time.
# pyright: reportImportCycles=false

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.lowlevel

from asyncwait.reference._mail import Mail
from asyncwait.reference._outcomes import Completion, Outcome, Raised, Returned
from asyncwait.reference._queues import RecordEntry
from asyncwait.spec import (
    Record,
    awaitable_of,
    call_failed,
    collect_results,
    let_pass,
    results_at_deadline,
    was_asked_for,
)

if TYPE_CHECKING:
    from asyncwait.reference._operator import AsyncWaitOperator
    from asyncwait.reference._timers import Timer


@dataclass(eq=False)
class ResultHandler:
    """Has the function called for one record, and decides that record, once.

    What is raised in the mails is the failure of the operator: it leaves the mail, and with it the
    loop, and nothing happens after it (FAIL-2, FAIL-4).

    Args:
        operator: whose record it is.
        record: as it was read.
        scope: cancels the call, which has a task of its own, while that runs.
        deadline: the timer that fires at the deadline; None if there is none, or no more.
        due: when the deadline is, in seconds of the loop's clock.
    """

    operator: AsyncWaitOperator
    record: Record
    scope: anyio.CancelScope | None = None
    deadline: Timer | None = None
    due: float = math.inf

    def __post_init__(self) -> None:
        self.entry = RecordEntry(self.record)

    # The call

    def start(self) -> None:
        """Have the function called for the record, in either form."""
        if self.operator.function.invoke is not None:
            self.start_callback(self.operator.function.invoke)
        else:
            self.scope = anyio.CancelScope()
            self.operator.spawn(self.run, self.scope)

    def start_callback(self, invoke: Callable[[Any, Completion], None]) -> None:
        """Call a function in callback form; it fails if it raises, completed or not (FAIL-1)."""
        completion = self.completion()
        self.begin()
        try:
            invoke(self.record.value, completion)
        except BaseException as error:
            let_pass(error)
            self.post(self.on_outcome, Raised(error, self.operator.clock(), by_callback=True))

    def completion(self) -> Completion:
        """Return what a function in callback form completes."""
        return Completion(partial(self.post, self.on_outcome), self.operator.clock)

    async def run(self, scope: anyio.CancelScope) -> None:
        """Run a call to its end; no error leaves its task but those for the whole program."""
        outcome: Outcome | None = None
        with scope:
            try:
                outcome = await self.invoke()
            except BaseException as error:
                let_pass(error)
                if not was_asked_for(error):
                    outcome = Raised(error, self.operator.clock())
        self.post(self.on_ended, outcome)

    async def invoke(self) -> Outcome:
        """Call the function, and wait for what it comes to."""
        await anyio.lowlevel.checkpoint_if_cancelled()  # nothing begins after leaving (END-10)
        self.begin()
        function = cast("Callable[..., Any]", self.operator.function.call)
        returned = await awaitable_of(self.record, function(self.record.value))
        return Returned(returned, self.operator.clock())

    def begin(self) -> None:
        """Start the timeout in the step in which the function is called (TIME-7, REST-2)."""
        self.operator.calls += 1
        timeout = self.operator.config.timeout
        if timeout is not None:
            self.due = self.due_after(timeout)
            self.deadline = self.operator.timers.register(self.due, self.on_deadline)

    def due_after(self, timeout: float) -> float:
        """Return when `timeout` is over; infinity adds up to never (unlike Flink's TO-3)."""
        return self.operator.clock() + timeout

    def cancel(self) -> None:
        """Cancel the call, as the record is decided without it (TIME-5).

        A call in callback form can't be cancelled; what it comes to is ignored.
        """
        if self.scope is not None:
            self.scope.cancel()
            self.operator.cancelled.add(self)

    def post(self, run: Callable[[Any], object], outcome: Outcome | None) -> None:
        """Send a mail with what a call came to; it is of no use once the operator is over."""
        self.operator.mailbox.offer(Mail(partial(run, outcome)))

    def on_ended(self, outcome: Outcome | None) -> None:
        """The mail of a call's end; there is an outcome unless it was cancelled."""
        if self.scope is not None and self.scope.cancel_called:
            self.operator.cancelled.ended(self)
        self.scope = None
        if outcome is not None:
            self.on_outcome(outcome)

    # The outcome

    def on_outcome(self, outcome: Outcome) -> None:
        """Decide the record by what its call came to, if nothing else has decided it (RES-4).

        Whatever was due before comes first, and it may be this record's deadline (TIME-6, FAIL-4).
        """
        timers = self.operator.timers
        if timers.earliest < outcome.at:
            timers.run_before(outcome.at)
        if not self.is_decided or self.is_raised_besides(outcome):
            self.decide(self.results_of(outcome))

    @property
    def is_decided(self) -> bool:
        """Whether it is settled what comes out of the record."""
        return self.entry.outputs is not None

    def is_raised_besides(self, outcome: Outcome) -> bool:
        """Say whether a call in callback form has completed its record and raised (FAIL-1)."""
        by_callback = isinstance(outcome, Raised) and outcome.by_callback
        return by_callback and not self.is_late(outcome)

    def is_late(self, outcome: Outcome) -> bool:
        """Say whether an outcome came after the deadline."""
        return outcome.at > self.due

    def results_of(self, outcome: Outcome) -> tuple[Any, ...]:
        """Return the results that a call came to.

        Raises:
            CallFailed: it came to an error, or collecting the results raised one (FAIL-1, RES-6).
            InvalidResult: it came to something that is no collection of results (RES-3).
        """
        if isinstance(outcome, Raised):
            raise call_failed(self.record, outcome.error)
        return self.collect(outcome)

    def collect(self, outcome: Returned) -> tuple[Any, ...]:
        """Read the results whole before the first comes out (RES-6)."""
        try:
            given = outcome.given() if outcome.is_supplied else outcome.given
            return collect_results(self.record, given)
        except BaseException as error:
            let_pass(error)
            failure = call_failed(self.record, error)
            raise failure from failure.__cause__

    # The deadline

    def on_deadline(self) -> None:
        """Decide the record at its deadline, if nothing has decided it before (TIME-1, TIME-2)."""
        if not self.is_decided:
            self.operator.timeouts += 1
            self.cancel()
            self.decide(self.results_at_deadline())

    def results_at_deadline(self) -> tuple[Any, ...]:
        """Return what the timeout handler gives in place of the call (TIME-3).

        Raises:
            CallTimedOut: there is no handler, it gave None, or it raised (TIME-4).
            InvalidResult: it gave something that is no collection of results (RES-3).
            CallFailed: its results raised when they were collected (RES-6).
        """
        operator = self.operator
        assert operator.config.timeout is not None
        return results_at_deadline(self.record, operator.function.timeout, operator.config.timeout)

    def cancel_deadline(self) -> None:
        """Leave no timer behind for a decided record (TIME-1)."""
        if self.deadline is not None:
            self.operator.timers.cancel(self.deadline)
            self.deadline = None  # it knows this handler, and the two would live until found

    # The decision

    def decide(self, results: tuple[Any, ...]) -> None:
        """Settle what comes out of the record; the consumer may take it from now on."""
        self.cancel_deadline()
        self.entry.outputs = deque(self.output_of(result) for result in results)
        self.operator.queue.completed(self.entry)
        self.operator.output.tell()

    def output_of(self, result: Any) -> Record:
        """Give a result the timestamp and the key of its record (ELEM-1, ELEM-2)."""
        return Record(result, self.record.timestamp, self.record.key)
