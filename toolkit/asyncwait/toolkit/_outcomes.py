"""What calls and handlers give, as it is read: the results of a record, or its failure."""

import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from asyncwait.spec import (
    CallFailed,
    CallTimedOut,
    FailureHandler,
    InvalidResult,
    OperatorError,
    Record,
)
from asyncwait.spec.texts import shown
from asyncwait.toolkit._contexts import read_whole
from asyncwait.toolkit._loop import reraise_fatal
from asyncwait.toolkit._parts import Results


async def run_hook(hook: Callable[[], Any] | None) -> None:
    """Run `open` or `close`, be it a plain function, a coroutine function or absent."""
    if hook is not None:
        returned = hook()
        if inspect.isawaitable(returned):
            await returned


def awaitable_of(record: Record, returned: Any) -> Awaitable[Results]:
    """Check that a function in coroutine form was one.

    Raises:
        CallFailed: it returned something that can't be awaited.
    """
    if inspect.isawaitable(returned):
        return returned
    raise call_failed(record, not_awaitable(returned))


def not_awaitable(returned: Any) -> TypeError:
    """Build the error of a function in coroutine form that was none."""
    return TypeError(f"expected an awaitable from fn, got {shown(returned)}; is it an `async def`?")


def collect_results(record: Record, returned: Any) -> tuple[Any, ...]:
    """Read the results of `record` whole and once, before the first is emitted.

    Args:
        record: the input record.
        returned: what the call or the timeout handler gave.

    Returns:
        The results in the order of the collection.

    Raises:
        InvalidResult: None, str, bytes, or nothing that can be iterated.
        CallFailed: the collection raised while it was read.
    """
    kind = type(returned)
    if kind is tuple or kind is list:  # nearly always; what follows takes half a microsecond
        return tuple(returned)
    if not is_collection(returned):
        raise InvalidResult(record, _no_collection(returned))
    try:
        return read_whole(returned)
    except BaseException as error:
        reraise_fatal(error)
        # Nothing is awaited here, so not even a CancelledError is anybody else's.
        failure = call_failed(record, error)
        raise failure from failure.__cause__


def results_at_deadline(
    record: Record, handler: Callable[[Any], Results | None] | None, timeout: float
) -> tuple[Any, ...]:
    """Ask the timeout handler, once, for results of `record` in place of its call.

    Args:
        record: the input record, whose deadline has passed undecided.
        handler: the function's `timeout`, if it has one.
        timeout: in seconds, for the message.

    Raises:
        CallTimedOut: there is no handler, it gave None, or it raised.
        InvalidResult: it gave something else that is no collection of results.
        CallFailed: the collection that it gave raised while it was read.
    """
    late = f"no results after {timeout:g} s"
    if handler is None:
        raise CallTimedOut(record, f"{late}, and there is no timeout handler")
    try:
        returned = handler(record.value)
    except BaseException as error:
        reraise_fatal(error)
        raise CallTimedOut(record, f"{late}, and the handler raised {shown(error)}") from error
    if returned is None:
        raise CallTimedOut(record, f"{late}, and the handler gave None")
    return collect_results(record, returned)


def results_despite(failure: OperatorError, handler: FailureHandler | None) -> tuple[Any, ...]:
    """Ask the failure handler, once, for results of a record in place of a failure.

    Args:
        failure: what the operator fails with otherwise; it names the record, and tells of all its
            attempts.
        handler: the function's `failure`, if it has one.

    Raises:
        OperatorError: `failure` itself, where there is no handler, or it gave None, or raised that
            again; one of the same class, with another cause, if it raised something else.
        InvalidResult: it gave something else that is no collection of results.
        CallFailed: the collection that it gave raised while it was read.
    """
    record, attempts = failure.record, failure.attempts
    if handler is None or record is None:
        raise failure from failure.__cause__
    try:
        given = handler(record.value, failure)
    except BaseException as error:
        reraise_fatal(error)
        if error is failure or error is failure.__cause__:
            raise failure from failure.__cause__
        reason = f"{failure.reason}, and the failure handler raised {shown(error)}"
        if error.__context__ is None or error.__context__ is failure.__cause__:
            error.__context__ = failure  # so that the traceback tells of both
        raise type(failure)(record, reason, attempts) from error
    if given is None:
        raise failure from failure.__cause__
    try:
        return collect_results(record, given)
    except OperatorError as error:
        raise error.after(attempts) from error.__cause__


def call_failed(record: Record, error: Any) -> OperatorError:
    """Return the failure that a call of `record` has caused by raising or giving `error`.

    That is `error` itself if it names this very record already, as those of the helpers here do;
    else a CallFailed with `error` as its cause, or with a TypeError if `error` is no exception.
    """
    if isinstance(error, OperatorError) and error.record is record:
        return error
    if not isinstance(error, BaseException):
        error = TypeError(f"complete_exceptionally() takes an exception, got {shown(error)}")
    failure = CallFailed(record, f"the call failed: {shown(error)}")
    failure.__cause__ = error
    return failure


def is_collection(returned: Any) -> bool:
    """Say whether a call may give `returned` as its results: it can be iterated, and is no text."""
    if isinstance(returned, str | bytes | bytearray):
        return False
    return isinstance(returned, Iterable) or hasattr(type(returned), "__getitem__")


def _no_collection(returned: Any) -> str:
    return (
        f"expected an iterable of results, got {shown(returned)} ({type(returned).__name__}); "
        "return [] for none and [result] for one"
    )
