"""Retries: which outcomes of a call are no last word, and how long the next attempt waits."""

from collections.abc import Callable
from contextvars import copy_context
from random import Random
from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from asyncwait.spec._checks import (
    at_most_infinite,
    is_number,
    is_plain_function,
    is_whole,
    require_seconds,
    require_timeout,
    require_whole,
)
from asyncwait.spec._contexts import isolated
from asyncwait.spec._elements import Record
from asyncwait.spec._errors import (
    AsyncWaitError,
    CallFailed,
    InvalidConfig,
    InvalidResult,
    OperatorError,
)
from asyncwait.spec._loop import let_pass
from asyncwait.spec.texts import shown


class RetryAfter(AsyncWaitError):
    """Raised by a call that is to be repeated: when the next attempt may begin.

    It sets that one back-off, whatever `Retry` says of errors and back-offs, as long as attempts
    are left. Without a `Retry`, and after the last attempt, it is an error like any other.

    Args:
        seconds: from now on; 0 for at once.

    Raises:
        InvalidConfig: that is no number of seconds, or less than 0.
    """

    def __init__(self, seconds: float) -> None:
        if not is_number(seconds) or not seconds >= 0:
            raise InvalidConfig.of("seconds", seconds, "a number >= 0")
        super().__init__(seconds)
        self.seconds = at_most_infinite(seconds)


class Retry(Struct, frozen=True, kw_only=True):
    """When and how often the call of a record is repeated.

    Args:
        max_attempts: calls of one record at most, the first included.
        initial: back-off before the second call, in seconds.
        multiplier: each further back-off is this much longer; 1 keeps them all alike.
        cap: no back-off is longer, in seconds.
        jitter: the share of each back-off, from 0 to 1, of which chance leaves out as much as it
            likes; 0 for none.
        seed: where that chance begins; None for anywhere.
        attempt_timeout: longest time for one attempt, in seconds; None for no such limit.
        on_error: the errors after which there is another attempt: a class or classes of them, or a
            plain function that is given the very error and says so.
        on_result: a plain function that is given the results of a call, collected, and says whether
            there is another attempt; None for never. Where an operator is opened for plain values,
            one for each, it is given that one.

    Raises:
        InvalidConfig: an argument is out of its range.
    """

    max_attempts: int = 3
    initial: float = 0.1
    multiplier: float = 2.0
    cap: float = 60.0
    jitter: float = 0.0
    seed: int | None = None
    attempt_timeout: float | None = None
    on_error: Any = Exception
    on_result: Any = None

    def __post_init__(self) -> None:
        require_whole("max_attempts", self.max_attempts)
        require_seconds("initial", self.initial)
        if not is_number(self.multiplier) or not self.multiplier >= 1:
            raise InvalidConfig.of("multiplier", self.multiplier, "a number >= 1")
        require_seconds("cap", self.cap)
        if not is_number(self.jitter) or not 0 <= self.jitter <= 1:
            raise InvalidConfig.of("jitter", self.jitter, "a number from 0 to 1")
        if not (self.seed is None or is_whole(self.seed)):
            raise InvalidConfig.of("seed", self.seed, "a whole number or None")
        require_timeout("attempt_timeout", self.attempt_timeout)
        if not _are_errors(self.on_error):
            expected = "exception classes, or a plain function that is given an error"
            _require_predicate("on_error", self.on_error, expected)
        if self.on_result is not None:
            expected = "a plain function that is given the results, or None"
            _require_predicate("on_result", self.on_result, expected)
        for name in ("initial", "multiplier", "cap", "attempt_timeout"):
            if (value := getattr(self, name)) is not None:
                force_setattr(self, name, at_most_infinite(value))

    def of_one_result(self) -> "Retry":
        """Return the same for a function that gives one result: `on_result` is given that one."""
        if self.on_result is None:
            return self
        predicate = self.on_result
        return replace(self, on_result=lambda results: predicate(results[0]))

    def back_off(self, attempts: int) -> float:
        """Return the seconds to wait after `attempts` calls of one record, jitter aside.

        It depends on that record alone and can't overflow (Flink's RT-5 shares it among all).
        """
        try:
            grown = self.initial * float(self.multiplier) ** (attempts - 1)
        except OverflowError:
            return self.cap
        return min(grown, self.cap)


