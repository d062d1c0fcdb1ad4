"""FAIL: operators that fail wrongly."""

import asyncio
from collections.abc import Callable
from typing import Any

import anyio

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import (
    Call,
    CallRunner,
    Completion,
    End,
    Operator,
    Outcome,
    Output,
    Raised,
    RecordEntry,
)
from asyncwait.spec import Element, OperatorError, Record, call_failed


class FailsWithoutNamingTheRecord(Operator):
    """Raises the exception of a call as it is, and nobody learns for which record."""

    def _results_of(self, record: Record, outcome: Outcome) -> tuple[Any, ...]:
        if isinstance(outcome, Raised) and isinstance(outcome.error, Exception):
            raise outcome.error
        return super()._results_of(record, outcome)


class BlamesTheNewestRecord(Operator):
    """Names the record that was called last, as a closure over a loop's variable does."""

    async def _process_record(self, record: Record) -> None:
        await super()._process_record(record)
        self._newest = record

    def _results_of(self, record: Record, outcome: Outcome) -> tuple[Any, ...]:
        return super()._results_of(getattr(self, "_newest", record), outcome)


class FailsWithoutWakingTheConsumer(Output):
    """Fails, and tells the consumer when something else wakes it: FLINK-6435."""

    def cut(self, error: BaseException | None) -> None:
        news, self._news = self._news, None
        super().cut(error)
        self._news = news


class LetsFailuresWaitForTheirTurn(Operator):
    """Sends an error through the queue like a result, behind everything that came before it."""

    class Queued(Output):
        def _next(self) -> Element | None:
            element = super()._next()
            if isinstance(element, Record) and isinstance(element.value, OperatorError):
                self.cut(element.value)
                self._raise_end()
            return element

    output_class = Queued

    def _on_outcome(self, entry: RecordEntry, outcome: Outcome) -> None:
        try:
            super()._on_outcome(entry, outcome)
        except OperatorError as error:
            self._decide(entry, (error,))


class EmitsWhatIsReadyAfterAFailure(Operator):
    """Gives the consumer everything that is finished before it gives the error."""

    def _fail(self, error: BaseException) -> None:
        self._output.finish(error)


class KeepsTheLastFailure(Operator):
    """Keeps one error for the consumer, the last to be stored, as PyFlink does."""

    class Place(Output):
        def cut(self, error: BaseException | None) -> None:
            self._error = error or self._error
            super().cut(error)

    output_class = Place

    def _on_outcome(self, entry: RecordEntry, outcome: Outcome) -> None:
        try:
            super()._on_outcome(entry, outcome)
        except OperatorError as error:
            self._output.cut(error)


class TakesStopAsyncIterationForTheEnd(Operator):
    """Lets a StopAsyncIteration of a call through to the consumer, for whom it is the end."""

    def _results_of(self, record: Record, outcome: Outcome) -> tuple[Any, ...]:
        if isinstance(outcome, Raised) and isinstance(outcome.error, StopAsyncIteration):
            raise outcome.error
        return super()._results_of(record, outcome)


class LosesCallsThatCancelThemselves(CallRunner):
    """Takes a CancelledError of the call's own for a cancellation by the operator."""

    def _on_ended(self, call: Call, outcome: Outcome | None) -> None:
        if isinstance(outcome, Raised) and isinstance(outcome.error, asyncio.CancelledError):
            outcome = None
        super()._on_ended(call, outcome)


class FailsOnceOnly(Output):
    """Raises its failure once; after that the stream seems to have ended well."""

    def _raise_end(self) -> None:
        try:
            super()._raise_end()
        finally:
            self._error = None


class LetsSourceErrorsOvertake(Operator):
    """Ends at once when the source raises, whatever was read before."""

    def _on_end(self, end: End) -> None:
        super()._on_end(end)
        if end.error is not None:
            self._fail(end.error)


class FailsOnMailAfterTheEnd(Operator):
    """Fails if anything still happens when its mailbox is closed: FLINK-24846."""

    def _post(self, run: Callable[[], object]) -> None:
        self._own.execute(run)


class FailsWithAGroup(Operator):
    """Waits for the end in a task group, which wraps whatever fails meanwhile."""

    async def _drain(self) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(super()._drain)


class DropsTheCause(Operator):
    """Says in words what failed, and loses the user's own exception and its traceback."""

    def _results_of(self, record: Record, outcome: Outcome) -> tuple[Any, ...]:
        if isinstance(outcome, Raised):
            raise call_failed(record, outcome.error) from None
        return super()._results_of(record, outcome)


class TakesInterruptionsForErrors(CallRunner):
    """Takes a KeyboardInterrupt for an error of the call that it interrupts."""

    async def _invoke(self, call: Call) -> Outcome:
        try:
            return await super()._invoke(call)
        except (KeyboardInterrupt, SystemExit) as error:
            return Raised(error, self._timers.now())


class ForgetsWhatIsRaisedAfterCompletion(CallRunner):
    """Takes a function that has completed its record for one that has done its work."""

    def _start_callback(self, entry: RecordEntry, invoke: Callable[..., None]) -> None:
        completion = Completion(entry, self._timers.now, self._post, self._on_outcome)
        self._on_call(entry)
        try:
            invoke(entry.element.value, completion)
        except Exception as error:
            completion.complete_exceptionally(error)


FAULTY: tuple[Faulty, ...] = (
    Faulty(FailsWithoutNamingTheRecord, rule="FAIL-1"),
    Faulty(BlamesTheNewestRecord, rule="FAIL-1"),
    Faulty(FailsWithoutWakingTheConsumer, rule="FAIL-2"),
    Faulty(LetsFailuresWaitForTheirTurn, rule="FAIL-2"),
    Faulty(EmitsWhatIsReadyAfterAFailure, rule="FAIL-3"),
    Faulty(KeepsTheLastFailure, rule="FAIL-4"),
    Faulty(TakesStopAsyncIterationForTheEnd, rule="FAIL-5"),
    Faulty(LosesCallsThatCancelThemselves, rule="FAIL-5"),
    Faulty(FailsOnceOnly, rule="FAIL-6"),
    Faulty(LetsSourceErrorsOvertake, rule="FAIL-7"),
    Faulty(FailsOnMailAfterTheEnd, rule="FAIL-8"),
    Faulty(FailsWithAGroup, rule="FAIL-9"),
    Faulty(DropsTheCause, rule="FAIL-10"),
    Faulty(TakesInterruptionsForErrors, rule="FAIL-11"),
    Faulty(ForgetsWhatIsRaisedAfterCompletion, rule="FAIL-1"),
)
