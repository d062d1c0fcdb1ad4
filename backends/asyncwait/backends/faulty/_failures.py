"""FAIL: operators that fail wrongly."""

import asyncio
import copy
import heapq
import pickle
from collections.abc import Callable
from typing import Any

import anyio

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import (
    AsyncWaitOperator,
    Attempt,
    End,
    Entry,
    Mail,
    Outcome,
    Output,
    Raised,
    ResultHandler,
    ResultStream,
    SourceReader,
    StreamTask,
    TaskMailbox,
)
from asyncwait.spec import CallFailed, CallTimedOut, Element, OperatorError, Record
from asyncwait.toolkit import call_failed


@breaks("FAIL-1")
class FailsWithoutNamingTheRecord(ResultHandler):
    """Raises the exception of a call unchanged, without the record that failed."""

    def decide_despite(self, failure: OperatorError) -> None:
        try:
            super().decide_despite(failure)
        except CallFailed as final:
            raise final if final.__cause__ is None else final.__cause__  # noqa: B904


class _RaisesQueuedErrors(Output):
    def take(self) -> Element | None:
        element = super().take()
        if isinstance(element, Record) and isinstance(element.value, OperatorError):
            self.cut(element.value)
            self.raise_end()
        return element


@breaks(
    "FAIL-2",
    _RaisesQueuedErrors,
    behind="FAIL-6",
    why="the error that comes first is not the first failure",
)
class LetsFailuresWaitForTheirTurn(ResultHandler):
    """Sends an error through the queue like a result, behind all earlier elements."""

    def on_outcome(self, outcome: Outcome) -> None:
        try:
            super().on_outcome(outcome)
        except OperatorError as error:
            self.decide((error,))


@breaks("FAIL-3")
class EmitsWhatIsReadyAfterAFailure(StreamTask):
    """Hands out all finished results before it raises the error."""

    def fail(self, error: BaseException) -> None:
        self.output.finish(error)


class _HasPlaceForOneError(Output):
    def cut(self, error: BaseException | None) -> None:
        self.error = self.error if error is None else error
        super().cut(error)


@breaks("FAIL-4", _HasPlaceForOneError)
class KeepsTheLastFailure(ResultHandler):
    """Keeps only the last stored error for the consumer, as PyFlink does."""

    def on_outcome(self, outcome: Outcome) -> None:
        try:
            super().on_outcome(outcome)
        except OperatorError as error:
            self.operator.output.cut(error)


@breaks("FAIL-5")
class TakesStopAsyncIterationForTheEnd(ResultHandler):
    """Passes a call's StopAsyncIteration to the consumer, which takes it for the end."""

    def results_of(self, outcome: Outcome) -> tuple[Any, ...]:
        if isinstance(outcome, Raised) and isinstance(outcome.error, StopAsyncIteration):
            raise outcome.error
        return super().results_of(outcome)


@breaks("FAIL-5")
class LosesCallsThatCancelThemselves(Attempt):
    """Treats a CancelledError that the call raises itself as the operator's cancellation."""

    def on_ended(self, outcome: Outcome | None) -> None:
        if isinstance(outcome, Raised) and isinstance(outcome.error, asyncio.CancelledError):
            outcome = None
        super().on_ended(outcome)


@breaks("FAIL-5")
class LetsByWhatIsNoException(Attempt):
    """Handles only subclasses of Exception, and loses every other error of a call."""

    def on_ended(self, outcome: Outcome | None) -> None:
        error = outcome.error if isinstance(outcome, Raised) else None
        if not isinstance(error, Exception | asyncio.CancelledError | None):
            outcome = None
        super().on_ended(outcome)


@breaks("FAIL-6")
class FailsOnceOnly(Output):
    """Raises its failure once; after that, the stream seems to have ended well."""

    def raise_end(self) -> None:
        try:
            super().raise_end()
        finally:
            self.error = None


@breaks("FAIL-7")
class LetsSourceErrorsOvertake(StreamTask):
    """Fails at once when the source raises, ahead of the elements that were read before."""

    def on_end(self, end: End) -> None:
        super().on_end(end)
        if end.error is not None:
            self.fail(end.error)


@breaks("FAIL-8")
class FailsOnMailAfterTheEnd(TaskMailbox):
    """Fails if a mail arrives after its mailbox has closed: FLINK-24846."""

    def offer(self, mail: Mail) -> bool:
        self.put(mail)
        return True


@breaks("FAIL-9")
class FailsWithAGroup(StreamTask):
    """Waits for the end in a task group, which wraps every error in an exception group."""

    async def run(self) -> None:
        run = self.processor.run

        async def run_in_a_group() -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(run)

        self.processor.run = run_in_a_group  # type: ignore[method-assign]
        await super().run()


@breaks("FAIL-10")
class DropsTheCause(ResultHandler):
    """Names the failure in words only, and loses the user's exception and its traceback."""

    def results_of(self, outcome: Outcome) -> tuple[Any, ...]:
        if isinstance(outcome, Raised):
            raise call_failed(self.record, outcome.error) from None
        return super().results_of(outcome)


@breaks("FAIL-11")
class TakesInterruptionsForErrors(Attempt):
    """Treats a KeyboardInterrupt as an error of the call that it interrupts."""

    async def invoke(self) -> Outcome:
        try:
            return await super().invoke()
        except (KeyboardInterrupt, SystemExit) as error:
            return Raised(error, self.operator.clock())


