"""Calls: what a record comes to by one, and whether another one follows."""

import asyncio
import inspect
import logging
from collections import UserString
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from contextvars import copy_context
from math import inf
from random import Random
from typing import Any

from asyncwait.spec import (
    AsyncWaitError,
    CallFailed,
    CallTimedOut,
    FailureHandler,
    InvalidResult,
    OperatorError,
    Record,
    ResultRejected,
    Retry,
    RetryAfter,
)
from asyncwait.spec.checks import at_most_infinite, is_number
from asyncwait.spec.limits import CostMistold
from asyncwait.spec.texts import one_line, shown
from asyncwait.toolkit._function import Results
from asyncwait.toolkit._kinds import WrongFunction, awaited, settled
from asyncwait.toolkit._loop import isolated, read_whole, reraise_fatal, running_trio
from asyncwait.toolkit._scopes import CallScope
from asyncwait.toolkit._transient import causes, status_of

LOG = logging.getLogger("asyncwait")
"""Tells of back-offs (INFO), and of timeouts and failures that a handler may hide (WARNING)."""

LOG.addHandler(logging.NullHandler())

_ROUNDING = 1e-9
"""Seconds by which a difference of two readings of a clock may be off."""


class KeeperLost(AsyncWaitError):
    """The place that keeps results is unusable: a further call would be paid, perhaps once more."""


FINAL = (KeeperLost, WrongFunction)
"""Causes of failures that end the stream, whatever `retry` and failure handlers say."""


async def run_hook(hook: Callable[[], Any] | None) -> None:
    """Run `open` or `close`, be it a plain function, a coroutine function or absent."""
    if hook is not None:
        returned = hook()
        if inspect.isawaitable(returned):
            returned = await returned
        settled("open() or close()", returned)


def awaitable_of(record: Record, returned: Any) -> Awaitable[Results]:
    """Check that a function in coroutine form was one.

    Raises:
        CallFailed: it returned something that can't be awaited.
    """
    try:
        return awaited(returned)
    except WrongFunction as error:
        raise call_failed(record, error) from error


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
        # Nothing is awaited here, so even a CancelledError is the outcome of the call.
        failure = call_failed(record, error)
        raise failure from failure.__cause__


def results_at_deadline(
    record: Record,
    handler: Callable[[Any], Results | None] | None,
    timeout: float,
    last_error: BaseException | None = None,
) -> tuple[Any, ...]:
    """Ask the timeout handler, once, for results of `record` in place of its call.

    Args:
        record: the input record, whose deadline has passed undecided.
        handler: the function's `timeout`, if it has one.
        timeout: in seconds, for the message.
        last_error: the error of the last attempt that has failed; None if no attempt has.

    Raises:
        CallTimedOut: there is no handler, it gave None, or it raised. The cause is what the handler
            raised, else `last_error` (RETRY-20).
        InvalidResult: it gave something else that is no collection of results.
        CallFailed: the collection that it gave raised while it was read.
    """
    late = timed_out(record, f"no results after {timeout:g} s", last_error)
    if handler is None:
        raise late from late.__cause__
    LOG.warning("%s", str(late))  # A log keeps no value alive.
    try:
        returned = handler(record.value)
    except BaseException as error:
        reraise_fatal(error)
        reason = f"{late.reason}, and the timeout handler raised {shown(error)}"
        raise CallTimedOut(record, reason) from error
    if returned is None:
        late = CallTimedOut(record, f"{late.reason}, and the timeout handler gave None")
        raise late from last_error
    return collect_results(record, returned)


def timed_out(record: Record, late: str, last_error: BaseException | None) -> CallTimedOut:
    """Return the error of a record without results at its deadline.

    Args:
        record: the input record.
        late: a text that says so.
        last_error: the error of the last attempt that has failed; None if no attempt has.
    """
    before = "" if last_error is None else f"; the attempt before failed: {shown(last_error)}"
    error = CallTimedOut(record, f"{late}{before}")
    error.__cause__ = last_error
    return error


