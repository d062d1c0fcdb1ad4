"""The user's function: its two forms, and how what it gives is read."""

import inspect
from collections.abc import Awaitable, Callable, Iterable
from contextvars import Context
from typing import Any, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.spec._checks import is_plain_function
from asyncwait.spec._contexts import isolated, read_whole
from asyncwait.spec._elements import Record
from asyncwait.spec._errors import (
    CallFailed,
    CallTimedOut,
    InvalidConfig,
    InvalidResult,
    OperatorError,
)
from asyncwait.spec._loop import let_pass
from asyncwait.spec.texts import shown

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
"""Whatever takes a value and returns an awaitable of results, or an object with `async_invoke`.

Either may also have `timeout(value)`, `failure(value, error)`, `open()` and `close()`. The last two
are plain or coroutine functions, all the others and `async_invoke` are plain.
"""

FailureHandler: TypeAlias = Callable[[Any, OperatorError], Results | None]
"""Asked once for results in place of a failure: given the value, and the error that the operator is
about to fail with, whose cause is what the call raised. None for none: then the operator fails.
"""


def skip(_value: Any, _error: OperatorError) -> Results:
    """Handle a failure by leaving the record out, whatever its value is."""
    return ()


class FunctionParts(Struct, frozen=True):
    """The parts of a user's function, found once when the operator opens.

    Exactly one of `call` and `invoke` is there.
    """

    call: Callable[[Any], Awaitable[Results]] | None
    invoke: Callable[[Any, ResultFuture], None] | None
    timeout: Callable[[Any], Results | None] | None
    failure: FailureHandler | None
    open: Callable[[], Any] | None
    close: Callable[[], Any] | None

    @classmethod
    def of(cls, fn: Any) -> "FunctionParts":
        """Take `fn` apart.

        Raises:
            InvalidConfig: `fn` is neither callable nor has `async_invoke`, or one of its parts is
                not a function of the right kind.
        """
        if isinstance(fn, type) and any(hasattr(fn, name) for name in _PARTS):
            raise InvalidConfig.of("fn", fn, "an object of that class: it has methods to be called")
        invoke = _plain_part(fn, "async_invoke")
        call: Any = fn if invoke is None else None
        if invoke is None and not callable(fn):
            raise InvalidConfig.of("fn", fn, "a coroutine function or have async_invoke()")
        return cls(
            call=call,
            invoke=invoke,
            timeout=_plain_part(fn, "timeout"),
            failure=_plain_part(fn, "failure"),
            open=_part(fn, "open"),
            close=_part(fn, "close"),
        )

    def with_copies(self, copy: Callable[[Any], Any] | None) -> "FunctionParts":
        """Return the same parts, each of which is given a copy of the value for itself (COPY-1).

        Where `copy` raises, the part does: a call has failed, a handler has nothing to give.

        Args:
            copy: as it was configured; None for no copies.
        """
        if copy is None:
            return self

        def given_a_copy(part: Callable[..., Any] | None) -> Callable[..., Any] | None:
            if part is None or part is skip:
                return part
            return lambda value, *others: part(copy(value), *others)

        asked = ("call", "invoke", "timeout", "failure")
        return replace(self, **{name: given_a_copy(getattr(self, name)) for name in asked})

    def within(self, context: Context) -> "FunctionParts":
        """Return the same parts: each time one of the plain ones runs, it does so in a fresh copy.

        What it sets is seen by nobody else then (CTX-2, CTX-3, CTX-4), and it sees no more than
        `context`. A call in coroutine form needs a task in such a copy.

        Args:
            context: as it was when the operator was opened, behind `open`.
        """
        plain = {name: getattr(self, name) for name in ("invoke", "timeout", "failure")}
        copied = {name: isolated(part, context) for name, part in plain.items() if part is not None}
        return replace(self, **copied)


_PARTS = ("async_invoke", "timeout", "failure", "open", "close")


def _part(fn: Any, name: str) -> Callable[..., Any] | None:
    part = getattr(fn, name, None)
    if part is not None and not callable(part):
        raise InvalidConfig.of(f"fn.{name}", part, "a function, or not be there")
    return part


def _plain_part(fn: Any, name: str) -> Callable[..., Any] | None:
    part = _part(fn, name)
    if part is not None and not is_plain_function(part):
        raise InvalidConfig.of(f"fn.{name}", part, "a plain function: nothing waits for it")
    return part


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
        let_pass(error)
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
        let_pass(error)
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
        let_pass(error)
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
