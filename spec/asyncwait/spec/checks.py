"""Checks of the numbers and functions in a configuration."""

import inspect
import math
import sys
from functools import partial
from typing import Any, Literal, TypeAlias

from asyncwait.spec._errors import AsyncWaitError, InvalidConfig


def at_most_infinite(value: float) -> float:
    """Return infinity for an int that is too large for a float, so that a clock can add it."""
    return math.inf if value > sys.float_info.max else value


def is_number(value: Any) -> bool:
    """Return whether `value` is a number; a bool is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Return whether `value` is a whole number; a bool is not."""
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
    """Return whether a function accepts `count` arguments; True if it has no signature."""
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
    """Return whether a call of `value` runs its body and returns its answer without an await.

    Args:
        value: object of any type.
        arguments: number of arguments of the call; None for any number.
    """
    is_plain = callable(value) and kind_of(value) == "plain"
    return is_plain and (arguments is None or takes(value, arguments))


def require_whole(name: str, value: Any) -> None:
    """Refuse everything but a positive whole number.

    Args:
        name: name of the argument, for the message.
        value: value of the argument.

    Raises:
        InvalidConfig: `value` is not a whole number >= 1.
    """
    if not is_whole(value) or value < 1:
        raise InvalidConfig.of(name, value, "a whole number >= 1")


def require_seconds(name: str, value: Any) -> None:
    """Refuse everything but a positive number of seconds.

    Raises:
        InvalidConfig: `value` is not a number above 0.
    """
    # "Not greater" is true of NaN too.
    if not is_number(value) or not value > 0:
        raise InvalidConfig.of(name, value, "a number of seconds > 0")


def require_timeout(name: str, value: Any) -> None:
    """Refuse everything but a positive number of seconds, or None.

    It refuses 0, which means "never" in Flink's TO-1 and "at once" in TO-3.

    Raises:
        InvalidConfig: `value` is neither.
    """
    if value is not None and (not is_number(value) or not value > 0):
        raise InvalidConfig.of(name, value, "a number of seconds > 0, or None for none")


class NeedsPosix(AsyncWaitError):
    """The feature runs on Linux and macOS, and not on Windows."""


def require_posix(what: str) -> None:
    """Refuse a feature that needs file locks, signals, forks or polls where the system lacks them.

    Args:
        what: name of the feature, which begins the message.

    Raises:
        NeedsPosix: the system is Windows.
    """
    try:
        import fcntl  # noqa: F401 - a system with it has the others, too
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
