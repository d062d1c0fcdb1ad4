"""FAIL: operators that fail wrongly."""

import asyncio
from collections.abc import Callable
from typing import Any

import anyio

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import (
    Call,
    CallRunner,
    End,
    Operator,
    Outcome,
    Output,
    Raised,
    RecordEntry,
)
from asyncwait.spec import Element, OperatorError, Record, call_failed


class ErrorWithoutItsRecord(Operator):
    """The exception of a call comes out as it is, and nobody learns for which record."""

    def _results_of(self, record: Record, outcome: Outcome) -> tuple[Any, ...]:
        if isinstance(outcome, Raised):
            raise outcome.error
        return super()._results_of(record, outcome)


class ErrorNamesTheNewestRecord(Operator):
    """An error names the record that was called last: a closure over the loop's variable."""

    async def _process_record(self, record: Record) -> None:
        await super()._process_record(record)
        self._newest = record

    def _results_of(self, record: Record, outcome: Outcome) -> tuple[Any, ...]:
        return super()._results_of(getattr(self, "_newest", record), outcome)


class FailureDoesNotWake(Output):
    """A failure waits until something else wakes the consumer: FLINK-6435."""

    def cut(self, error: BaseException | None) -> None:
        news, self._news = self._news, None
        super().cut(error)
        self._news = news


class FailureWaitsForItsTurn(Operator):
    """An error goes through the queue like a result, behind everything that came before it."""

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


class FailureWaitsForWhatIsReady(Operator):
    """The consumer gets everything that is finished before it gets the error."""

    def _fail(self, error: BaseException) -> None:
        self._output.finish(error)


class LastFailureWins(Operator):
    """Errors are kept in one place until the consumer looks, each over the one before: PyFlink."""

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


class StopAsyncIterationEndsTheStream(Operator):
    """A StopAsyncIteration of a call is passed on, and the consumer takes it for the end."""

    def _results_of(self, record: Record, outcome: Outcome) -> tuple[Any, ...]:
        if isinstance(outcome, Raised) and isinstance(outcome.error, StopAsyncIteration):
            raise outcome.error
        return super()._results_of(record, outcome)


class CallThatCancelsItselfVanishes(CallRunner):
    """A CancelledError of the call's own passes for the operator's cancellation of the call."""

    def _on_ended(self, call: Call, outcome: Outcome | None) -> None:
        if isinstance(outcome, Raised) and isinstance(outcome.error, asyncio.CancelledError):
            outcome = None
        super()._on_ended(call, outcome)


class FailureComesOnce(Output):
    """After its failure the stream seems to have ended well."""

    def _raise_end(self) -> None:
        try:
            super()._raise_end()
        finally:
            self._error = None


class SourceErrorOvertakes(Operator):
    """An error of the source ends the stream at once, whatever was read before it."""

    def _on_end(self, end: End) -> None:
        super()._on_end(end)
        if end.error is not None:
            self._fail(end.error)


class MailAfterTheEndIsAnError(Operator):
    """What still happens when the mailbox is closed fails the operator: FLINK-24846."""

    def _post(self, run: Callable[[], object]) -> None:
        self._own.execute(run)


class FailureIsAGroup(Operator):
    """The end is waited for in a task group, which wraps whatever fails meanwhile."""

    async def _drain(self) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(super()._drain)


class ErrorWithoutItsCause(Operator):
    """An error says what failed in words; the user's own exception and its traceback are lost."""

    def _results_of(self, record: Record, outcome: Outcome) -> tuple[Any, ...]:
        if isinstance(outcome, Raised):
            raise call_failed(record, outcome.error) from None
        return super()._results_of(record, outcome)


FAULTY: tuple[Faulty, ...] = (
    Faulty(ErrorWithoutItsRecord, rule="FAIL-1"),
    Faulty(ErrorNamesTheNewestRecord, rule="FAIL-1"),
    Faulty(FailureDoesNotWake, rule="FAIL-2"),
    Faulty(FailureWaitsForItsTurn, rule="FAIL-2"),
    Faulty(FailureWaitsForWhatIsReady, rule="FAIL-3"),
    Faulty(LastFailureWins, rule="FAIL-4"),
    Faulty(StopAsyncIterationEndsTheStream, rule="FAIL-5"),
    Faulty(CallThatCancelsItselfVanishes, rule="FAIL-5"),
    Faulty(FailureComesOnce, rule="FAIL-6"),
    Faulty(SourceErrorOvertakes, rule="FAIL-7"),
    Faulty(MailAfterTheEndIsAnError, rule="FAIL-8"),
    Faulty(FailureIsAGroup, rule="FAIL-9"),
    Faulty(ErrorWithoutItsCause, rule="FAIL-10"),
)
