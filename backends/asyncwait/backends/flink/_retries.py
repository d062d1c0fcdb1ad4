"""`Retry` as one of Flink's two retry strategies, with its predicates."""

import math
from collections.abc import Callable
from contextvars import Context
from typing import Any

from asyncwait.backends.flink._jvm import flink
from asyncwait.backends.flink._stage import Stage
from asyncwait.backends.flink._values import Tokens
from asyncwait.spec import InvalidConfig, InvalidResult, OperatorConfig, Retry

MAX_LONG = 2**63 - 1
MAX_INT = 2**31 - 1

NEVER = 2**61
"""Milliseconds from which on a timer is never set."""


def milliseconds(seconds: float) -> int:
    """Return `seconds` in Flink's unit: whole milliseconds, at most `MAX_LONG`."""
    return MAX_LONG if seconds * 1000 > MAX_LONG else math.ceil(round(seconds * 1000, 6))


def deadline(config: OperatorConfig) -> int:
    """Return the milliseconds to a deadline; 0 for none, except with retries (VA-4, PY-11)."""
    if config.timeout is not None:
        return milliseconds(config.timeout)
    return 0 if config.retry is None else NEVER


def require_sayable(retry: Retry | None) -> None:
    """Refuse options of `retry` that Flink does not have.

    Raises:
        InvalidConfig: `retry` has jitter, a limit for each attempt, or another such option.
    """
    if retry is None:
        return
    for name in ("retry_after_cap", "on_retry"):
        if (value := getattr(retry, name)) is not None:
            raise InvalidConfig.of(f"retry.{name}", value, "None: Flink's strategies have none")
    if retry.rejected == "fail":
        raise InvalidConfig.of("retry.rejected", "fail", "None: Flink lets such results out")
    if retry.jitter:
        raise InvalidConfig.of("retry.jitter", retry.jitter, "0: Flink's strategies have none")
    if retry.attempt_timeout is not None:
        expected = "None: Flink has one deadline for all attempts"
        raise InvalidConfig.of("retry.attempt_timeout", retry.attempt_timeout, expected)


def strategy(
    retry: Retry,
    stage: Stage,
    tokens: Tokens,
    error_of: Callable[[Any], BaseException],
    context: Context,
) -> Any:
    """Return Flink's own strategy for `retry` (RT-3: it counts repetitions)."""
    strategies = "streaming.util.retryable.AsyncRetryStrategies"
    repetitions = min(retry.max_attempts - 1, MAX_INT)
    initial = milliseconds(min(retry.initial, retry.cap))
    if retry.multiplier == 1 or repetitions <= 1:
        builder = flink(f"{strategies}$FixedDelayRetryStrategyBuilder")(repetitions, initial)
    else:
        cap = milliseconds(retry.cap)
        exponential = flink(f"{strategies}$ExponentialBackoffDelayRetryStrategyBuilder")
        builder = exponential(repetitions, initial, cap, float(retry.multiplier))

    def is_reason(thrown: Any) -> bool:
        error = error_of(thrown)
        return not isinstance(error, InvalidResult) and bool(stage.ask(lambda: wants(error)))

    wants = _within(context, retry.wants)
    builder.ifException(_java_predicate(tokens, is_reason))
    if (refuses := retry.on_result) is not None:
        asked = _within(context, refuses)

        def is_refused(given: Any) -> bool:
            return bool(stage.ask(lambda: asked(tuple(given.given))))

        builder.ifResult(_java_predicate(tokens, is_refused))
    return builder.build()


def _within(context: Context, predicate: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a predicate that runs in a copy of `context`: variables that it sets are not kept."""
    return lambda thing: context.copy().run(predicate, thing)


def _java_predicate(tokens: Tokens, test: Callable[[Any], bool]) -> Any:
    from jpype import JProxy

    return JProxy("java.util.function.Predicate", dict={"test": tokens.through_java(test)})


def no_retry() -> Any:
    """Return Flink's strategy without retries."""
    return flink("streaming.util.retryable.AsyncRetryStrategies").NO_RETRY_STRATEGY
