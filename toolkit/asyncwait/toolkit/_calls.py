"""Calls: their results and failures, batches, and the decision about a further attempt."""

import asyncio
import inspect
import logging
from collections import UserString
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
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
from asyncwait.toolkit._function import Results, WrongFunction, awaited, settled
from asyncwait.toolkit._loop import CallScope, isolated, read_whole, reraise_fatal, running_trio
from asyncwait.toolkit._transient import cause_or_self, causes, status_of

LOG = logging.getLogger("asyncwait")
"""Logger of back-offs (INFO), and of timeouts and failures that a handler may hide (WARNING)."""

LOG.addHandler(logging.NullHandler())

_ROUNDING = 1e-9
"""Tolerance of a difference of two readings of a clock, in seconds."""


class KeeperLost(AsyncWaitError):
    """The store of results is unusable: a further call might be paid for a second time."""


FINAL = (KeeperLost, WrongFunction)
"""Causes of failures that end the stream, whatever `retry` and failure handlers say."""


async def run_hook(hook: Callable[[], Any] | None) -> None:
    """Run `open` or `close`: a plain function, a coroutine function, or None."""
    if hook is not None:
        returned = hook()
        if inspect.isawaitable(returned):
            returned = await returned
        settled("open() or close()", returned)


def awaitable_of(record: Record, returned: Any) -> Awaitable[Results]:
    """Return the awaitable that a function in coroutine form returned.

    Raises:
        CallFailed: the function returned an object that can't be awaited.
    """
    try:
        return awaited(returned)
    except WrongFunction as error:
        raise call_failed(record, error) from error


def collect_results(record: Record, returned: Any) -> tuple[Any, ...]:
    """Read the results of `record` whole and once, before the first is emitted.

    Args:
        record: the input record.
        returned: answer of the call or of the timeout handler.

    Returns:
        The results in the order of the collection.

    Raises:
        InvalidResult: the answer is None, str, bytes, or can't be iterated.
        CallFailed: the collection raised while it was read.
    """
    kind = type(returned)
    if kind is tuple or kind is list:  # nearly always; the checks below take half a microsecond
        return tuple(returned)
    if not is_collection(returned):
        raise InvalidResult(record, _no_collection(returned))
    try:
        return read_whole(returned)
    except BaseException as error:
        reraise_fatal(error)
        # No await happens here, so even a CancelledError is the outcome of the call.
        failure = call_failed(record, error)
        raise failure from failure.__cause__


def results_at_deadline(
    record: Record,
    handler: Callable[[Any], Results | None] | None,
    timeout: float,
    last_error: BaseException | None = None,
) -> tuple[Any, ...]:
    """Call the timeout handler, once, for results of `record` in place of its call.

    Args:
        record: the input record, undecided at its deadline.
        handler: the function's `timeout`; None without a handler.
        timeout: the timeout in seconds, for the message.
        last_error: the error of the last attempt that has failed; None if no attempt has.

    Raises:
        CallTimedOut: the handler is None, returned None, or raised. The cause is the error of the
            handler, else `last_error` (TIME-4).
        InvalidResult: the handler returned another object that is not a collection of results.
        CallFailed: the handler's collection raised while it was read.
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
        late: text of the error.
        last_error: the error of the last attempt that has failed; None if no attempt has.
    """
    before = "" if last_error is None else f"; the attempt before failed: {shown(last_error)}"
    error = CallTimedOut(record, f"{late}{before}")
    error.__cause__ = last_error
    return error


def results_despite(failure: OperatorError, handler: FailureHandler | None) -> tuple[Any, ...]:
    """Call the failure handler, once, for results of a record in place of a failure.

    Args:
        failure: the operator's error without the handler; it has the record and the number of its
            attempts.
        handler: the function's `failure`; None without a handler.

    Raises:
        OperatorError: `failure` itself, if the handler is None, returned None, or raised `failure`
            or its cause, or if `failure` has a `FINAL` cause; an error of the same class, with
            another cause, if the handler raised another error.
        InvalidResult: the handler returned another object that is not a collection of results.
        CallFailed: the handler's collection raised while it was read.
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
            error.__context__ = failure  # so that the traceback shows both
        raise type(failure)(record, reason, attempts) from error
    finally:
        if cause is not None:  # Many records may share the cause, and the handler may raise it.
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
    """Return the failure of `record` whose call raised `error`, or was completed with it.

    Return `error` itself if it is an OperatorError of this very record; else a CallFailed with
    `error` as its cause, or with a TypeError if `error` is not an exception.
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
    """Return whether an iterable value is a single value: a text, or a named tuple."""
    is_text = isinstance(value, str | bytes | bytearray | memoryview | UserString)
    return is_text or (isinstance(value, tuple) and hasattr(value, "_fields"))


def is_collection(returned: Any) -> bool:
    """Return whether `returned` is valid as results of a call: iterable, and not a text."""
    if is_whole(returned) or hasattr(type(returned), "__await__"):
        return False
    return isinstance(returned, Iterable) or hasattr(type(returned), "__getitem__")


def _no_collection(returned: Any) -> str:
    return (
        f"expected an iterable of results, got {shown(returned)} ({type(returned).__name__}); "
        "return [] for none and [result] for one"
    )


async def outcome_of(record: Record, returned: Any, scope: CallScope) -> Any:
    """Return the answer of a call in coroutine form, or raise a cancellation of its own task.

    A call that has cancelled its own task, and awaited nothing since, ends by this cancellation;
    else the next call in that task would.

    Args:
        record: the record of the call.
        returned: the object that the function returned.
        scope: scope of the call; its own cancellations are not the call's.

    Raises:
        BaseException: the error of the call; CallFailed if the function returned no awaitable.
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
        scope: scope of the call, which has just ended in this task.

    Raises:
        asyncio.CancelledError: the call has left a cancellation behind.
    """
    task = None if running_trio() is not None else asyncio.current_task()
    # Until Python 3.13 a cancellation stays pending after `uncancel` without an await.
    is_due = task is not None and (task.cancelling() or getattr(task, "_must_cancel", False))
    if is_due and not scope.cancel_called:
        await asyncio.sleep(0)


