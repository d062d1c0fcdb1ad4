"""The parts of a user's function, taken apart once."""

from collections.abc import Awaitable, Callable, Iterable
from contextvars import Context
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.spec import FailureHandler, InvalidConfig, OperatorError, ResultFuture
from asyncwait.spec.checks import is_plain_function
from asyncwait.toolkit._contexts import isolated

Results: TypeAlias = Iterable[Any]


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
