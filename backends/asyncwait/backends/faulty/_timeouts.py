"""TIME: operators that get deadlines wrong."""

import math
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from itertools import count
from types import MappingProxyType
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import (
    GRACE,
    AsyncWaitOperator,
    CancelledCalls,
    End,
    Outcome,
    ResultHandler,
    Returned,
    StreamTask,
    Timer,
    TimerService,
    Watch,
)
from asyncwait.spec import CallFailed, CallTimedOut, Element, Record, TooManyAbandonedCalls


@breaks("TIME-1")
class AsksTheHandlerForWhatHasAnswered(ResultHandler):
    """Keeps the timer of a decided record, and calls the handler when it fires: FLINK-22573."""

    def cancel_deadline(self) -> None:
        pass

    def on_deadline(self) -> None:
        ask = self.operator.function.timeout
        if self.is_decided and ask is not None:
            ask(self.record.value)
        super().on_deadline()


@breaks("TIME-2")
class LetsDeadlinesWaitForRoom(ResultHandler):
    """Decides at a deadline only when there is room, which only a deadline makes: FLINK-14156."""

    def on_deadline(self) -> None:
        if self.operator.queue.is_full:
            soon = self.operator.clock() + 0.01
            self.deadline = self.operator.timers.register(soon, self.on_deadline)
        else:
            super().on_deadline()


@breaks("TIME-2")
class DropsDeadlinesAtTheEndOfInput(StreamTask):
    """Stops its timers at the end of input, so the last records wait forever: FLINK-13491."""

    def on_end(self, end: End) -> None:
        self.timers.close()
        super().on_end(end)


@breaks("TIME-3")
class LetsLateAnswersReplaceTheHandlers(ResultHandler):
    """Replaces the handler's results by a late answer while these results wait."""

    def on_outcome(self, outcome: Outcome) -> None:
        outputs = self.entry.outputs
        if outputs and self.timed_out and isinstance(outcome, Returned):
            results = self.results_of(outcome)
            outputs.clear()
            outputs.extend(self.output_of(result) for result in results)
        super().on_outcome(outcome)


@breaks("END-8")
class DropsTheHandlersResultsWhereItRetries(ResultHandler):
    """Ignores the timeout handler's results if it repeats calls: FLINK-40456."""

    def decide(self, results: tuple[Any, ...]) -> None:
        if self.timed_out and self.operator.config.retry is not None:
            self.cancel_deadline()
        else:
            super().decide(results)


@breaks("TIME-3")
class TakesOneResultFromTheHandler(ResultHandler):
    """Emits only the first result of the timeout handler."""

    def results_at_deadline(self) -> tuple[Any, ...]:
        return super().results_at_deadline()[:1]


@breaks("TIME-4")
class TakesATimeoutForAFailedCall(ResultHandler):
    """Fails the call with a TimeoutError at the deadline, as `asyncio.wait_for` does."""

    def results_at_deadline(self) -> tuple[Any, ...]:
        if self.operator.function.timeout is None:
            raise CallFailed(self.record, "the call failed: TimeoutError()") from TimeoutError()
        return super().results_at_deadline()


@breaks("TIME-5")
class LetsLateCallsRunOn(ResultHandler):
    """Decides a record at its deadline, and leaves its call running."""

    def cancel(self) -> None:
        pass


@breaks("TIME-6")
class AddsLateAnswersToTheHandlers(ResultHandler):
    """Emits the results of a late call behind the handler's results."""

    def on_outcome(self, outcome: Outcome) -> None:
        outputs = self.entry.outputs
        if outputs and self.is_late(outcome):
            outputs.extend(self.output_of(result) for result in self.results_of(outcome))
        super().on_outcome(outcome)


class NotesArrivals(StreamTask):
    """Stores the time at which the current element was read."""

    arrived_at = math.nan

    def on_element(self, element: Element) -> None:
        super().on_element(element)
        self.arrived_at = self.clock()


@breaks("TIME-1", NotesArrivals)
class TimesTheWaitForRoom(ResultHandler):
    """Counts the deadline from the time when a record was read, not called."""

    def due_after(self, timeout: float) -> float:
        task = self.operator.output.task
        assert isinstance(task, NotesArrivals)
        return task.arrived_at + timeout


@breaks("TIME-8")
class ForgetsAbandonedCalls(CancelledCalls):
    """Counts the abandoned calls that run now, not all calls that were abandoned."""

    def ended(self, call: Hashable) -> None:
        super().ended(call)
        self.abandoned = self.abandoned_now


@breaks("TIME-8")
class TakesEveryCancelledCallForAbandoned(CancelledCalls):
    """Counts a call as abandoned when it is cancelled, before the call could end."""

    def add(self, call: Hashable) -> None:
        super().add(call)
        self.abandoned += 1

    def on_overdue(self, watch: Watch) -> None:
        self.abandoned -= 1
        super().on_overdue(watch)


