"""What numbers and functions in a configuration have to be."""

import inspect
import math
import sys
from typing import Any

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


def is_plain_function(value: Any) -> bool:
    """Say whether `value` can be called, and is no coroutine function: nothing would await it."""
    return callable(value) and not any(
        map(inspect.iscoroutinefunction, (value, type(value).__call__))
    )


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
    "NeedsPosix",
    "at_most_infinite",
    "is_number",
    "is_plain_function",
    "is_whole",
    "require_posix",
    "require_seconds",
    "require_timeout",
    "require_whole",
]
