"""The user's function: its two forms, and where it puts what it gives."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Protocol, TypeAlias

from asyncwait.spec._errors import OperatorError

Results: TypeAlias = Iterable[Any]


class ResultFuture(Protocol):
    """Where a function in callback form puts its outcome; the first one counts.

    Every method may be called from any thread, in the call itself or later, and never blocks. All
    but the first completion are ignored, and so is one after the record's deadline or after the
    end; none of them raises. An answer is as old as its completion: whether it came before the
    deadline is told by the time of that, not by when the operator gets to look at it.
    """

    def complete(self, results: Results) -> None:
        """Decide the record with `results`."""
        ...

    def complete_with(self, supplier: Callable[[], Results]) -> None:
        """Decide the record with what `supplier` returns, or with what it raises.

        It is called on the operator's loop, and not at all if the completion does not count.
        """
        ...

    def complete_exceptionally(self, error: BaseException) -> None:
        """Decide the record with `error`, of whatever kind."""
        ...


class CallbackFunction(Protocol):
    """The callback form of a function."""

    def async_invoke(self, value: Any, result: ResultFuture) -> None:
        """Start the call for `value`; complete `result` sooner or later.

        What it raises fails the operator as a call that raises does, also after a completion.
        """
        ...


AsyncFunction: TypeAlias = Callable[[Any], Awaitable[Results]] | CallbackFunction
"""The user's function, which the operator calls once for each attempt at a record.

In coroutine form it takes the value of a record, or a list of values where the configuration has a
`batch`, and returns an awaitable of `Results`. In callback form it is a `CallbackFunction`. An
exception that the function raises fails the record with a `CallFailed` (FAIL-1).

Both forms may have these attributes: `timeout(value)` and `failure(value, error)`, plain functions
that give results at a deadline or in place of a failure; `open()` and `close()`, plain or coroutine
functions that run once each, before the first call and after the last.
"""

FailureHandler: TypeAlias = Callable[[Any, OperatorError], Results | None]
"""Asked once for results in place of a failure: given the value, and the error that the operator is
about to fail with, whose cause is what the call raised. None for none: then the operator fails.
"""
