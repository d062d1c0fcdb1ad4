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
    """Awaits what the function gives, in a scope of its own; its end is told by a mail.

    Attributes:
        scope: cancels the call while that runs.
        permit: of the call, where there are limits.
    """

    scope: CallScope | None = None
    permit: Permit | None = None

    @property
    @abstractmethod
    def operator(self) -> AsyncWaitOperator:
        """Whose function it is."""

    def permitted(self, permit: Permit | None) -> None:
        """Have the function called: all limits have room for it, or there are none."""
        self.permit = permit
        TaskCall.start(self)

    def has_begun(self) -> None:
        """Tell the gate that the function is called in this step."""
        if self.operator.gate is not None and self.permit is not None:
            self.operator.gate.begun(self.permit)

    def has_ended(self, outcome: Outcome | None) -> Outcome | None:
        """Tell the gate what the call came to; return that without its cost."""
        if self.operator.gate is None or self.permit is None:
            return outcome
        return self.operator.gate.ended(self.permit, outcome)

    def start(self) -> None:
        """Have the function called in a task."""
        self.scope = call_scope()
        self.operator.spawn(self.run, self.scope)

    async def run(self, scope: CallScope) -> None:
        """Run a call to its end; no error leaves its task but those for the whole program.

        Only its own scope cancels it, and that once; so it is known to whoever ends all calls.
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
        """Return what a call comes to; None if it is cancelled."""
        try:
            return None if scope.cancel_called else await self.invoke()
        except BaseException as error:
            reraise_fatal(error)
            if scope.cancel_called or is_own_cancellation(error):
                return None
            return Raised(error, self.operator.clock())

    @abstractmethod
    async def invoke(self) -> Outcome:
        """Call the function, and wait for what it comes to."""

    @abstractmethod
    def on_ended(self, outcome: Outcome | None) -> None:
        """The mail of a call's end; there is an outcome unless it was cancelled."""

    def cancel(self) -> None:
        """Cancel the call, as something else decides (TIME-5, RETRY-12)."""
        if self.scope is not None and not self.scope.cancel_called:
            self.scope.cancel()
            self.operator.cancelled.add(self)

    def post(self, run: Callable[[Any], object], outcome: Outcome | None) -> None:
        """Send a mail with what a call came to; it is of no use once the operator is over."""
        self.operator.mailbox.offer(Mail(partial(run, outcome)))
