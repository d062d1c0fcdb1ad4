"""RES: operators that lose results, or take what is none."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import (
    CallRunner,
    Completion,
    Entry,
    Operator,
    OrderedQueue,
    Outcome,
    Raised,
    RecordEntry,
    Returned,
    TaskMailbox,
)
from asyncwait.spec import Loop, Record, ResultFuture, call_failed


class EndsWhenAllIsDecided(Operator):
    """Ends when the last call has ended, and loses what is finished and not taken by then."""

    async def _drain(self) -> None:
        while self._undecided > 0:
            await self._main.run_one()

    def _finish(self) -> None:
        self._output.cut(None if self._end is None else self._end.error)


class TakesNoResultsForNoOutcome(OrderedQueue):
    """Asks whether a record has outputs where it means to ask whether they are decided."""

    def peek_ready(self) -> Entry | None:
        entry = super().peek_ready()
        return entry if entry is not None and entry.outputs else None


class TakesATextForItsLetters(Operator):
    """Takes whatever can be iterated for a collection, a text too, as PyFlink 2.3 does."""

    def _collect(self, record: Record, supply: Callable[[], Any]) -> tuple[Any, ...]:
        try:
            return tuple(supply())
        except Exception as error:
            raise call_failed(record, error) from error


class LetsTheLastCompletionCount(Operator):
    """Lets a second completion overwrite the first if that has not come out yet."""

    def _on_outcome(self, entry: RecordEntry, outcome: Outcome) -> None:
        if not entry.outputs:
            super()._on_outcome(entry, outcome)
            return
        results = self._results_of(entry.element, outcome)
        entry.outputs = deque(self._output_of(entry.element, result) for result in results)


class RaisesAtLateCompletions(CallRunner):
    """Raises at whoever completes a record that is decided, as a future does that is done."""

    def _start_callback(
        self, entry: RecordEntry, invoke: Callable[[Any, ResultFuture], None]
    ) -> None:
        def invoke_strictly(value: Any, result: ResultFuture) -> None:
            complete = result.complete

            def complete_once(results: Iterable[Any]) -> None:
                if entry.outputs is not None:
                    raise asyncio.InvalidStateError("it is completed")
                complete(results)

            result.complete = complete_once  # type: ignore[method-assign]
            invoke(value, result)

        super()._start_callback(entry, invoke_strictly)


class SleepsThroughThreads(TaskMailbox):
    """Files a mail of another thread and wakes nobody: it is found when something else happens."""

    def __init__(self, loop: Loop) -> None:
        super().__init__(Loop(loop.time, lambda _: None, loop.call_at))


class KeepsWhatABrokenCollectionGave(Operator):
    """Emits the items that an iterator gave before it raised."""

    def _collect(self, record: Record, supply: Callable[[], Any]) -> tuple[Any, ...]:
        given = supply()
        if not isinstance(given, Iterator):
            return super()._collect(record, lambda: given)
        results: list[Any] = []
        with suppress(Exception):
            results.extend(given)
        return tuple(results)


class _AsksAtOnce(Completion):
    def complete_with(self, supplier: Callable[[], Any]) -> None:
        self.complete(supplier())


class AsksSuppliersWhereTheyAre(CallRunner):
    """Asks a supplier on the thread that gives it, and not on the loop."""

    def _start_callback(self, entry: RecordEntry, invoke: Callable[..., None]) -> None:
        completion = _AsksAtOnce(entry, self._timers.now, self._post, self._on_outcome)
        self._begin(entry)
        invoke(entry.element.value, completion)


class ReadsResultsTwice(Operator):
    """Counts the results of a record before it reads them."""

    def _results_of(self, record: Record, outcome: Outcome) -> tuple[Any, ...]:
        if isinstance(outcome, Returned) and hasattr(outcome.supply(), "__iter__"):
            results = outcome.supply()
            sum(1 for _ in results)
            return super()._results_of(record, Returned(lambda: results, outcome.at))
        return super()._results_of(record, outcome)


class KeepsSixteenResults(Operator):
    """Has room for sixteen results of a record, and drops what follows."""

    def _results_of(self, record: Record, outcome: Outcome) -> tuple[Any, ...]:
        return super()._results_of(record, outcome)[:16]


class AsksEverySupplier(Operator):
    """Asks for the results of every completion, and looks then which of them was the first."""

    def _on_outcome(self, entry: RecordEntry, outcome: Outcome) -> None:
        if isinstance(outcome, Returned):
            with suppress(Exception):
                given = list(outcome.supply())
                outcome = Returned(lambda: given, outcome.at)
        super()._on_outcome(entry, outcome)


class TakesNoneForNoResult(Operator):
    """Leaves results out that are None."""

    def _results_of(self, record: Record, outcome: Outcome) -> tuple[Any, ...]:
        return tuple(r for r in super()._results_of(record, outcome) if r is not None)


class MergesEqualResults(Operator):
    """Gives results of a record that are equal once."""

    def _results_of(self, record: Record, outcome: Outcome) -> tuple[Any, ...]:
        merged: list[Any] = []
        for result in super()._results_of(record, outcome):
            if result not in merged:
                merged.append(result)
        return tuple(merged)


class WakesNobodyForASilentRecord(Operator):
    """Tells the consumer of results only, not of a record without any that was before others."""

    def _decide(self, entry: RecordEntry, results: tuple[Any, ...]) -> None:
        if results:
            super()._decide(entry, results)
            return
        self._undecided -= 1
        self._cancel_deadline(entry)
        entry.outputs = deque()
        self._queue.completed(entry)
        self._release_empty()


class TakesNothingForNoResults(Operator):
    """Takes a forgotten `return` for an empty collection."""

    def _collect(self, record: Record, supply: Callable[[], Any]) -> tuple[Any, ...]:
        return super()._collect(record, lambda: supply() or ())


class LetsErrorsOverruleResults(Operator):
    """Lets an error fail the operator that follows the results of the same call."""

    def _on_outcome(self, entry: RecordEntry, outcome: Outcome) -> None:
        if isinstance(outcome, Raised):
            self._results_of(entry.element, outcome)
        super()._on_outcome(entry, outcome)


FAULTY: tuple[Faulty, ...] = (
    Faulty(EndsWhenAllIsDecided, rule="RES-1"),
    Faulty(KeepsSixteenResults, rule="RES-1"),
    Faulty(TakesNoneForNoResult, rule="RES-1"),
    Faulty(MergesEqualResults, rule="RES-1"),
    Faulty(TakesNoResultsForNoOutcome, rule="RES-2"),
    Faulty(WakesNobodyForASilentRecord, rule="RES-2"),
    Faulty(TakesATextForItsLetters, rule="RES-3"),
    Faulty(TakesNothingForNoResults, rule="RES-3"),
    Faulty(LetsTheLastCompletionCount, rule="RES-4"),
    Faulty(RaisesAtLateCompletions, rule="RES-4"),
    Faulty(LetsErrorsOverruleResults, rule="RES-4"),
    Faulty(SleepsThroughThreads, rule="RES-5", loop="trio"),
    Faulty(KeepsWhatABrokenCollectionGave, rule="RES-6"),
    Faulty(AsksSuppliersWhereTheyAre, rule="RES-7"),
    Faulty(AsksEverySupplier, rule="RES-7"),
    Faulty(ReadsResultsTwice, rule="RES-8"),
)
