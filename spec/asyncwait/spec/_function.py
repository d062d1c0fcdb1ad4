"""The user's function: its two forms, and the future that takes its results."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Protocol, TypeAlias

from asyncwait.spec._errors import OperatorError

Results: TypeAlias = Iterable[Any]


class ResultFuture(Protocol):
    """Future that a function in callback form completes; the first completion counts.

    Every method may be called from any thread, in the call itself or later, and never blocks. The
    operator ignores all but the first completion, and each completion after the record's deadline
    or after the end; none of them raises. The time of the completion decides whether it came
    before the deadline, not the time at which the operator processes it.
    """

    def complete(self, results: Results) -> None:
        """Decide the record with `results`."""
        ...

    def complete_with(self, supplier: Callable[[], Results]) -> None:
        """Decide the record with the results that `supplier` returns, or the error that it raises.

        The operator calls it on its loop, and not at all if the completion does not count.
        """
        ...

    def complete_exceptionally(self, error: BaseException) -> None:
        """Decide the record with `error`, of any class."""
        ...


class CallbackFunction(Protocol):
    """The callback form of a function."""

    def async_invoke(self, value: Any, result: ResultFuture) -> None:
        """Start the call for `value`; complete `result` during the call or later.

        An error that it raises fails the operator like any call that raises, even after a
        completion.
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
"""Function that the operator calls once for results in place of a failure, with the value and the
error of the operator, whose cause is the call's own error. After None the operator fails.
"""
