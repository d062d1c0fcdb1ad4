"""PyFlink's operation, in a thread that feeds it as a worker does and receives its output."""

import pickle
from collections.abc import Callable, Iterable
from itertools import count
from types import SimpleNamespace
from typing import Any

from asyncwait.backends.flink._foreign import ForeignSide
from asyncwait.backends.flink._retries import deadline, milliseconds
from asyncwait.backends.flink._stage import Stage
from asyncwait.backends.pyflink._function import (
    CalledFunction,
    Failures,
    Held,
    Records,
    asked_within,
)
from asyncwait.backends.pyflink._load import operation
from asyncwait.spec import (
    Barrier,
    Element,
    InvalidResult,
    OperatorConfig,
    Record,
    Retry,
    Snapshot,
)


class PyFlinkSide(ForeignSide):
    """Makes the operation, and feeds it as a worker does, in a thread of its own."""

    def __init__(self, config: OperatorConfig, function: CalledFunction, stage: Stage) -> None:
        self._config, self._records = config, Records()
        super().__init__(stage, function, Failures(self._records, function).plain)
        self._operation: Any = None

    def begin(self) -> None:
        """Make the operation, and open it."""
        self._operation = made(self._config, self.function, self._emit)
        self._operation.open()

    def process(self, element: Element) -> None:
        """Process an element; for a barrier, wait until nothing is in flight (PY-10)."""
        if isinstance(element, Record):
            held = self._records.held(element)
            self._operation.process_element(held, (element.timestamp, _NO_WATERMARK, held))
        else:
            assert isinstance(element, Barrier | Snapshot)
            self._operation.finish()
            self.emit_snapshot(element, ())
            self._wait_for_room()

    def run_mails(self) -> None:
        """Do nothing, because PyFlink's operator has no mails."""

    def end_input(self) -> None:
        """Report the end of the input, and wait until everything has come out."""
        self._operation.finish()
        self._operation.close()
        self.is_finished = True

    # In any thread that emits results

    def _emit(self, held: Held, rows: Iterable[Any]) -> None:
        """Emit results, and wait until the consumer has taken them: they are in flight so long."""
        for row in rows:
            self.given.append(Record(row[2], row[0], held.record.key))
        self._wait_for_room()

    def _wait_for_room(self) -> None:
        self.stage.wait(lambda: not self.given)


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


def made(config: OperatorConfig, function: CalledFunction, emit: Emit) -> Any:
    """Return an `AsyncOperation`, as its worker in a cluster makes it."""
    described = _described(config, function)
    found = operation().AsyncOperation(_Serialized(described), None)
    found.set_output_processor(SimpleNamespace(process_outputs=emit))
    return found


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
        Time.milliseconds(deadline(config)),
        config.capacity,
        strategy(config.retry),
        AsyncFunctionDescriptor.OutputMode[config.mode.upper()],
    )


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