@breaks("FAIL-1")
class ForgetsWhatIsRaisedAfterCompletion(Attempt):
    """Ignores the error of a function that has already completed its record."""

    def start_callback(self, invoke: Callable[..., None]) -> None:
        completion = self.completion()
        self.begin()
        try:
            invoke(self.handler.record.value, completion)
        except Exception as error:
            completion.complete_exceptionally(error)


@breaks("FAIL-1", behind="FAIL-4", why="the equal record that is named has not failed yet")
class BlamesAnEqualRecord(ResultHandler):
    """Looks up a call's record by value, and names the first equal record."""

    def results_of(self, outcome: Outcome) -> tuple[Any, ...]:
        waiting = (e for e in self.operator.queue.elements() if isinstance(e, Record))
        found = next((e for e in waiting if e.value == self.record.value), self.record)
        return ResultHandler(self.operator, found).results_of(outcome)


@breaks("FAIL-5")
class SendsErrorsAsPickles(ResultHandler):
    """Pickles the error of a call, and fails with the pickling error if pickling raises."""

    def results_of(self, outcome: Outcome) -> tuple[Any, ...]:
        if isinstance(outcome, Raised):
            pickle.dumps(outcome.error)
        return super().results_of(outcome)


@breaks("FAIL-6")
class RaisesACopyEachTime(Output):
    """Copies the error for each read that raises it."""

    def raise_end(self) -> None:
        self.told = True
        raise StopAsyncIteration if self.error is None else copy.copy(self.error)


@breaks("FAIL-7")
class WrapsErrorsOfTheSource(StreamTask):
    """Raises its own error, and keeps the source's error only as its cause."""

    def on_end(self, end: End) -> None:
        if end.error is not None:
            wrapped = RuntimeError("the source failed")
            wrapped.__cause__ = end.error
            end = End(wrapped)
        super().on_end(end)


@breaks("FAIL-8")
class KeepsABookByValue(AsyncWaitOperator):
    """Keys the records in flight by value, and fails if a value cannot be hashed."""

    def admit(self, entry: Entry) -> None:
        super().admit(entry)
        records = [e.element for e in self.queue if isinstance(e.element, Record)]
        self.book = {record.value: record for record in records}


@breaks("FAIL-8")
class ComparesWhatIsDueTogether(AsyncWaitOperator):
    """Keeps a heap of times and values, and compares values whose times are equal."""

    def process_record(self, record: Record) -> None:
        self._heap: list[tuple[float, Any]] = getattr(self, "_heap", [])
        heapq.heappush(self._heap, (self.clock(), record.value))
        super().process_record(record)


@breaks("FAIL-11", loop="trio", is_bound=True)  # on asyncio the loop ends first
class SkipsCloseWhenInterrupted(ResultStream):
    """Raises a KeyboardInterrupt at once, without the function's `close`."""

    async def end_tasks(self) -> BaseException | None:
        reason = await super().end_tasks()
        if isinstance(reason, KeyboardInterrupt | SystemExit):
            raise reason
        return reason


@breaks("FAIL-11")
class TakesExitsOfHandlersForTimeouts(ResultHandler):
    """Treats a handler that raises SystemExit as a handler without results."""

    def results_at_deadline(self) -> tuple[Any, ...]:
        try:
            return super().results_at_deadline()
        except (KeyboardInterrupt, SystemExit) as error:
            raise CallTimedOut(self.record, "the handler raised") from error


@breaks("FAIL-10")
class RetellsTheCause(ResultHandler):
    """Replaces the error of a call by a new error with the same text."""

    def results_of(self, outcome: Outcome) -> tuple[Any, ...]:
        if isinstance(outcome, Raised):
            raise call_failed(self.record, RuntimeError(str(outcome.error)))
        return super().results_of(outcome)


@breaks("FAIL-11")
class GoesOnWhileTheProgramEnds(Output):
    """Hands out ready results until all cancelled calls have cleaned up."""

    def withhold(self) -> None:
        pass


@breaks("FAIL-5")
class TakesErrorsOfOthersForItsOwn(ResultHandler):
    """Passes on an operator error that a call raised, as if the operator had raised it."""

    def results_of(self, outcome: Outcome) -> tuple[Any, ...]:
        if isinstance(outcome, Raised) and isinstance(outcome.error, OperatorError):
            raise outcome.error
        return super().results_of(outcome)


@breaks("FAIL-10")
class CutsTheChainOfCauses(ResultHandler):
    """Names the error of a call, and drops the cause of that error."""

    def results_of(self, outcome: Outcome) -> tuple[Any, ...]:
        if isinstance(outcome, Raised):
            outcome.error.__cause__ = None
        return super().results_of(outcome)


@breaks("FAIL-10")
class ForgetsWhatItsTimeoutHandlerRaised(ResultHandler):
    """Drops the error that a timeout handler raises, as if the handler had no results."""

    def results_at_deadline(self) -> tuple[Any, ...]:
        try:
            return super().results_at_deadline()
        except CallTimedOut as late:
            raise late from None


@breaks("FAIL-7")
class TakesFalsyErrorsForNone(SourceReader):
    """Ends well if the source's error has a length of zero, and thus is falsy."""

    async def read(self) -> BaseException | None:
        return await super().read() or None
