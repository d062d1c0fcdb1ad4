"""RETRY: operators that get retries wrong."""

import math
from functools import partial
from typing import Any

from msgspec.structs import replace

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import (
    AsyncWaitOperator,
    Attempt,
    CancelledCalls,
    End,
    Outcome,
    ResultHandler,
    StreamTask,
    Watch,
)
from asyncwait.spec import (
    CallFailed,
    Element,
    OperatorConfig,
    OperatorError,
    RetryAfter,
    TooManyAbandonedCalls,
)
from asyncwait.toolkit import BackOffs, call_failed


class _KnowsWhoBacksOff(AsyncWaitOperator):
    """Repeats calls whose back-off is over when the next element comes."""

    due: tuple[ResultHandler, ...] = ()

    def process(self, element: Element) -> None:
        super().process(element)
        due, self.due = self.due, ()
        for handler in due:
            ResultHandler.on_pause_over(handler)


@breaks("RETRY-1", _KnowsWhoBacksOff)
class RepeatsWhenTheNextElementComes(ResultHandler):
    """Checks only when an element comes whether a back-off is over."""

    operator: _KnowsWhoBacksOff  # pyright: ignore[reportIncompatibleVariableOverride]

    def on_pause_over(self) -> None:
        self.operator.due += (self,)


@breaks("RETRY-2")
class CountsRepetitionsAsAttempts(AsyncWaitOperator):
    """Counts the limit in repetitions, and makes one call too many: Flink's RT-3."""

    def __init__(self, config: OperatorConfig, *args: Any, **others: Any) -> None:
        super().__init__(config, *args, **others)
        if config.retry is not None:
            most = config.retry.max_attempts + 1
            self.back_offs = BackOffs(replace(config.retry, max_attempts=most))


@breaks("RETRY-3")
class BeginsAnewForAll(ResultHandler):
    """Shares one back-off among all records; each first failure resets it: Flink's RT-5."""

    def pause_after_failure(self, failure: OperatorError, left: float) -> float | None:
        pause, retry = super().pause_after_failure(failure, left), self.operator.config.retry
        level = 1 if self.attempts == 1 else vars(self.operator)["level"] + 1
        vars(self.operator)["level"] = level
        if pause is None or retry is None or pause > retry.back_off(self.attempts):
            return pause  # What the service asks for stays as it is.
        return min(pause, retry.back_off(level))


@breaks("RETRY-4")
class NeverBeginsAnew(ResultHandler):
    """Shares one back-off among all records, and never resets it: FLINK-33698."""

    def pause_after_failure(self, failure: OperatorError, left: float) -> float | None:
        pause, retry = super().pause_after_failure(failure, left), self.operator.config.retry
        vars(self.operator)["level"] = level = vars(self.operator).get("level", 0) + 1
        return pause if pause is None or retry is None else max(pause, retry.back_off(level))


@breaks("RETRY-4")
class LetsTheFirstBackOffPassTheCap(ResultHandler):
    """Does not cap the initial back-off: Flink's RT-6."""

    def pause_after_failure(self, failure: OperatorError, left: float) -> float | None:
        pause, retry = super().pause_after_failure(failure, left), self.operator.config.retry
        if retry is None or self.attempts != 1 or pause != retry.back_off(1):
            return pause  # What the service asks for stays as it is.
        return retry.initial


@breaks("RETRY-12")
class CountsLimitsInThirtyTwoBits(AsyncWaitOperator):
    """Counts `attempt_timeout` in milliseconds of 32 bits, so months are over at once."""

    def __init__(self, config: OperatorConfig, *args: Any, **others: Any) -> None:
        if config.retry is not None and config.retry.attempt_timeout is not None:
            limit = max(1, round(1000 * config.retry.attempt_timeout) % 2**32) / 1000
            config = replace(config, retry=replace(config.retry, attempt_timeout=limit))
        super().__init__(config, *args, **others)


@breaks("RETRY-5")
class TakesRetryAfterForAnyError(ResultHandler):
    """Ignores the time that a RetryAfter error asks for."""

    def pause_after_failure(self, failure: OperatorError, left: float) -> float | None:
        if isinstance(failure.__cause__, RetryAfter):
            failure = call_failed(self.record, ValueError("come again"))
        return super().pause_after_failure(failure, left)


@breaks("RETRY-5")
class TakesTellingForYes(ResultHandler):
    """Ignores the time that `on_error` returns, and backs off as usual."""

    def pause_after_failure(self, failure: OperatorError, left: float) -> float | None:
        pause, retry = super().pause_after_failure(failure, left), self.operator.config.retry
        if pause is None or retry is None or isinstance(failure.__cause__, RetryAfter):
            return pause
        return retry.back_off(self.attempts)


