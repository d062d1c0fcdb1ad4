"""`Retry` in PyFlink's words: one of its own two strategies, and predicates."""

from collections.abc import Callable
from typing import Any

from asyncwait.backends.flink._retries import milliseconds
from asyncwait.backends.pyflink._function import asked_within
from asyncwait.spec import InvalidResult, Retry


def strategy(retry: Retry | None) -> Any:
    """Return PyFlink's own strategy that says what `retry` does; it counts repetitions (RT-3)."""
    from pyflink.datastream.functions import AsyncRetryStrategy

    if retry is None or retry.max_attempts == 1:
        return AsyncRetryStrategy.no_restart()
    repetitions, predicates = retry.max_attempts - 1, (_on_result(retry), _on_error(retry))
    initial = milliseconds(min(retry.initial, retry.cap))
    if not initial:
        return _at_once(repetitions, predicates)
    if retry.multiplier == 1 or repetitions <= 1:
        return AsyncRetryStrategy.fixed_delay(repetitions, initial, *predicates)
    cap, multiplier = milliseconds(retry.cap), float(retry.multiplier)
    return AsyncRetryStrategy.exponential_backoff(
        repetitions, initial, cap, multiplier, *predicates
    )


def _at_once(repetitions: int, predicates: tuple[Any, Any]) -> Any:
    """Return a strategy without back-offs: PyFlink's own must have some."""
    from pyflink.datastream.async_retry_strategies import FixedDelayRetryStrategy

    made = FixedDelayRetryStrategy(repetitions, 1, *predicates)
    made._backoff_time_millis = 0  # noqa: SLF001 - what it would be constructed with
    return made


def _on_error(retry: Retry) -> Callable[[BaseException], bool]:
    wanted = retry.on_error
    if isinstance(wanted, type | tuple):
        return lambda error: not isinstance(error, InvalidResult) and isinstance(error, wanted)
    return lambda error: (
        not isinstance(error, InvalidResult) and bool(asked_within(lambda: wanted(error)))
    )


def _on_result(retry: Retry) -> Callable[[list[Any]], bool] | None:
    if (refuses := retry.on_result) is None:
        return None
    return lambda results: bool(asked_within(lambda: refuses(tuple(results))))
