"""TIME: operators that get deadlines wrong."""

from typing import Any

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import Call, CallRunner, Operator, Outcome, RecordEntry, Returned
from asyncwait.spec import CallFailed, Record


class HandlerAskedForWhatHasAnswered(Operator):
    """A timer outlives its record and asks the handler before it looks: FLINK-5652, FLINK-22573."""

    def _cancel_deadline(self, entry: RecordEntry) -> None:
        pass

    def _on_deadline(self, entry: RecordEntry) -> None:
        if entry.outputs is not None and self._parts.timeout is not None:
            self._parts.timeout(entry.element.value)
        super()._on_deadline(entry)


class DeadlineWaitsForRoom(Operator):
    """A deadline is a mail that an operator without room does not see: FLINK-14156."""

    def _on_deadline(self, entry: RecordEntry) -> None:
        decide = super()._on_deadline
        self._post_main(lambda: decide(entry))


class DeadlineInTheMiddleOfInputOnly(Operator):
    """Timers are dropped when the input ends, so the last records wait for ever: FLINK-13491."""

    async def _drain(self) -> None:
        self._timers.close()
        await super()._drain()


class LateAnswerReplacesTheHandlers(Operator):
    """An answer may still win while the handler's results wait: the reverse of FLINK-40456."""

    def _on_outcome(self, entry: RecordEntry, outcome: Outcome) -> None:
        if entry.outputs and isinstance(outcome, Returned):
            results = self._results_of(entry.element, outcome)
            entry.outputs.clear()
            entry.outputs.extend(self._output_of(entry.element, r) for r in results)
        super()._on_outcome(entry, outcome)


class HandlerGivesOneResultOnly(Operator):
    """The handler is taken for one that gives a single value; what follows the first is lost."""

    def _results_at_deadline(self, record: Record) -> tuple[Any, ...]:
        return super()._results_at_deadline(record)[:1]


class TimeoutIsAFailedCall(Operator):
    """A time-out is raised inside the call, like that of `asyncio.wait_for`, and fails it."""

    def _results_at_deadline(self, record: Record) -> tuple[Any, ...]:
        if self._parts.timeout is None:
            raise CallFailed(record, "the call failed: TimeoutError()") from TimeoutError()
        return super()._results_at_deadline(record)


class LateCallRunsOn(CallRunner):
    """A record is decided at its deadline, and its call is left running until it ends by itself."""

    def cancel(self, entry: RecordEntry) -> None:
        pass


class LateAnswerJoinsTheHandlers(Operator):
    """What a call gives after its deadline comes out behind what the handler gave."""

    def _on_outcome(self, entry: RecordEntry, outcome: Outcome) -> None:
        if entry.outputs and self._is_late(entry, outcome):
            results = self._results_of(entry.element, outcome)
            entry.outputs.extend(self._output_of(entry.element, r) for r in results)
        super()._on_outcome(entry, outcome)


class WaitingForRoomIsTimed(Operator):
    """The deadline is counted from the moment at which the record was read, not called."""

    async def _process_record(self, record: Record) -> None:
        self._arrived_at = self._timers.now()
        await super()._process_record(record)

    def _deadline_after(self, timeout: float) -> float:
        return self._arrived_at + timeout


class AbandonedCallsAreForgotten(CallRunner):
    """The statistics say how many abandoned calls run now, not how many there have been."""

    def _on_ended(self, call: Call, outcome: Outcome | None) -> None:
        super()._on_ended(call, outcome)
        self.abandoned = self._abandoned_now


class EveryCancelledCallIsAbandoned(CallRunner):
    """A call counts as abandoned as soon as it is cancelled, before it had its turn to end."""

    def cancel(self, entry: RecordEntry) -> None:
        super().cancel(entry)
        self.abandoned += entry in self._running

    def _on_overdue(self, call: Call) -> None:
        self.abandoned -= 1
        super()._on_overdue(call)


class AbandonedCallsPileUp(CallRunner):
    """Calls that can't be cancelled are counted, and however many there are, nothing is done."""

    def _on_overdue(self, call: Call) -> None:
        call.abandoned = True
        self.abandoned += 1


class DeadlineRunsUntilTheResultIsTaken(Operator):
    """The timer stops when the consumer has the result: a slow reader times finished calls out."""

    def _cancel_deadline(self, entry: RecordEntry) -> None:
        pass

    def _on_deadline(self, entry: RecordEntry) -> None:
        if entry.outputs:
            self._results_at_deadline(entry.element)
        super()._on_deadline(entry)


FAULTY: tuple[Faulty, ...] = (
    Faulty(HandlerAskedForWhatHasAnswered, rule="TIME-1"),
    Faulty(DeadlineWaitsForRoom, rule="TIME-2"),
    Faulty(DeadlineInTheMiddleOfInputOnly, rule="TIME-2"),
    Faulty(LateAnswerReplacesTheHandlers, rule="TIME-3"),
    Faulty(HandlerGivesOneResultOnly, rule="TIME-3"),
    Faulty(TimeoutIsAFailedCall, rule="TIME-4"),
    Faulty(LateCallRunsOn, rule="TIME-5"),
    Faulty(LateAnswerJoinsTheHandlers, rule="TIME-6"),
    Faulty(WaitingForRoomIsTimed, rule="TIME-7"),
    Faulty(AbandonedCallsAreForgotten, rule="TIME-8"),
    Faulty(EveryCancelledCallIsAbandoned, rule="TIME-8"),
    Faulty(AbandonedCallsPileUp, rule="TIME-9"),
    Faulty(DeadlineRunsUntilTheResultIsTaken, rule="TIME-10"),
)