def _are_errors(thing: Any) -> bool:
    kinds = thing if isinstance(thing, tuple) else (thing,)
    are_errors = (isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds)
    return bool(kinds) and all(are_errors)


def _require_predicate(name: str, value: Any, expected: str) -> None:
    """Refuse what can't be asked; what a coroutine function returns would always be true."""
    if isinstance(value, type) or not is_plain_function(value):
        raise InvalidConfig.of(name, value, expected)


class BackOffs:
    """Says of each outcome how long its record backs off before the next attempt.

    One for each operator, since it knows the state of chance. It is asked on the operator's loop.

    Args:
        retry: as it was configured.

    Attributes:
        context: the predicates are asked in copies of it; it is that in which this was made, unless
            another one is set.
    """

    def __init__(self, retry: Retry) -> None:
        self.context = copy_context()
        self._retry = retry
        self._chance = Random(retry.seed)

    def after_failure(self, failure: OperatorError, attempts: int) -> float | None:
        """Return how many seconds to wait before the next attempt; None for none.

        Args:
            failure: what the operator would fail with.
            attempts: calls of that record so far.

        Raises:
            CallFailed: the predicate raised.
        """
        if attempts >= self._retry.max_attempts or isinstance(failure, InvalidResult):
            return None
        error = failure if failure.__cause__ is None else failure.__cause__
        if isinstance(error, RetryAfter):
            return _seconds_of(error, failure.record, attempts)
        return self._wait(attempts) if self._matches(error, failure.record, attempts) else None

    def after_results(
        self, record: Record, results: tuple[Any, ...], attempts: int
    ) -> float | None:
        """Return how many seconds to wait before the next attempt; None for none.

        Args:
            record: whose call gave them.
            results: as they were collected.
            attempts: calls of that record so far.

        Raises:
            CallFailed: the predicate raised.
        """
        predicate = self._retry.on_result
        if predicate is None or attempts >= self._retry.max_attempts:
            return None
        predicate = isolated(predicate, self.context)
        matches = _asked("on_result", predicate, results, record, attempts)
        return self._wait(attempts) if matches else None

    def _matches(self, error: BaseException, record: Record | None, attempts: int) -> bool:
        wanted = self._retry.on_error
        if _are_errors(wanted):
            return isinstance(error, wanted)
        predicate = isolated(wanted, self.context)
        return _asked("on_error", predicate, error, record, attempts)

    def _wait(self, attempts: int) -> float:
        whole, jitter = self._retry.back_off(attempts), self._retry.jitter
        return whole - whole * jitter * self._chance.random() if jitter else whole


def _seconds_of(error: RetryAfter, record: Record | None, attempts: int) -> float:
    """Return what a RetryAfter says, which may be of a class that forgets to."""
    seconds: Any = getattr(error, "seconds", None)
    if not is_number(seconds) or not seconds >= 0:
        reason = (
            f"a {type(error).__name__} was raised whose `seconds` is {shown(seconds)}, expected a "
            "number >= 0; does its __init__ call super().__init__(seconds)?"
        )
        raise CallFailed(record, reason, attempts) from error
    return at_most_infinite(seconds)


def _asked(
    name: str, predicate: Callable[[Any], Any], outcome: Any, record: Record | None, attempts: int
) -> bool:
    """Ask a predicate; what it raises is an error of the record, so that it is not lost."""
    try:
        return bool(predicate(outcome))
    except BaseException as error:
        let_pass(error)
        raise CallFailed(record, f"{name} raised {shown(error)}", attempts) from error


def attempt_timed_out(record: Record, attempt_timeout: float) -> CallFailed:
    """Return what an attempt comes to that takes longer than it may.

    Args:
        record: whose call it is.
        attempt_timeout: in seconds.
    """
    error = TimeoutError(f"no results after {attempt_timeout:g} s")
    failure = CallFailed(record, f"the call failed: {shown(error)}")
    failure.__cause__ = error
    return failure
