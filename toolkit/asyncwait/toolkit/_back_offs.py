"""Whether a call is repeated, and how long that waits: `Retry` as an operator asks it."""

from collections.abc import Callable
from contextvars import copy_context
from random import Random
from typing import Any

from asyncwait.spec import CallFailed, InvalidResult, OperatorError, Record, Retry, RetryAfter
from asyncwait.spec.checks import at_most_infinite, is_number
from asyncwait.spec.texts import shown
from asyncwait.toolkit._contexts import isolated
from asyncwait.toolkit._loop import reraise_fatal


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
        if isinstance(wanted, type | tuple):
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
        reraise_fatal(error)
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
