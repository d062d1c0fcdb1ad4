"""Calls of the function in tasks, from their start to the mail of their end, and outcomes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
import anyio.lowlevel

from asyncwait.reference._mailbox import Mail
from asyncwait.toolkit import CallScope, call_scope, is_own_cancellation, reraise_fatal

if TYPE_CHECKING:
    from asyncwait.reference._gate import Permit
    from asyncwait.reference._operator import AsyncWaitOperator


@dataclass(frozen=True, slots=True)
class Returned:
    """Outcome of a call with results.

    Args:
        given: the results; or a function that returns them.
        at: time of the outcome, in seconds of the loop's clock.
        is_supplied: whether `given` is a function, to be called on the operator's loop; it may
            raise.
    """

    given: Any
    at: float
    is_supplied: bool = False


@dataclass(frozen=True, slots=True)
class Raised:
    """Outcome of a call with an error.

    Args:
        error: an error of any class (FAIL-5).
        at: time of the outcome, in seconds of the loop's clock.
        by_callback: whether a call in callback form itself raised: such an error fails the operator
            even if the call has completed its record before (FAIL-1).
    """

    error: BaseException
    at: float
    by_callback: bool = False


Outcome: TypeAlias = Returned | Raised


class Completion:
    """The `ResultFuture` of one record, which a function in callback form completes.

    Each completion is a mail, from any thread; the first completion decides the record (RES-4,
    RES-5). When the operator is over, a completion does nothing: the client's thread could not
    handle an error (departs from Flink's CO-15).

    Args:
        send: sends a mail with an outcome.
        clock: clock of the loop.
    """

    def __init__(self, send: Callable[[Outcome], object], clock: Callable[[], float]) -> None:
        self.send = send
        self.clock = clock

    def complete(self, results: Any) -> None:
        """Decide the record with `results`."""
        self.send(Returned(results, self.clock()))

    def complete_with(self, supplier: Callable[[], Any]) -> None:
        """Decide the record with the results of `supplier`, called on the operator's loop."""
        self.send(Returned(supplier, self.clock(), is_supplied=True))

    def complete_exceptionally(self, error: BaseException) -> None:
        """Decide the record with `error`."""
        self.send(Raised(error, self.clock()))


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