class BackOffs:
    """Back-offs of one operator by its retry policy, with its own random numbers.

    The operator uses it on its loop.

    Args:
        retry: retry policy of the operator.

    Attributes:
        context: context in whose copies the predicates run; the context of construction, unless
            the operator sets another context.
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
            failure: the operator's error without a further attempt.
            attempts: calls of that record so far.
            left: seconds until the deadline of the record, before which a back-off has to end
                (RETRY-19).

        Raises:
            CallFailed: the predicate, or `on_retry`, raised.
        """
        seconds = self._after_failure(failure, attempts)
        if seconds is None or not _ends_within(seconds, left):
            return None
        return self._begin(failure.record, attempts, cause_or_self(failure), seconds)

    def _after_failure(self, failure: OperatorError, attempts: int) -> float | None:
        if attempts >= self._retry.max_attempts or isinstance(failure, InvalidResult):
            return None
        error = cause_or_self(failure)
        if isinstance(error, CostMistold) or _is_final(error):
            return None  # The next call would end the same way.
        if not isinstance(error, RetryAfter):
            predicate = isolated(self._retry.wants, self.context)
            answer = _asked("on_error", predicate, error, failure.record, attempts)
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
            record: the record of the call.
            results: the collected results.
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

    def _begin(
        self, record: Record | None, attempts: int, error: BaseException, seconds: float
    ) -> float:
        """Report a back-off to the log and to `on_retry`, and return its seconds."""
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
                # WrongFunction is final: a failure handler must not drop the record for a hook.
                wrong = WrongFunction(f"on_retry raised {shown(broken)}")
                wrong.__cause__ = broken
                raise CallFailed(record, str(wrong), attempts) from wrong
        return seconds

    def _wait(self, attempts: int) -> float:
        whole, jitter = self._retry.back_off(attempts), self._jitter
        return whole - whole * jitter * self._chance.random() if jitter else whole


def _ends_within(seconds: float, left: float) -> bool:
    return seconds < left - _ROUNDING


def _seconds_of(error: RetryAfter, record: Record | None, attempts: int) -> float:
    """Return the seconds of a RetryAfter; a subclass may have forgotten to set them."""
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
    """Call a predicate; its error becomes a failure of the record, so that it is not lost."""
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
    """Return the failure of an attempt that exceeds its time limit.

    Args:
        record: the record of the call.
        attempt_timeout: time limit in seconds.
    """
    error = TimeoutError(f"no results after {attempt_timeout:g} s")
    failure = CallFailed(record, f"the call failed: {shown(error)}")
    failure.__cause__ = error
    return failure


class NoAnswer(Exception):
    """A batched call gave no valid answer for one of its records; the text says what is wrong."""


def answers_of(values: Sequence[Any], returned: Any, *, single: bool = False) -> Sequence[Any]:
    """Return the answer of a batched call for each of its values, or an exception in its place.

    Args:
        values: values of the call, in another list than the function's argument.
        returned: a collection in the same order, or a mapping from values. A mapping with an answer
            for any other value is invalid as a whole (BAT-11).
        single: whether each answer is a single result, not a collection.

    Raises:
        WrongFunction: the call returned unfinished work.

    Returns:
        One answer for each value: an answer or an exception of the function, or a `NoAnswer`. The
        list belongs to the caller.
    """
    if isinstance(returned, Mapping):
        return _by_value(values, returned, single=single)
    if isinstance(returned, AbstractSet) or not is_collection(returned):  # A set is in no order.
        return _none(values, f"a list or a mapping, got {shown(settled('fn', returned))}")
    answers = read_whole(returned)
    if len(answers) != len(values):
        return _none(
            values, f"{len(values)} answers in the order of the values, got {len(answers)}"
        )
    return answers


def _by_value(values: Sequence[Any], answers: Mapping[Any, Any], *, single: bool) -> Sequence[Any]:
    try:
        asked = {value: type(value) for value in values}
    except TypeError as error:
        return _none(values, f"a list, as values can't be keys of a mapping ({error})")
    if any(asked[value] is not type(value) for value in values):
        return _none(values, "a list, as values are equal and of different types")
    foreign = next((key for key in answers if key not in asked), None)
    if len(answers) > len(asked) or foreign is not None:
        return _none(values, f"a mapping from its values alone, got one from {shown(foreign)}")
    missing = NoAnswer("expected an answer for each value of the batch, got none for this one")
    if single or len(asked) == len(values):
        return [answers.get(value, missing) for value in values]
    read = {value: _read_once(answers.get(value, missing)) for value in asked}
    return [read[value] for value in values]


def _read_once(answer: Any) -> Any:
    """Return an answer for several equal values in a form that can be read several times."""
    if not isinstance(answer, Iterator):
        return answer
    try:
        return read_whole(answer)
    except BaseException as error:
        reraise_fatal(error)
        return error


def _none(values: Sequence[Any], expected: str) -> Sequence[NoAnswer]:
    return [NoAnswer(f"expected {expected}")] * len(values)


def failure_of(record: Record, answer: BaseException) -> OperatorError:
    """Return the failure of a record whose answer in a batch is an exception."""
    if isinstance(answer, NoAnswer):
        return InvalidResult(record, str(answer))
    return call_failed(record, answer)
