"""What numbers and functions in a configuration have to be."""

import inspect
import math
import sys
from functools import partial
from typing import Any, Literal, TypeAlias

from asyncwait.spec._errors import AsyncWaitError, InvalidConfig


def at_most_infinite(value: float) -> float:
    """Return a number that a clock can add: an int may be more than a float can hold."""
    return math.inf if value > sys.float_info.max else value


def is_number(value: Any) -> bool:
    """Say whether `value` is a number; True is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Say whether `value` is a whole number; True is none."""
    return isinstance(value, int) and not isinstance(value, bool)


FunctionKind: TypeAlias = Literal["plain", "coroutine", "generator", "async generator"]


def kind_of(fn: Any) -> FunctionKind:
    """Return the kind of a function, as far as its declaration shows the kind.

    A "plain" function may return a coroutine or a generator all the same: a call shows that.

    Args:
        fn: a function, method, partial, class, or object with `__call__`.
    """
    while isinstance(fn, partial) or inspect.ismethod(fn):
        fn = fn.func if isinstance(fn, partial) else fn.__func__
    for each in (fn, type(fn).__call__ if callable(fn) else fn):
        if not isinstance(getattr(getattr(each, "__code__", None), "co_flags", 0), int):
            return "plain"  # a mock with the attributes of a function
        if inspect.iscoroutinefunction(each):
            return "coroutine"
        if inspect.isasyncgenfunction(each):
            return "async generator"
        if inspect.isgeneratorfunction(each):
            is_awaitable = each.__code__.co_flags & inspect.CO_ITERABLE_COROUTINE
            return "coroutine" if is_awaitable else "generator"
    return "plain"


def takes(fn: Any, count: int) -> bool:
    """Say whether a function may be called with so many arguments, or does not tell."""
    try:
        signature = inspect.signature(fn, follow_wrapped=False)
    except (ValueError, TypeError):
        return True
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def is_plain_function(value: Any, arguments: int | None = None) -> bool:
    """Say whether a call of `value` runs its body and returns its answer: nothing awaits it.

    Args:
        value: of any type.
        arguments: how many the call has; None for any number.
    """
    is_plain = callable(value) and kind_of(value) == "plain"
    return is_plain and (arguments is None or takes(value, arguments))


def require_whole(name: str, value: Any) -> None:
    """Refuse what can't count anything.

    Args:
        name: of the argument, for the message.
        value: given for it.

    Raises:
        InvalidConfig: `value` is not a whole number >= 1.
    """
    if not is_whole(value) or value < 1:
        raise InvalidConfig.of(name, value, "a whole number >= 1")


def require_seconds(name: str, value: Any) -> None:
    """Refuse what is no time.

    Raises:
        InvalidConfig: `value` is not a number above 0.
    """
    # "Not greater" is true of NaN too.
    if not is_number(value) or not value > 0:
        raise InvalidConfig.of(name, value, "a number of seconds > 0")


def require_timeout(name: str, value: Any) -> None:
    """Refuse what is neither a time nor None.

    Zero would mean never here and at once there, so it is refused (Flink's TO-1, TO-3).

    Raises:
        InvalidConfig: `value` is neither.
    """
    if value is not None and (not is_number(value) or not value > 0):
        raise InvalidConfig.of(name, value, "a number of seconds > 0, or None for none")


class NeedsPosix(AsyncWaitError):
    """What is asked for runs on Linux and macOS, and not on Windows."""


def require_posix(what: str) -> None:
    """Refuse what needs locks of files, signals, forks or polls where there are none.

    Args:
        what: begins the sentence that says so.

    Raises:
        NeedsPosix: this is such a system.
    """
    try:
        import fcntl  # noqa: F401 - it stands for all of them
    except ImportError:
        text = f"{what} needs Linux or macOS; on Windows, use the Windows Subsystem for Linux"
        raise NeedsPosix(text) from None


__all__ = [
    "FunctionKind",
    "NeedsPosix",
    "at_most_infinite",
    "is_number",
    "is_plain_function",
    "is_whole",
    "kind_of",
    "require_posix",
    "require_seconds",
    "require_timeout",
    "require_whole",
    "takes",
]
