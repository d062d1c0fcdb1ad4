"""TIME: operators that get deadlines wrong."""

import math
from collections.abc import Callable
from typing import Any

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import (
    GRACE,
    Call,
    CallRunner,
    Entry,
    Operator,
    Outcome,
    RecordEntry,
    Returned,
    Timer,
    TimerService,
)
from asyncwait.spec import CallFailed, CallTimedOut, Record


class AsksTheHandlerForWhatHasAnswered(Operator):
    """Lets a timer outlive its record, and asks the handler before it looks: FLINK-22573."""

    def _cancel_deadline(self, entry: RecordEntry) -> None:
        pass

    def _on_deadline(self, entry: RecordEntry) -> None:
        if entry.outputs is not None and self._parts.timeout is not None:
            self._parts.timeout(entry.element.value)
        super()._on_deadline(entry)


class LetsDeadlinesWaitForRoom(Operator):
    """Fires deadlines as mails that an operator without room does not see: FLINK-14156."""

    def _on_deadline(self, entry: RecordEntry) -> None:
        decide = super()._on_deadline
        self._post_main(lambda: decide(entry))


class DropsDeadlinesAtTheEndOfInput(Operator):
    """Stops its timers at the end of input, and the last records wait for ever: FLINK-13491."""

    async def _drain(self) -> None:
        self._timers.close()
        await super()._drain()


class LetsLateAnswersReplaceTheHandlers(Operator):
    """Lets an answer still win while the handler's results wait, much like FLINK-40456."""

    def _on_outcome(self, entry: RecordEntry, outcome: Outcome) -> None:
        if entry.outputs and isinstance(outcome, Returned):
            results = self._results_of(entry.element, outcome)
            entry.outputs.clear()
            entry.outputs.extend(self._output_of(entry.element, r) for r in results)
        super()._on_outcome(entry, outcome)


class TakesOneResultFromTheHandler(Operator):
    """Takes the handler for one that gives a single value, and loses what follows the first."""

    def _results_at_deadline(self, record: Record) -> tuple[Any, ...]:
        return super()._results_at_deadline(record)[:1]


class TakesATimeoutForAFailedCall(Operator):
    """Lets the call itself fail with a TimeoutError, as `asyncio.wait_for` round it does."""

    def _results_at_deadline(self, record: Record) -> tuple[Any, ...]:
        if self._parts.timeout is None:
            raise CallFailed(record, "the call failed: TimeoutError()") from TimeoutError()
        return super()._results_at_deadline(record)


class LetsLateCallsRunOn(CallRunner):
    """Decides a record at its deadline, and leaves its call running until it ends by itself."""

    def cancel(self, entry: RecordEntry) -> None:
        pass


class AddsLateAnswersToTheHandlers(Operator):
    """Puts out what a call gives after its deadline behind what the handler gave."""

    def _on_outcome(self, entry: RecordEntry, outcome: Outcome) -> None:
        if entry.outputs and self._is_late(entry, outcome):
            results = self._results_of(entry.element, outcome)
            entry.outputs.extend(self._output_of(entry.element, r) for r in results)
        super()._on_outcome(entry, outcome)


class TimesTheWaitForRoom(Operator):
    """Counts the deadline from the moment at which a record was read, not called."""

    async def _process_record(self, record: Record) -> None:
        self._arrived_at = self._timers.now()
        await super()._process_record(record)

    def _deadline_after(self, timeout: float) -> float:
        return self._arrived_at + timeout


class ForgetsAbandonedCalls(CallRunner):
    """Says how many abandoned calls run now, not how many there have been."""

    def _on_ended(self, call: Call, outcome: Outcome | None) -> None:
        super()._on_ended(call, outcome)
        self.abandoned = self._abandoned_now


class TakesEveryCancelledCallForAbandoned(CallRunner):
    """Counts a call as abandoned when it is cancelled, before it had its turn to end."""

    def cancel(self, entry: RecordEntry) -> None:
        super().cancel(entry)
        self.abandoned += entry in self._running

    def _on_overdue(self, call: Call) -> None:
        self.abandoned -= 1
        super()._on_overdue(call)


class PilesUpAbandonedCalls(CallRunner):
    """Counts the calls that can't be cancelled, and does nothing however many they are."""

    def _on_overdue(self, call: Call) -> None:
        call.abandoned = True
        self.abandoned += 1


class TimesFinishedRecordsOut(Operator):
    """Stops the timer when the consumer has the result: a slow reader times finished calls out."""

    def _cancel_deadline(self, entry: RecordEntry) -> None:
        pass

    def _on_deadline(self, entry: RecordEntry) -> None:
        if entry.outputs:
            self._results_at_deadline(entry.element)
        super()._on_deadline(entry)


class LetsAnswersWinThatCameWithTheTimer(TimerService):
    """Lets an answer win that was late, if the loop was busy when its deadline passed: TO-6."""

    def run_before(self, time: float) -> None:
        pass


class LooksAtDeadlinesNowAndThen(TimerService):
    """Looks at its deadlines every tenth of a second: good enough, as timeouts are long."""

    def register(self, when: float, callback: Callable[[], object]) -> Timer:
        return super().register(math.ceil(when * 10 - 1e-6) / 10, callback)


