"""One call of the function for a record, from its start to what it comes to."""

# Collaborators know each other's types, which is no import at run time.
# pyright: reportImportCycles=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel

from asyncwait.reference._mail import Mail
from asyncwait.reference._outcomes import Completion, Outcome, Raised, Returned
from asyncwait.spec import attempt_timed_out, awaitable_of, let_pass, was_asked_for

if TYPE_CHECKING:
    from asyncwait.reference._handler import ResultHandler
    from asyncwait.reference._operator import AsyncWaitOperator
    from asyncwait.reference._timers import Timer


@dataclass(eq=False)
class Attempt:
    """Calls the function, in either form, and tells its handler what that came to.

    Whatever happens in the call's own task, or in another thread, is told by a mail.

    Args:
        handler: of the record that it is for.
        number: 1 for the first attempt at that record.
        scope: cancels the call, which has a task of its own, while that runs.
        limit: the timer that fires when the attempt has taken too long; None if there is none.
        is_open: whether what the call comes to counts.
    """

    handler: ResultHandler
    number: int
    scope: anyio.CancelScope | None = None
    limit: Timer | None = None
    is_open: bool = True

    @property
    def operator(self) -> AsyncWaitOperator:
        """The one whose record it is."""
        return self.handler.operator

    def start(self) -> None:
        """Have the function called, in either form."""
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
            invoke(self.handler.record.value, completion)
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
        # Nothing begins after leaving (END-10), nor after the deadline, which ends it (RETRY-11).
        await anyio.lowlevel.checkpoint_if_cancelled()
        if self.operator.clock() > self.handler.due:
            await anyio.sleep_forever()
        self.begin()
        record, function = self.handler.record, self.operator.function.call
        assert function is not None
        returned = await awaitable_of(record, function(record.value))
        return Returned(returned, self.operator.clock())

    def begin(self) -> None:
        """Note that the function is called in this step, and start the clocks."""
        self.operator.calls += 1
        self.operator.retries += self.number > 1
        self.handler.on_begun()
        retry = self.operator.config.retry
        if retry is not None and retry.attempt_timeout is not None:
            due = self.operator.clock() + retry.attempt_timeout
            self.limit = self.operator.timers.register(due, partial(self.on_limit, due))

    def cancel(self) -> None:
        """Cancel the call, as something else decides (TIME-5, RETRY-12).

        A call in callback form can't be cancelled; what it comes to is ignored.
        """
        if self.scope is not None and not self.scope.cancel_called:
            self.scope.cancel()
            self.operator.cancelled.add(self)

    def close(self) -> None:
        """Let nothing count any more that the call comes to, and leave no timer (RETRY-9)."""
        self.is_open = False
        if self.limit is not None:
            self.operator.timers.cancel(self.limit)
            self.limit = None

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

    def on_outcome(self, outcome: Outcome) -> None:
        """Hand on what the call came to, if its record goes by this attempt still (RETRY-9)."""
        if self.handler.attempt is self:
            self.handler.on_outcome(outcome)

    def on_limit(self, due: float) -> None:
        """End an attempt that takes too long, as if the call had raised (RETRY-12)."""
        retry = self.operator.config.retry
        assert retry is not None
        assert retry.attempt_timeout is not None
        self.cancel()
        late = attempt_timed_out(self.handler.record, retry.attempt_timeout)
        self.handler.conclude_failure(late, due)