@breaks("RETRY-6", behind="RETRY-19", why="its back-offs may end after the deadline, too")
class RepeatsWhateverFails(ResultHandler):
    """Repeats every failed call, whatever the retry predicates say."""

    def pause_after_failure(self, failure: OperatorError, left: float) -> float | None:
        pause, retry = super().pause_after_failure(failure, left), self.operator.config.retry
        if pause is None and retry is not None and self.attempts < retry.max_attempts:
            return retry.back_off(self.attempts)
        return pause


@breaks("RETRY-7")
class TellsNoAttempts(ResultHandler):
    """Fails with the last error, without the number of attempts."""

    def conclude_failure(self, failure: OperatorError, at: float) -> None:
        try:
            super().conclude_failure(failure, at)
        except OperatorError as error:
            raise type(error)(error.record, error.reason) from error.__cause__


@breaks("ELEM-3")
class HandsOneHandleToAllAttempts(Attempt):
    """Accepts the outcome of an older attempt as the present attempt's: Flink's RT-10."""

    def on_outcome(self, outcome: Outcome) -> None:
        self.handler.on_outcome(outcome)


@breaks("RETRY-10")
class CallsAgainWhileItsCallEnds(ResultHandler):
    """Calls again after the back-off although the last call still cleans up."""

    def on_pause_over(self) -> None:
        self.attempt = None
        super().on_pause_over()


@breaks("TIME-9")
class FailsOneCallTooLate(CancelledCalls):
    """Lets one more call begin before it checks the number of abandoned calls."""

    def on_overdue(self, watch: Watch) -> None:
        try:
            super().on_overdue(watch)
        except TooManyAbandonedCalls as error:
            self.timers.register(self.timers.now() + 0.001, partial(self.fail, error))

    def fail(self, error: TooManyAbandonedCalls) -> None:
        """Raise the error when the timer fires."""
        raise error


@breaks("RETRY-18", behind="RETRY-19", why="its back-off outlasts the deadline first")
class BacksOffBeyondTheDeadline(ResultHandler):
    """Decides a record at its deadline, and calls it again all the same: FLINK-30477."""

    def pause_after_failure(self, failure: OperatorError, left: float) -> float | None:
        del left
        return super().pause_after_failure(failure, math.inf)

    def cancel_deadline(self) -> None:
        self.pause = None
        super().cancel_deadline()

    def on_pause_over(self) -> None:
        self.due = math.inf
        self.start()

    def conclude(self, outcome: Outcome) -> None:
        if not self.is_decided:
            super().conclude(outcome)


@breaks("RETRY-18")
class RepeatsAfterTheHandler(ResultHandler):
    """Treats the error of a timeout handler as a reason for another attempt: FLINK-38082."""

    def on_deadline(self) -> None:
        try:
            super().on_deadline()
        except OperatorError as failure:
            due, self.due = self.due, math.inf
            self.conclude_failure(failure, due)


@breaks("RETRY-19")
class WaitsOutHopelessBackOffs(ResultHandler):
    """Lets a record back off until its deadline: Flink's RT-13."""

    def pause_after_failure(self, failure: OperatorError, left: float) -> float | None:
        del left
        return super().pause_after_failure(failure, math.inf)


@breaks("RETRY-12")
class LetsLongAttemptsRunOn(Attempt):
    """Fails an attempt at its limit, and leaves its call running."""

    def on_limit(self, due: float) -> None:
        self.scope, scope = None, self.scope
        try:
            super().on_limit(due)
        finally:
            self.scope = scope


@breaks("RETRY-13")
class SwallowsErrorsOfPredicates(ResultHandler):
    """Drops the error of a predicate, and leaves the record undecided: Flink's RT-17."""

    def conclude(self, outcome: Outcome) -> None:
        try:
            super().conclude(outcome)
        except CallFailed as failure:
            if not failure.reason.startswith("on_"):
                raise


@breaks("RETRY-1")
class StopsRepeatingAtTheEndOfInput(ResultHandler):
    """Treats every outcome as final once the input has ended: Flink's EI-4."""

    def pause_after_failure(self, failure: OperatorError, left: float) -> float | None:
        task = self.operator.output.task
        assert isinstance(task, StreamTask)
        if task.end is not None:
            return None
        return super().pause_after_failure(failure, left)


@breaks("RETRY-3")
class HurriesAtTheEndOfInput(StreamTask):
    """Ends all back-offs at once when the input ends: Flink's EI-5."""

    def on_end(self, end: End) -> None:
        super().on_end(end)
        for timer in list(self.timers.timers):
            if getattr(timer.callback, "__name__", "") == "on_pause_over":
                self.timers.cancel(timer)
                self.post(timer.callback)


@breaks("RETRY-1")
class NeverRepeatsWhatRaisesAtOnce(Attempt):
    """Does not repeat a function that raises before it waits: Flink's RT-18."""

    async def invoke(self) -> Outcome:
        began = self.operator.clock()
        try:
            return await super().invoke()
        except Exception:  # any error of the call; it is not repeated
            if self.operator.clock() == began:
                self.operator.back_offs = None
            raise