def results_despite(failure: OperatorError, handler: FailureHandler | None) -> tuple[Any, ...]:
    """Ask the failure handler, once, for results of a record in place of a failure.

    Args:
        failure: what the operator fails with otherwise; it names the record, and tells of all its
            attempts.
        handler: the function's `failure`, if it has one.

    Raises:
        OperatorError: `failure` itself, where there is no handler, or it gave None, or raised that
            again, or `failure` has a `FINAL` cause; one of the same class, with another cause, if
            it raised something else.
        InvalidResult: it gave something else that is no collection of results.
        CallFailed: the collection that it gave raised while it was read.
    """
    record, attempts, cause = failure.record, failure.attempts, failure.__cause__
    if handler is None or record is None or _is_final(cause):
        raise failure from cause
    LOG.warning("%s", str(failure))
    traceback = getattr(cause, "__traceback__", None)
    try:
        given = handler(record.value, failure)
    except BaseException as error:
        reraise_fatal(error)
        if error is failure or error is cause:
            raise failure from cause
        reason = f"{failure.reason}, and the failure handler raised {shown(error)}"
        if error.__context__ is None or error.__context__ is cause:
            error.__context__ = failure  # so that the traceback tells of both
        raise type(failure)(record, reason, attempts) from error
    finally:
        if cause is not None:  # Many records may share it, and the handler has raised it.
            cause.__traceback__ = traceback
    if given is None:
        raise failure from cause
    try:
        return collect_results(record, given)
    except OperatorError as error:
        raise error.after(attempts) from error.__cause__


def _is_final(cause: BaseException | None) -> bool:
    return cause is not None and any(isinstance(each, FINAL) for each in causes(cause))


def call_failed(record: Record, error: Any) -> OperatorError:
    """Return the failure that a call of `record` has caused by raising or giving `error`.

    That is `error` itself if it names this very record already, as those of the helpers here do;
    else a CallFailed with `error` as its cause, or with a TypeError if `error` is no exception.
    """
    if isinstance(error, OperatorError) and error.record is record:
        return error
    if not isinstance(error, BaseException):
        error = TypeError(f"complete_exceptionally() takes an exception, got {shown(error)}")
    status = status_of(error)  # First, because the middle of a long text is cut.
    answered = "" if status is None else f"{one_line(type(error).__name__)} {status}: "
    failure = CallFailed(record, f"the call failed: {answered}{shown(error)}")
    failure.__cause__ = error
    return failure


def is_whole(value: Any) -> bool:
    """Say whether a value that can be iterated is one value: a text, or a tuple with names."""
    is_text = isinstance(value, str | bytes | bytearray | memoryview | UserString)
    return is_text or (isinstance(value, tuple) and hasattr(value, "_fields"))


def is_collection(returned: Any) -> bool:
    """Say whether a call may give `returned` as its results: it can be iterated, and is no text."""
    if is_whole(returned) or hasattr(type(returned), "__await__"):
        return False
    return isinstance(returned, Iterable) or hasattr(type(returned), "__getitem__")


def _no_collection(returned: Any) -> str:
    return (
        f"expected an iterable of results, got {shown(returned)} ({type(returned).__name__}); "
        "return [] for none and [result] for one"
    )


async def outcome_of(record: Record, returned: Any, scope: CallScope) -> Any:
    """Return what a call in coroutine form gives, with all that it has done to its task.

    One that has cancelled its own task, and awaited nothing since, ends by that: else whoever runs
    in that task next would.

    Args:
        record: for which the function was called.
        returned: what it returned.
        scope: in which it runs; what that cancels is not the call's own doing.

    Raises:
        BaseException: what the call raises; CallFailed where the function returned no awaitable.
    """
    try:
        result = await awaitable_of(record, returned)
    except BaseException:
        with suppress(asyncio.CancelledError):
            await raise_self_cancellation(scope)
        raise
    await raise_self_cancellation(scope)
    return result