class FiresNearDeadlinesTogether(TimerService):
    """Fires with a timer all those that are due within the next 5 ms, to wake up less often."""

    def _run(self, due: list[Timer]) -> None:
        soon = self.now() + 0.005
        super()._run([timer for timer in self._timers if timer in due or timer.when <= soon])


class KeepsTimersByTheirTime(TimerService):
    """Has one timer for each time: of two deadlines at once the second replaces the first."""

    def register(self, when: float, callback: Callable[[], object]) -> Timer:
        self._timers = {t: None for t in self._timers if t.when != when}
        return super().register(when, callback)


class DropsDeadlinesThatAreLate(TimerService):
    """Skips timers that fire late by more than 20 ms, as a scheduler does with jobs it missed."""

    _grace = 0.02

    def _run(self, due: list[Timer]) -> None:
        missed = self.now() - self._grace
        for timer in due:
            if timer.when < missed:
                self.cancel(timer)
        super()._run(due)


class SkipsRecordsWithoutSubstitute(Operator):
    """Takes a handler that gives None for one that has nothing to put out for the record."""

    def _results_at_deadline(self, record: Record) -> tuple[Any, ...]:
        try:
            return super()._results_at_deadline(record)
        except CallTimedOut:
            if self._parts.timeout is None:
                raise
            return ()


class CancelsAllCallsTogether(CallRunner):
    """Has one scope round all calls, and cancels that at the first deadline."""

    def cancel(self, entry: RecordEntry) -> None:
        for running in {entry: None, **self._running}:
            super().cancel(running)


class DecidesWhoeverHasTheSlot(Operator):
    """Knows records by the numbers of their slots: a late answer goes to who has the slot now."""

    def _set_up(self) -> None:
        super()._set_up()
        self._number: dict[Entry, int] = {}
        self._holder: dict[int, Any] = {}

    def _admit(self, entry: Entry) -> None:
        free = (n for n in range(self._config.capacity) if self._holder.get(n) is None)
        self._number[entry] = next(free, -1)
        self._holder[self._number[entry]] = entry
        super()._admit(entry)

    def _free_slot(self, entry: Entry) -> None:
        super()._free_slot(entry)
        self._holder[self._number[entry]] = None

    def _on_outcome(self, entry: RecordEntry, outcome: Outcome) -> None:
        super()._on_outcome(self._holder[self._number[entry]] or entry, outcome)


class LooksOnceWhetherACallEnds(CallRunner):
    """Gives a cancelled call 5 ms to end, which may all be gone by when the loop is free again."""

    def _watch(self, call: Call) -> None:
        due = self._timers.now() + GRACE
        call.overdue = self._timers.register(due, lambda: self._on_overdue(call))


class ForgetsThatAbandonedCallsEnd(CallRunner):
    """Counts the abandoned calls that there ever were against the capacity, not those that run."""

    def _on_ended(self, call: Call, outcome: Outcome | None) -> None:
        self._abandoned_now += call.abandoned
        super()._on_ended(call, outcome)


class BlamesTheHeadForATimeout(Operator):
    """Names the first record in flight where a deadline has passed and there is no handler."""

    def _results_at_deadline(self, record: Record) -> tuple[Any, ...]:
        if self._parts.timeout is None:
            waiting = (e for e in self._queue.elements() if isinstance(e, Record))
            record = next(waiting, record)
        return super()._results_at_deadline(record)


FAULTY: tuple[Faulty, ...] = (
    Faulty(AsksTheHandlerForWhatHasAnswered, rule="TIME-1"),
    Faulty(FiresNearDeadlinesTogether, rule="TIME-1"),
    Faulty(LetsDeadlinesWaitForRoom, rule="TIME-2"),
    Faulty(DropsDeadlinesAtTheEndOfInput, rule="TIME-2"),
    Faulty(LooksAtDeadlinesNowAndThen, rule="TIME-2"),
    Faulty(KeepsTimersByTheirTime, rule="TIME-2"),
    Faulty(DropsDeadlinesThatAreLate, rule="TIME-2"),
    Faulty(LetsLateAnswersReplaceTheHandlers, rule="TIME-3"),
    Faulty(TakesOneResultFromTheHandler, rule="TIME-3"),
    Faulty(TakesATimeoutForAFailedCall, rule="TIME-4"),
    Faulty(SkipsRecordsWithoutSubstitute, rule="TIME-4"),
    Faulty(BlamesTheHeadForATimeout, rule="TIME-4"),
    Faulty(LetsLateCallsRunOn, rule="TIME-5"),
    Faulty(CancelsAllCallsTogether, rule="TIME-5"),
    Faulty(AddsLateAnswersToTheHandlers, rule="TIME-6"),
    Faulty(LetsAnswersWinThatCameWithTheTimer, rule="TIME-6"),
    Faulty(DecidesWhoeverHasTheSlot, rule="TIME-6"),
    Faulty(TimesTheWaitForRoom, rule="TIME-7"),
    Faulty(ForgetsAbandonedCalls, rule="TIME-8"),
    Faulty(TakesEveryCancelledCallForAbandoned, rule="TIME-8"),
    Faulty(LooksOnceWhetherACallEnds, rule="TIME-8"),
    Faulty(PilesUpAbandonedCalls, rule="TIME-9"),
    Faulty(ForgetsThatAbandonedCallsEnd, rule="TIME-9"),
    Faulty(TimesFinishedRecordsOut, rule="TIME-10"),
)
