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
    """Lets a timer outlive its record, and asks the handler before it looks: FLINK-22573."""

    def cancel_deadline(self) -> None:
        pass

    def on_deadline(self) -> None:
        ask = self.operator.function.timeout
        if self.is_decided and ask is not None:
            ask(self.record.value)
        super().on_deadline()


@breaks("TIME-2")
class LetsDeadlinesWaitForRoom(ResultHandler):
    """Decides at a deadline when there is room, which nothing makes but a deadline: FLINK-14156."""

    def on_deadline(self) -> None:
        if self.operator.queue.is_full:
            soon = self.operator.clock() + 0.01
            self.deadline = self.operator.timers.register(soon, self.on_deadline)
        else:
            super().on_deadline()


@breaks("TIME-2")
class LooksForDeadlinesInInputOrder(ResultHandler):
    """Looks for late records in input order, and no further than to the first that has time."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.in_order: list[ResultHandler] = vars(self.operator).setdefault("in_order", [])
        self.in_order[:] = [*(each for each in self.in_order if not each.is_decided), self]

    def on_deadline(self) -> None:
        if self.in_order and self.in_order[0].due > self.due:
            soon = self.operator.clock() + 0.001
            self.deadline = self.operator.timers.register(soon, self.on_deadline)
        else:
            super().on_deadline()


@breaks("TIME-2")
class DropsDeadlinesAtTheEndOfInput(StreamTask):
    """Stops its timers at the end of input, and the last records wait for ever: FLINK-13491."""

    def on_end(self, end: End) -> None:
        self.timers.close()
        super().on_end(end)


@breaks("TIME-3", behind="TIME-6", why="what it puts in the place of the handler's results is late")
class LetsLateAnswersReplaceTheHandlers(ResultHandler):
    """Lets an answer still win while the handler's results wait."""

    def on_outcome(self, outcome: Outcome) -> None:
        outputs = self.entry.outputs
        if outputs and self.timed_out and isinstance(outcome, Returned):
            results = self.results_of(outcome)
            outputs.clear()
            outputs.extend(self.output_of(result) for result in results)
        super().on_outcome(outcome)


@breaks("END-8", behind="ORD-2", why="what stands behind the record waits, too")
class DropsTheHandlersResultsWhereItRetries(ResultHandler):
    """Takes the handler's results for a second outcome if it repeats calls: FLINK-40456."""

    def decide(self, results: tuple[Any, ...]) -> None:
        if self.timed_out and self.operator.config.retry is not None:
            self.cancel_deadline()
        else:
            super().decide(results)


@breaks("TIME-3")
class TakesOneResultFromTheHandler(ResultHandler):
    """Takes the handler for one that gives a single value, and loses what follows the first."""

    def results_at_deadline(self) -> tuple[Any, ...]:
        return super().results_at_deadline()[:1]


@breaks("TIME-4")
class TakesATimeoutForAFailedCall(ResultHandler):
    """Lets the call itself fail with a TimeoutError, as `asyncio.wait_for` round it does."""

    def results_at_deadline(self) -> tuple[Any, ...]:
        if self.operator.function.timeout is None:
            raise CallFailed(self.record, "the call failed: TimeoutError()") from TimeoutError()
        return super().results_at_deadline()


@breaks("TIME-5")
class LetsLateCallsRunOn(ResultHandler):
    """Decides a record at its deadline, and leaves its call running until it ends by itself."""

    def cancel(self) -> None:
        pass


@breaks("TIME-6")
class AddsLateAnswersToTheHandlers(ResultHandler):
    """Puts out what a call gives after its deadline behind what the handler gave."""

    def on_outcome(self, outcome: Outcome) -> None:
        outputs = self.entry.outputs
        if outputs and self.is_late(outcome):
            outputs.extend(self.output_of(result) for result in self.results_of(outcome))
        super().on_outcome(outcome)


class NotesArrivals(StreamTask):
    """Knows when the element was read that it processes."""

    arrived_at = math.nan

    def on_element(self, element: Element) -> None:
        super().on_element(element)
        self.arrived_at = self.clock()


@breaks("TIME-7", NotesArrivals)
class TimesTheWaitForRoom(ResultHandler):
    """Counts the deadline from the moment at which a record was read, not called."""

    def due_after(self, timeout: float) -> float:
        task = self.operator.output.task
        assert isinstance(task, NotesArrivals)
        return task.arrived_at + timeout


@breaks("TIME-8")
class ForgetsAbandonedCalls(CancelledCalls):
    """Says how many abandoned calls run now, not how many there have been."""

    def ended(self, call: Hashable) -> None:
        super().ended(call)
        self.abandoned = self.abandoned_now


