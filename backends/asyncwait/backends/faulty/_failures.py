"""FAIL: operators that fail wrongly."""

import asyncio
import copy
import heapq
import pickle
from collections.abc import Callable
from typing import Any

import anyio

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import (
    Call,
    CallRunner,
    Completion,
    End,
    Entry,
    Operator,
    Outcome,
    Output,
    Raised,
    RecordEntry,
)
from asyncwait.spec import CallTimedOut, Element, OperatorError, Record, call_failed


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
        self._begin(entry)
        try:
            invoke(entry.element.value, completion)
        except Exception as error:
            completion.complete_exceptionally(error)


class BlamesAnEqualRecord(Operator):
    """Looks up by its value which record a call was for, and finds the first that is equal."""

    def _results_of(self, record: Record, outcome: Outcome) -> tuple[Any, ...]:
        waiting = (e for e in self._queue.elements() if isinstance(e, Record))
        found = next((e for e in waiting if e.value == record.value), record)
        return super()._results_of(found, outcome)


class FailsWhenAllHasCleanedUp(Operator):
    """Tells its failure when the group of its calls is left, whose clean-up may take long."""

    _failure: BaseException | None = None

    def _fail(self, error: BaseException) -> None:
        self._failure = error

    async def _run(self) -> None:
        await super()._run()
        if self._failure is not None:
            super()._fail(self._failure)


class FinishesTheRecordAtHand(Output):
    """Puts out the rest of a record that was taken in part, although the operator has failed."""

    async def take(self) -> Element:
        if self._cut and self._error is not None and self._begun is not None:
            element = self._next_of(self._begun)
            if element is not None:
                return element
        return await super().take()


class SendsErrorsAsPickles(Operator):
    """Pickles the error of a call, as it would to send it on, and fails with what that raises."""

    def _results_of(self, record: Record, outcome: Outcome) -> tuple[Any, ...]:
        if isinstance(outcome, Raised):
            pickle.dumps(outcome.error)
        return super()._results_of(record, outcome)


class RaisesACopyEachTime(Output):
    """Makes the error anew for each read that has to raise it."""

    def _raise_end(self) -> None:
        self._told = True
        raise StopAsyncIteration if self._error is None else copy.copy(self._error)


class WrapsErrorsOfTheSource(Operator):
    """Raises an error of its own for one of the source, which is only the cause."""

    def _on_end(self, end: End) -> None:
        if end.error is not None:
            wrapped = RuntimeError("the source failed")
            wrapped.__cause__ = end.error
            end = End(wrapped)
        super()._on_end(end)


class KeepsABookByValue(Operator):
    """Files what is in flight under its value, and fails where a value can't be hashed."""

    def _admit(self, entry: Entry) -> None:
        super()._admit(entry)
        if isinstance(entry, RecordEntry):
            self._book = {**getattr(self, "_book", {}), entry.element.value: entry}

    def _free_slot(self, entry: Entry) -> None:
        super()._free_slot(entry)
        if isinstance(entry, RecordEntry):
            self._book.pop(entry.element.value, None)


class ComparesWhatIsDueTogether(Operator):
    """Keeps a heap of times and values: where two times are equal, the values are compared."""

    async def _process_record(self, record: Record) -> None:
        await self._wait_for_room()
        self._heap: list[tuple[float, Any]] = getattr(self, "_heap", [])
        heapq.heappush(self._heap, (self._timers.now(), record.value))
        await super()._process_record(record)


class SkipsCloseWhenInterrupted(Operator):
    """Lets a KeyboardInterrupt pass at once, and with it the `close` of the function."""

    async def _end_tasks(self) -> BaseException | None:
        reason = await super()._end_tasks()
        if isinstance(reason, KeyboardInterrupt | SystemExit):
            raise reason
        return reason


class TakesExitsOfHandlersForTimeouts(Operator):
    """Takes whatever a handler raises for a handler without results, a SystemExit too."""

    def _results_at_deadline(self, record: Record) -> tuple[Any, ...]:
        try:
            return super()._results_at_deadline(record)
        except (KeyboardInterrupt, SystemExit) as error:
            raise CallTimedOut(record, "the handler raised") from error


class RetellsTheCause(Operator):
    """Makes an error of its own of what a call has raised, in the same words."""

    def _results_of(self, record: Record, outcome: Outcome) -> tuple[Any, ...]:
        if isinstance(outcome, Raised):
            raise call_failed(record, RuntimeError(str(outcome.error)))
        return super()._results_of(record, outcome)


FAULTY: tuple[Faulty, ...] = (
    Faulty(FailsWithoutNamingTheRecord, rule="FAIL-1"),
    Faulty(BlamesTheNewestRecord, rule="FAIL-1"),
    Faulty(ForgetsWhatIsRaisedAfterCompletion, rule="FAIL-1"),
    Faulty(BlamesAnEqualRecord, rule="FAIL-1"),
    Faulty(FailsWithoutWakingTheConsumer, rule="FAIL-2"),
    Faulty(LetsFailuresWaitForTheirTurn, rule="FAIL-2"),
    Faulty(FailsWhenAllHasCleanedUp, rule="FAIL-2"),
    Faulty(EmitsWhatIsReadyAfterAFailure, rule="FAIL-3"),
    Faulty(FinishesTheRecordAtHand, rule="FAIL-3"),
    Faulty(KeepsTheLastFailure, rule="FAIL-4"),
    Faulty(TakesStopAsyncIterationForTheEnd, rule="FAIL-5"),
    Faulty(LosesCallsThatCancelThemselves, rule="FAIL-5"),
    Faulty(SendsErrorsAsPickles, rule="FAIL-5"),
    Faulty(FailsOnceOnly, rule="FAIL-6"),
    Faulty(RaisesACopyEachTime, rule="FAIL-6"),
    Faulty(LetsSourceErrorsOvertake, rule="FAIL-7"),
    Faulty(WrapsErrorsOfTheSource, rule="FAIL-7"),
    Faulty(FailsOnMailAfterTheEnd, rule="FAIL-8"),
    Faulty(KeepsABookByValue, rule="FAIL-8"),
    Faulty(ComparesWhatIsDueTogether, rule="FAIL-8"),
    Faulty(FailsWithAGroup, rule="FAIL-9"),
    Faulty(DropsTheCause, rule="FAIL-10"),
    Faulty(RetellsTheCause, rule="FAIL-10"),
    Faulty(TakesInterruptionsForErrors, rule="FAIL-11"),
    Faulty(SkipsCloseWhenInterrupted, rule="FAIL-11", loop="trio"),
    Faulty(TakesExitsOfHandlersForTimeouts, rule="FAIL-11"),
)
