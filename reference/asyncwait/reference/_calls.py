"""Calls of the function in tasks, from their start to the mail of their end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import anyio
import anyio.lowlevel

from asyncwait.reference._abandoned import CancelledCalls
from asyncwait.reference._counts import Permit
from asyncwait.reference._gate import Gate, GatedOperator
from asyncwait.reference._mailbox import Mail
from asyncwait.reference._outcomes import Outcome, Raised
from asyncwait.reference._timers import Spawn
from asyncwait.toolkit import CallScope, call_scope, is_own_cancellation, reraise_fatal


class CallingOperator(GatedOperator, Protocol):
    """The parts of an operator that its calls use; see `AsyncWaitOperator`."""

    cancelled: CancelledCalls
    gate: Gate | None
    scopes: dict[CallScope, None]
    spawn: Spawn


class TaskCall(ABC):
    """Call of the function in a task, which sends a mail at its end.

    Attributes:
        scope: scope that cancels the running call; None before and after.
        permit: permit of the call; None without limits.
    """

    scope: CallScope | None = None
    permit: Permit | None = None

    @property
    @abstractmethod
    def operator(self) -> CallingOperator:
        """Operator of the function."""

    def permitted(self, permit: Permit | None) -> None:
        """Call the function, for which all limits have room."""
        self.permit = permit
        TaskCall.start(self)

    def has_begun(self) -> None:
        """Tell the gate that the function is called in this step."""
        if self.operator.gate is not None and self.permit is not None:
            self.operator.gate.begun(self.permit)

    def has_ended(self, outcome: Outcome | None) -> Outcome | None:
        """Tell the gate the outcome of the call; return the outcome without its cost."""
        if self.operator.gate is None or self.permit is None:
            return outcome
        return self.operator.gate.ended(self.permit, outcome)

    def start(self) -> None:
        """Call the function in a task."""
        self.scope = call_scope()
        self.operator.spawn(self.run, self.scope)

    async def run(self, scope: CallScope) -> None:
        """Run a call to its end; only errors for the whole program leave its task.

        Only its own scope cancels it, once; so `AsyncWaitOperator.scopes` holds the scope.
        """
        # Nothing begins after leaving (END-10).
        await anyio.lowlevel.checkpoint_if_cancelled()
        outcome: Outcome | None = None
        self.operator.scopes[scope] = None
        try:
            with scope:
                outcome = await self.outcome(scope)
        finally:
            del self.operator.scopes[scope]
        self.post(self.on_ended, outcome)

    async def outcome(self, scope: CallScope) -> Outcome | None:
        """Return the outcome of a call; None if it is cancelled."""
        try:
            return None if scope.cancel_called else await self.invoke()
        except BaseException as error:
            reraise_fatal(error)
            if scope.cancel_called or is_own_cancellation(error):
                return None
            return Raised(error, self.operator.clock())

    @abstractmethod
    async def invoke(self) -> Outcome:
        """Call the function, and wait for its outcome."""

    @abstractmethod
    def on_ended(self, outcome: Outcome | None) -> None:
        """Process the end of the call, as its mail; the outcome of a cancelled call is None."""

    def cancel(self) -> None:
        """Cancel the call, whose outcome is no longer needed (TIME-5, RETRY-12)."""
        if self.scope is not None and not self.scope.cancel_called:
            self.scope.cancel()
            self.operator.cancelled.add(self)

    def post(self, run: Callable[[Any], object], outcome: Outcome | None) -> None:
        """Send a mail with an outcome; the mailbox of a closed operator drops it."""
        self.operator.mailbox.offer(Mail(partial(run, outcome)))


class SharedCall(TaskCall):
    """A call for several attempts, each of which may leave it alone.

    Attributes:
        began: start of the call, in seconds of the loop's clock.
    """

    began: float

    @abstractmethod
    def leave(self, attempt: Any) -> None:
        """Remove an attempt; cancel the call when the last attempt has left."""

    def on_limit(self, attempt: Any) -> None:
        """Take note that an attempt has left by its limit."""