@breaks("TIME-9")
class PilesUpAbandonedCalls(CancelledCalls):
    """Counts the calls that ignore their cancellation, and accepts any number of them."""

    def on_overdue(self, watch: Watch) -> None:
        with suppress(TooManyAbandonedCalls):
            super().on_overdue(watch)


@breaks("TIME-10")
class TimesFinishedRecordsOut(ResultHandler):
    """Stops the timer when the consumer takes the result: a slow reader causes timeouts."""

    def cancel_deadline(self) -> None:
        pass

    def on_deadline(self) -> None:
        if self.entry.outputs:
            self.results_at_deadline()
        super().on_deadline()


@breaks("TIME-2")
class KeepsTimersByTheirTime(TimerService):
    """Keeps one timer for each time: the second of two equal deadlines replaces the first."""

    def register(self, when: float, callback: Callable[[], object]) -> Timer:
        self.timers = {t: None for t in self.timers if t.when != when}
        return super().register(when, callback)


@breaks("TIME-2")
class DropsDeadlinesThatAreLate(TimerService):
    """Skips timers that fire more than 20 ms late, as a scheduler does with missed jobs."""

    _grace = 0.02

    def run_due(self, due: list[Timer]) -> None:
        missed = self.now() - self._grace
        for timer in due:
            if timer.when < missed:
                self.cancel(timer)
        super().run_due(due)


@breaks("TIME-4")
class SkipsRecordsWithoutSubstitute(ResultHandler):
    """Emits nothing for a record whose timeout handler returns None, instead of failing."""

    def results_at_deadline(self) -> tuple[Any, ...]:
        try:
            return super().results_at_deadline()
        except CallTimedOut:
            if self.operator.function.timeout is None:
                raise
            return ()


@breaks("TIME-5")
class CancelsAllCallsTogether(ResultHandler):
    """Cancels all running calls at the first deadline, like one scope around all calls."""

    together: ClassVar[WeakKeyDictionary[Any, list[ResultHandler]]] = WeakKeyDictionary()

    def on_begun(self) -> None:
        self.together.setdefault(self.operator, []).append(self)
        super().on_begun()

    def cancel(self) -> None:
        for handler in self.together[self.operator]:
            ResultHandler.cancel(handler)


class _NumbersItsSlots(AsyncWaitOperator):
    holders: Mapping[int, ResultHandler] = MappingProxyType({})

    def held(self) -> dict[int, ResultHandler]:
        present = set(self.queue)
        return {n: holder for n, holder in self.holders.items() if holder.entry in present}


@breaks("TIME-6", _NumbersItsSlots)
class DecidesWhoeverHasTheSlot(ResultHandler):
    """Knows records by slot number: a late answer goes to the slot's new record."""

    operator: _NumbersItsSlots  # pyright: ignore[reportIncompatibleVariableOverride]

    def on_begun(self) -> None:
        held = self.operator.held()
        self.number = next(n for n in count() if n not in held)
        self.operator.holders = {**held, self.number: self}
        super().on_begun()

    def on_outcome(self, outcome: Outcome) -> None:
        ResultHandler.on_outcome(self.operator.held().get(self.number, self), outcome)


@breaks("TIME-8")
class LooksOnceWhetherACallEnds(CancelledCalls):
    """Gives a cancelled call 5 ms to end, even if the loop is blocked for that time."""

    def watch(self, watch: Watch) -> None:
        due = self.timers.now() + GRACE
        watch.overdue = self.timers.register(due, lambda: self.on_overdue(watch))


@breaks("TIME-9")
class ForgetsThatAbandonedCallsEnd(CancelledCalls):
    """Counts abandoned calls that have ended against the capacity, too."""

    def ended(self, call: Hashable) -> None:
        self.abandoned_now += call in self.running and self.running[call].abandoned
        super().ended(call)


@breaks("TIME-4")
class BlamesTheHeadForATimeout(ResultHandler):
    """Names the first record in flight as the late record."""

    def results_at_deadline(self) -> tuple[Any, ...]:
        if self.operator.function.timeout is not None:
            return super().results_at_deadline()
        head = next(e for e in self.operator.queue.elements() if isinstance(e, Record))
        return ResultHandler(self.operator, head).results_at_deadline()


@breaks("TIME-1")
class CountsDeadlinesInThirtyTwoBits(ResultHandler):
    """Counts milliseconds in 32 bits, so a timeout of months is over at once, as in TO-3."""

    def due_after(self, timeout: float) -> float:
        milliseconds = round(1000 * min(timeout, 1e12))
        return self.operator.clock() + ((milliseconds + 2**31) % 2**32 - 2**31) / 1000