@breaks("TIME-8")
class TakesEveryCancelledCallForAbandoned(CancelledCalls):
    """Counts a call as abandoned when it is cancelled, before it had its turn to end."""

    def add(self, call: Hashable) -> None:
        super().add(call)
        self.abandoned += 1

    def on_overdue(self, watch: Watch) -> None:
        self.abandoned -= 1
        super().on_overdue(watch)


@breaks("TIME-9")
class PilesUpAbandonedCalls(CancelledCalls):
    """Counts the calls that can't be cancelled, and does nothing however many they are."""

    def on_overdue(self, watch: Watch) -> None:
        with suppress(TooManyAbandonedCalls):
            super().on_overdue(watch)


@breaks("TIME-9")
class BoundsAbandonedBatchesByRoom(StreamTask):
    """Lets as many batches run on as there is room for records."""

    def restore(self) -> None:
        self.operator.cancelled.most = self.config.capacity
        super().restore()


@breaks("TIME-10")
class TimesFinishedRecordsOut(ResultHandler):
    """Stops the timer when the consumer has the result: a slow reader times finished calls out."""

    def cancel_deadline(self) -> None:
        pass

    def on_deadline(self) -> None:
        if self.entry.outputs:
            self.results_at_deadline()
        super().on_deadline()


@breaks("TIME-2")
class LooksAtDeadlinesNowAndThen(TimerService):
    """Looks at its deadlines every tenth of a second: good enough, as timeouts are long."""

    def register(self, when: float, callback: Callable[[], object]) -> Timer:
        return super().register(math.ceil(when * 10 - 1e-6) / 10, callback)


@breaks("TIME-1", behind="RETRY-5", why="a back-off ends by a timer, too, and ends early")
class FiresNearDeadlinesTogether(TimerService):
    """Fires with a timer all those that are due within the next 5 ms, to wake up less often."""

    def run_due(self, due: list[Timer]) -> None:
        soon = self.now() + 0.005
        super().run_due([timer for timer in self.timers if timer in due or timer.when <= soon])


@breaks("TIME-2")
class KeepsTimersByTheirTime(TimerService):
    """Has one timer for each time: of two deadlines at once the second replaces the first."""

    def register(self, when: float, callback: Callable[[], object]) -> Timer:
        self.timers = {t: None for t in self.timers if t.when != when}
        return super().register(when, callback)


@breaks("TIME-2")
class DropsDeadlinesThatAreLate(TimerService):
    """Skips timers that fire late by more than 20 ms, as a scheduler does with jobs it missed."""

    _grace = 0.02

    def run_due(self, due: list[Timer]) -> None:
        missed = self.now() - self._grace
        for timer in due:
            if timer.when < missed:
                self.cancel(timer)
        super().run_due(due)


@breaks("TIME-4")
class SkipsRecordsWithoutSubstitute(ResultHandler):
    """Takes a handler that gives None for one that has nothing to put out for the record."""

    def results_at_deadline(self) -> tuple[Any, ...]:
        try:
            return super().results_at_deadline()
        except CallTimedOut:
            if self.operator.function.timeout is None:
                raise
            return ()


@breaks("TIME-5")
class CancelsAllCallsTogether(ResultHandler):
    """Cancels at the first deadline whatever runs, as if there were one scope round all calls."""

    together: ClassVar[WeakKeyDictionary[AsyncWaitOperator, list[ResultHandler]]] = (
        WeakKeyDictionary()
    )

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
    """Knows records by the numbers of their slots: a late answer goes to who has the slot now."""

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
    """Gives a cancelled call 5 ms to end, which may all be gone by when the loop is free again."""

    def watch(self, watch: Watch) -> None:
        due = self.timers.now() + GRACE
        watch.overdue = self.timers.register(due, lambda: self.on_overdue(watch))


@breaks("TIME-9")
class ForgetsThatAbandonedCallsEnd(CancelledCalls):
    """Counts the abandoned calls that there ever were against the capacity, not those that run."""

    def ended(self, call: Hashable) -> None:
        self.abandoned_now += call in self.running and self.running[call].abandoned
        super().ended(call)


@breaks("TIME-4", behind="RETRY-20", why="the cause is that of another record, too")
class BlamesTheHeadForATimeout(ResultHandler):
    """Names the first record in flight where a deadline has passed and there is no handler."""

    def results_at_deadline(self) -> tuple[Any, ...]:
        if self.operator.function.timeout is not None:
            return super().results_at_deadline()
        head = next(e for e in self.operator.queue.elements() if isinstance(e, Record))
        return ResultHandler(self.operator, head).results_at_deadline()


@breaks("TIME-1")
class CountsDeadlinesInThirtyTwoBits(ResultHandler):
    """Counts milliseconds in 32 bits, where a timeout of months is over at once, as in TO-3."""

    def due_after(self, timeout: float) -> float:
        milliseconds = round(1000 * min(timeout, 1e12))
        return self.operator.clock() + ((milliseconds + 2**31) % 2**32 - 2**31) / 1000