async def raise_self_cancellation(scope: CallScope) -> None:
    """Raise the cancellation of its own task that a call has left behind, on asyncio.

    Args:
        scope: of the call, which has just ended in this task.

    Raises:
        asyncio.CancelledError: there is one.
    """
    task = None if running_trio() is not None else asyncio.current_task()
    # Until Python 3.13 one stays that was taken back before anything was awaited.
    is_due = task is not None and (task.cancelling() or getattr(task, "_must_cancel", False))
    if is_due and not scope.cancel_called:
        await asyncio.sleep(0)


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
        self._jitter = retry.jitter or 0.0
        self._longest = inf if retry.retry_after_cap is None else retry.retry_after_cap
        self._chance = Random(retry.seed)

    def after_failure(
        self, failure: OperatorError, attempts: int, left: float = inf
    ) -> float | None:
        """Return how many seconds to wait before the next attempt; None for no further attempt.

        Args:
            failure: what the operator would fail with.
            attempts: calls of that record so far.
            left: seconds until the deadline of the record, before which a back-off has to end
                (RETRY-19).

        Raises:
            CallFailed: the predicate, or `on_retry`, raised.
        """
        seconds = self._after_failure(failure, attempts)
        if seconds is None or not _ends_within(seconds, left):
            return None
        error = failure if failure.__cause__ is None else failure.__cause__
        return self._begin(failure.record, attempts, error, seconds)

    def _after_failure(self, failure: OperatorError, attempts: int) -> float | None:
        if attempts >= self._retry.max_attempts or isinstance(failure, InvalidResult):
            return None
        error = failure if failure.__cause__ is None else failure.__cause__
        if isinstance(error, CostMistold) or _is_final(error):
            return None  # The next call would end the same way.
        if not isinstance(error, RetryAfter):
            answer = self._answer(error, failure.record, attempts)
            if not isinstance(answer, RetryAfter):
                return self._wait(attempts) if answer else None
            error = answer
        seconds = _seconds_of(error, failure.record, attempts)
        if error.at_least:
            seconds = max(seconds, self._wait(attempts))
        return min(seconds, self._longest)

    def after_results(
        self, record: Record, results: tuple[Any, ...], attempts: int, left: float = inf
    ) -> float | None:
        """Return how many seconds to wait before the next attempt; None for no further attempt.

        Args:
            record: whose call gave them.
            results: as they were collected.
            attempts: calls of that record so far.
            left: see `after_failure`.

        Raises:
            CallFailed: the predicate, or `on_retry`, raised; or the predicate rejects the results,
                there is no further attempt, and `rejected` is "fail".
        """
        predicate, fails = self._retry.on_result, self._retry.rejected == "fail"
        is_last = attempts >= self._retry.max_attempts
        if predicate is None or (is_last and not fails):
            return None
        predicate = isolated(predicate, self.context)
        if not _asked("on_result", predicate, results, record, attempts):
            return None
        seconds, error = self._wait(attempts), ResultRejected(results)
        if not is_last and _ends_within(seconds, left):
            return self._begin(record, attempts, error, seconds)
        if fails:
            raise CallFailed(record, str(error)) from error
        return None

    def _answer(
        self, error: BaseException, record: Record | None, attempts: int
    ) -> bool | RetryAfter:
        predicate = isolated(self._retry.wants, self.context)
        return _asked("on_error", predicate, error, record, attempts)

    def _begin(
        self, record: Record | None, attempts: int, error: BaseException, seconds: float
    ) -> float:
        """Tell the log and `on_retry` of a back-off, and return it."""
        if LOG.isEnabledFor(logging.INFO):
            text = f"{record}: call {attempts} failed, a back-off of {seconds:.3g} s begins"
            LOG.info("%s: %s", text, shown(error))
        if self._retry.on_retry is not None:
            call = isolated(self._retry.on_retry, self.context)
            value = None if record is None else record.value
            try:
                settled("Retry.on_retry", call(value, attempts, error, seconds))
            except BaseException as broken:
                reraise_fatal(broken)
                # It is a hook: an operator that handled the failure would drop the record for it.
                wrong = WrongFunction(f"on_retry raised {shown(broken)}")
                wrong.__cause__ = broken
                raise CallFailed(record, str(wrong), attempts) from wrong
        return seconds

    def _wait(self, attempts: int) -> float:
        whole, jitter = self._retry.back_off(attempts), self._jitter
        return whole - whole * jitter * self._chance.random() if jitter else whole


def _ends_within(seconds: float, left: float) -> bool:
    """Tell whether a back-off ends before the deadline, until which seconds are left."""
    return seconds < left - _ROUNDING


def _seconds_of(error: RetryAfter, record: Record | None, attempts: int) -> float:
    """Return what a RetryAfter says, which may be of a class that forgets to."""
    seconds: Any = getattr(error, "seconds", None)
    if not is_number(seconds) or not seconds >= 0:
        reason = (
            f"there is a {type(error).__name__} whose `seconds` is {shown(seconds)}, expected a "
            "number >= 0; does its __init__ call super().__init__(seconds)?"
        )
        raise CallFailed(record, reason, attempts) from error
    return at_most_infinite(seconds)


def _asked(
    name: str, predicate: Callable[[Any], Any], outcome: Any, record: Record | None, attempts: int
) -> bool | RetryAfter:
    """Ask a predicate; what it raises is an error of the record, so that it is not lost."""
    try:
        answer = settled(f"Retry.{name}", predicate(outcome))
        if name == "on_error" and (isinstance(answer, type) or is_number(answer)):
            expected = "expected True, False or RetryAfter(seconds)"
            raise WrongFunction(f"{expected} from Retry.{name}, got {shown(answer)}")
        return answer if isinstance(answer, RetryAfter) else bool(answer)
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
