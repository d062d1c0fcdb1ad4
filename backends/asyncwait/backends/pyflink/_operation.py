"""PyFlink's operation itself, with this package's worker around it, in threads of the stage."""

import pickle
from collections.abc import Callable, Iterable
from itertools import count
from types import SimpleNamespace
from typing import Any

from asyncwait.backends.flink._retries import NEVER, milliseconds
from asyncwait.backends.pyflink._function import CalledFunction, Held, asked_within
from asyncwait.backends.pyflink._load import operation
from asyncwait.spec import InvalidResult, OperatorConfig, Retry


def strategy(retry: Retry | None) -> Any:
    """Return PyFlink's own strategy for `retry`; it counts repetitions (RT-3)."""
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
    """Return a strategy without back-offs, which PyFlink's own constructor refuses."""
    from pyflink.datastream.async_retry_strategies import FixedDelayRetryStrategy

    made = FixedDelayRetryStrategy(repetitions, 1, *predicates)
    made._backoff_time_millis = 0  # noqa: SLF001 - the constructor refuses 0
    return made


def _on_error(retry: Retry) -> Callable[[BaseException], bool]:
    return lambda error: (
        not isinstance(error, InvalidResult) and bool(asked_within(lambda: retry.wants(error)))
    )


def _on_result(retry: Retry) -> Callable[[list[Any]], bool] | None:
    if (refuses := retry.on_result) is None:
        return None
    return lambda results: bool(asked_within(lambda: refuses(tuple(results))))


Emit = Callable[[Held, Iterable[Any]], object]
"""Emits the results of a record; each row has its timestamp, a watermark and the result."""

_NO_WATERMARK = -(1 << 63)


class Output:
    """PyFlink's output processor."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit

    def process_outputs(self, windowed_value: Held, rows: Iterable[Any]) -> None:
        """Emit the results of one record."""
        self._emit(windowed_value, rows)


def made(config: OperatorConfig, function: CalledFunction, emit: Emit) -> Any:
    """Return an `AsyncOperation`, as its worker in a cluster makes it."""
    described = _described(config, function)
    found = operation().AsyncOperation(_Serialized(described), None)
    found.set_output_processor(Output(emit))
    return found


def process(made: Any, held: Held) -> None:
    """Have an operation process a record."""
    made.process_element(held, (held.record.timestamp, _NO_WATERMARK, held))


def _described(config: OperatorConfig, function: CalledFunction) -> Any:
    from pyflink.common import Time
    from pyflink.datastream.functions import AsyncFunction, AsyncFunctionDescriptor

    class Function(AsyncFunction):  # type: ignore[misc]  # PyFlink has no types
        async def async_invoke(self, value: Held) -> Any:
            return await function.invoke(value)

        def timeout(self, value: Held) -> Any:
            return function.time_out(value, super().timeout)

    return AsyncFunctionDescriptor(
        Function(),
        Time.milliseconds(_timeout(config)),
        config.capacity,
        strategy(config.retry),
        AsyncFunctionDescriptor.OutputMode[config.mode.upper()],
    )


def _timeout(config: OperatorConfig) -> int:
    """Return the milliseconds to a deadline; 0 for none, but retries require a deadline."""
    if config.timeout is not None:
        return milliseconds(config.timeout)
    return 0 if config.retry is None else NEVER


_sent: dict[int, Any] = {}
_numbers = count()


class _Sent:
    """Is pickled as a number, because the functions stay in this process."""

    def __init__(self, thing: Any) -> None:
        self._number = next(_numbers)
        _sent[self._number] = thing

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (self._number,)


def _received(number: int) -> Any:
    return _sent.pop(number)


class _Serialized:
    """A function as a cluster sends it to a worker."""

    metric_enabled = False
    runtime_context = SimpleNamespace(
        task_name="asyncwait",
        task_name_with_subtasks="asyncwait (1/1)",
        number_of_parallel_subtasks=1,
        max_number_of_parallel_subtasks=1,
        index_of_this_subtask=0,
        attempt_number=0,
        job_parameters=(),
        in_batch_execution_mode=False,
    )

    def __init__(self, described: Any) -> None:
        self.payload = pickle.dumps(_Sent(described))
