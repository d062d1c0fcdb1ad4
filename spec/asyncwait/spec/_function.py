"""The user's function: its two forms, and how what it gives is read."""

import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from asyncwait.spec._elements import Record
from asyncwait.spec._errors import CallFailed, InvalidConfig, InvalidResult

Results: TypeAlias = Iterable[Any]


class ResultFuture(Protocol):
    """Where a function in callback form puts its outcome; the first one counts.

    Every method may be called from any thread and never blocks.
    """

    def complete(self, results: Results) -> None:
        """Decide the record with `results`."""
        ...

    def complete_with(self, supplier: Callable[[], Results]) -> None:
        """Decide the record with what `supplier` returns; it is called on the operator's loop."""
        ...

    def complete_exceptionally(self, error: BaseException) -> None:
        """Decide the record with `error`."""
        ...


class CallbackFunction(Protocol):
    """The callback form of a function."""

    def async_invoke(self, value: Any, result: ResultFuture) -> None:
        """Start the call for `value`; complete `result` sooner or later."""
        ...


AsyncFunction: TypeAlias = Callable[[Any], Awaitable[Results]] | CallbackFunction
"""A coroutine function `value -> results`, or an object with `async_invoke`.

Either may also have `timeout(value)`, `open()` and `close()` (plain or coroutine functions, but
`timeout` is plain).
"""


class FunctionParts(Struct, frozen=True):
    """The parts of a user's function, found once when the operator opens.

    Exactly one of `call` and `invoke` is there.
    """

    call: Callable[[Any], Awaitable[Results]] | None
    invoke: Callable[[Any, ResultFuture], None] | None
    timeout: Callable[[Any], Results | None] | None
    open: Callable[[], Any] | None
    close: Callable[[], Any] | None

    @classmethod
    def of(cls, fn: Any) -> "FunctionParts":
        """Take `fn` apart.

        Raises:
            InvalidConfig: `fn` is neither callable nor has `async_invoke`, or one of its parts is
                not a function of the right kind.
        """
        invoke = _part(fn, "async_invoke")
        call: Any = fn if invoke is None else None
        if invoke is None and not callable(fn):
            raise InvalidConfig.of("fn", fn, "a coroutine function or have async_invoke()")
        timeout = _part(fn, "timeout")
        if inspect.iscoroutinefunction(timeout):
            raise InvalidConfig.of("fn.timeout", timeout, "a plain function: nothing waits for it")
        return cls(
            call=call,
            invoke=invoke,
            timeout=timeout,
            open=_part(fn, "open"),
            close=_part(fn, "close"),
        )


def _part(fn: Any, name: str) -> Callable[..., Any] | None:
    part = getattr(fn, name, None)
    if part is not None and not callable(part):
        raise InvalidConfig.of(f"fn.{name}", part, "a function, or not be there")
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
    cause = not_awaitable(returned)
    raise call_failed(record, cause) from cause


def not_awaitable(returned: Any) -> TypeError:
    """Build the error of a function in coroutine form that was none."""
    return TypeError(f"expected an awaitable from fn, got {returned!r}; is it an `async def`?")


def collect_results(record: Record, returned: Any) -> tuple[Any, ...]:
    """Read the results of `record` whole, before the first is emitted.

    Args:
        record: the input record.
        returned: what the call or the timeout handler gave.

    Returns:
        The results in the order of the collection.

    Raises:
        InvalidResult: None, str, bytes, or nothing that can be iterated.
        CallFailed: the collection raised while it was read.
    """
    if not _is_collection(returned):
        raise InvalidResult(record, _no_collection(returned))
    try:
        return tuple(returned)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        # Nothing is awaited here, so not even a CancelledError is anybody else's.
        raise call_failed(record, error) from error


def call_failed(record: Record, error: BaseException) -> CallFailed:
    """Build the error of a call that raised `error`; raise it `from error`."""
    return CallFailed(record, f"the call failed: {error!r}")


def _is_collection(returned: Any) -> bool:
    if isinstance(returned, str | bytes | bytearray):
        return False
    return isinstance(returned, Iterable) or hasattr(type(returned), "__getitem__")


def _no_collection(returned: Any) -> str:
    return (
        f"expected an iterable of results, got {returned!r} ({type(returned).__name__}); "
        "return [] for none and [result] for one"
    )
