"""Errors that plans name."""

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from asyncwait.spec import CallFailed, CallTimedOut, InvalidConfig, Record, RetryAfter


class Planned(ConnectionError, TimeoutError):
    """An error for which operators may be tempted to repeat a call."""


class PlannedValueError(ValueError):
    """A subclass of ValueError that has the name of its base."""

    def __reduce__(self) -> tuple[Any, ...]:
        return planned_error, ("ValueError",)


PlannedValueError.__name__ = PlannedValueError.__qualname__ = "ValueError"


class PlannedRetryAfter(RetryAfter):
    """A subclass of RetryAfter, as a client may define it, that has the name of its base."""

    def __reduce__(self) -> tuple[Any, ...]:
        return planned_error, ("RetryAfter", round(self.seconds * 1000))


PlannedRetryAfter.__name__ = PlannedRetryAfter.__qualname__ = "RetryAfter"


class Unpicklable(Exception):
    """An error that can't cross a process border."""

    def __init__(self) -> None:
        super().__init__("planned")
        self.lock = threading.Lock()


class Chained(Exception):
    """An error with a cause, which the operator has to preserve."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.__cause__ = self.planned_cause = KeyError(said)


class Unprintable(Exception):
    """A falsy error whose texts raise, as the texts of an error that reads from a closed file."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        raise LookupError("the file of this error is closed")

    __str__ = __repr__


class Panic(BaseException):
    """An error that is no Exception, as extension modules raise when their own code panics."""


_OTHERS = Record("b", 6)
"""A record other than the record of the call, and equal to it where examples say so."""

_ERRORS: dict[str, Callable[[str], BaseException]] = {
    "ExceptionGroup": lambda said: ExceptionGroup(said, [ValueError(said), OSError(said)]),
    "Chained": Chained,
    "Panic": Panic,
    "CallFailed": partial(CallFailed, _OTHERS),
    "CallTimedOut": partial(CallTimedOut, _OTHERS),
    "InvalidConfig": InvalidConfig,
    "ValueError": PlannedValueError,
    "StopIteration": StopIteration,
    "StopAsyncIteration": StopAsyncIteration,
    "CancelledError": asyncio.CancelledError,
    "KeyboardInterrupt": KeyboardInterrupt,
    "SystemExit": SystemExit,
    "Unprintable": Unprintable,
    "Unpicklable": lambda _: Unpicklable(),
}


def planned_error(name: str, retry_after: int = 0) -> BaseException:
    """Return a new error of the planned kind; `retry_after` is in ms."""
    if name == "RetryAfter":
        return PlannedRetryAfter(retry_after / 1000)
    return _ERRORS.get(name, Planned)("planned")
