"""A call of the function in a task of its own, from its start to the mail of its end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel

from asyncwait.reference._mailbox import Mail
from asyncwait.reference._outcomes import Outcome, Raised
from asyncwait.toolkit import CallScope, call_scope, is_own_cancellation, reraise_fatal

if TYPE_CHECKING:
    from asyncwait.reference._gate import Permit
    from asyncwait.reference._operator import AsyncWaitOperator


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
    def operator(self) -> AsyncWaitOperator:
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
