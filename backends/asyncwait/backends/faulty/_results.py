"""RES: operators that lose results, or take what is none."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import GeneratorType
from typing import Any

from msgspec.structs import replace

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import (
    Attempt,
    Completion,
    Entry,
    OrderedQueue,
    Outcome,
    Raised,
    ResultHandler,
    Returned,
    StreamTask,
    TaskMailbox,
)
from asyncwait.spec.mailbox import Loop
from asyncwait.toolkit import call_failed


class EndsWhenAllIsDecided(StreamTask):
    """Ends when the last call has ended, and loses what is finished and not taken by then."""

    def is_drained(self) -> bool:
        return all(entry.outputs is not None for entry in self.queue)

    def finish(self) -> None:
        self.output.cut(None if self.end is None else self.end.error)


class TakesNoResultsForNoOutcome(OrderedQueue):
    """Asks whether a record has outputs where it means to ask whether they are decided."""

    def peek_ready(self) -> Entry | None:
        entry = super().peek_ready()
        return entry if entry is not None and entry.outputs else None


class TakesATextForItsLetters(ResultHandler):
    """Takes whatever can be iterated for a collection, a text too, as PyFlink 2.3 does."""

    def collect(self, outcome: Returned) -> tuple[Any, ...]:
        try:
            return tuple(outcome.given() if outcome.is_supplied else outcome.given)
        except Exception as error:
            raise call_failed(self.record, error) from error


class LetsTheLastCompletionCount(ResultHandler):
    """Lets a second completion overwrite the first if that has not come out yet."""

    def on_outcome(self, outcome: Outcome) -> None:
        if not self.entry.outputs:
            super().on_outcome(outcome)
            return
        self.entry.outputs = deque(self.output_of(r) for r in self.results_of(outcome))


class RaisesAtLateCompletions(Attempt):
    """Raises at whoever completes a record that is decided, as a future does that is done."""

    def completion(self) -> Completion:
        completion = super().completion()
        complete = completion.complete

        def complete_once(results: Any) -> None:
            if self.handler.is_decided:
                raise asyncio.InvalidStateError("it is completed")
            complete(results)

        completion.complete = complete_once  # type: ignore[method-assign]
        return completion


class SleepsThroughThreads(TaskMailbox):
    """Files a mail of another thread and wakes nobody: it is found when something else happens."""

    def __init__(self, loop: Loop) -> None:
        super().__init__(replace(loop, call_soon_threadsafe=lambda _: None))


class KeepsWhatABrokenCollectionGave(ResultHandler):
    """Emits the items that an iterator gave before it raised."""

    def collect(self, outcome: Returned) -> tuple[Any, ...]:
        given = outcome.given() if outcome.is_supplied else outcome.given
        if not isinstance(given, Iterator):
            return super().collect(Returned(given, outcome.at))
        results: list[Any] = []
        with suppress(Exception):
            results.extend(given)
        return tuple(results)


class _AsksAtOnce(Completion):
    def complete_with(self, supplier: Callable[[], Any]) -> None:
        self.complete(supplier())


class AsksSuppliersWhereTheyAre(Attempt):
    """Asks a supplier on the thread that gives it, and not on the loop."""

    def completion(self) -> Completion:
        completion = super().completion()
        return _AsksAtOnce(completion.send, completion.clock)


class ReadsResultsTwice(ResultHandler):
    """Counts the results of a record before it reads them."""

    def collect(self, outcome: Returned) -> tuple[Any, ...]:
        given = outcome.given() if outcome.is_supplied else outcome.given
        if hasattr(given, "__iter__"):
            sum(1 for _ in given)
        return super().collect(Returned(given, outcome.at))


class KeepsSixteenResults(ResultHandler):
    """Has room for sixteen results of a record, and drops what follows."""

    def results_of(self, outcome: Outcome) -> tuple[Any, ...]:
        return super().results_of(outcome)[:16]


class AsksEverySupplier(ResultHandler):
    """Asks for the results of every completion, and looks then which of them was the first."""

    def on_outcome(self, outcome: Outcome) -> None:
        if isinstance(outcome, Returned) and outcome.is_supplied:
            with suppress(Exception):
                outcome = Returned(list(outcome.given()), outcome.at)
        super().on_outcome(outcome)


class TakesNoneForNoResult(ResultHandler):
    """Leaves results out that are None."""

    def results_of(self, outcome: Outcome) -> tuple[Any, ...]:
        return tuple(r for r in super().results_of(outcome) if r is not None)


class MergesEqualResults(ResultHandler):
    """Gives results of a record that are equal once."""

    def results_of(self, outcome: Outcome) -> tuple[Any, ...]:
        merged: list[Any] = []
        for result in super().results_of(outcome):
            if result not in merged:
                merged.append(result)
        return tuple(merged)


class WakesNobodyForASilentRecord(ResultHandler):
    """Tells the consumer of results only, not of a record without any that was before others."""

    def decide(self, results: tuple[Any, ...]) -> None:
        if results:
            super().decide(results)
            return
        self.cancel_deadline()
        self.entry.outputs = deque()
        self.operator.queue.completed(self.entry)


class TakesNothingForNoResults(ResultHandler):
    """Takes a forgotten `return` for an empty collection."""

    def collect(self, outcome: Returned) -> tuple[Any, ...]:
        return () if outcome.given is None else super().collect(outcome)


class LetsErrorsOverruleResults(ResultHandler):
    """Lets an error fail the operator that follows the results of the same call."""

    def on_outcome(self, outcome: Outcome) -> None:
        if isinstance(outcome, Raised) and self.is_decided:
            self.results_of(outcome)
        super().on_outcome(outcome)


class TakesARaiseAtTheDeadlineForASecondOutcome(ResultHandler):
    """Fails where a call raises in the instant in which its deadline has decided."""

    is_bound = True  # on trio what the call comes to is known before timers of that instant fire

    def is_raised_besides(self, outcome: Outcome) -> bool:
        by_callback = isinstance(outcome, Raised) and outcome.by_callback
        return by_callback and self.is_decided and not self.is_late(outcome)


class _Lazy(deque[Any]):
    """Outputs that are made of what a list holds when they are taken."""

    given: Any = ()
    taken = 0

    def popleft(self) -> Any:
        output = super().popleft()
        self.taken += 1
        return replace(output, value=(self.given[self.taken - 1 :] or self.given)[0])


class KeepsTheListThatACallGave(ResultHandler):
    """Counts the results of a record when that is decided, and reads them when they are taken."""

    given: Any = ()

    def collect(self, outcome: Returned) -> tuple[Any, ...]:
        given = outcome.given() if outcome.is_supplied else outcome.given
        self.given = given if type(given) is list and given else ()
        return super().collect(Returned(given, outcome.at))

    def decide(self, results: tuple[Any, ...]) -> None:
        super().decide(results)
        if self.given and not self.timed_out:
            self.entry.outputs = outputs = _Lazy(self.entry.outputs or ())
            outputs.given = self.given


class LooksWhetherAnIteratorHasResults(ResultHandler):
    """Takes the first result of an iterator, to see whether there is one, and reads the others."""

    def collect(self, outcome: Returned) -> tuple[Any, ...]:
        given = outcome.given() if outcome.is_supplied else outcome.given
        if isinstance(given, GeneratorType) and next(given, None) is None:
            given = ()
        return super().collect(Returned(given, outcome.at))


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
    Faulty(TakesARaiseAtTheDeadlineForASecondOutcome, rule="RES-4"),
    Faulty(SleepsThroughThreads, rule="RES-5", loop="trio"),
    Faulty(KeepsWhatABrokenCollectionGave, rule="RES-6"),
    Faulty(AsksSuppliersWhereTheyAre, rule="RES-7"),
    Faulty(AsksEverySupplier, rule="RES-7"),
    Faulty(ReadsResultsTwice, rule="RES-8"),
    Faulty(LooksWhetherAnIteratorHasResults, rule="RES-1"),
    Faulty(KeepsTheListThatACallGave, rule="RES-9"),
)
