"""RES: operators that lose results, or take what is none."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import GeneratorType
from typing import Any

from msgspec.structs import replace

from asyncwait.backends.faulty._gallery import breaks
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


@breaks("RES-1")
class HasRoomForSoManyResults(ResultHandler):
    """Keeps the results of a record in a buffer of 1,024 places; what finds none is dropped."""

    def decide(self, results: tuple[Any, ...]) -> None:
        super().decide(results[:1024])


@breaks("RES-1")
class EndsWhenAllIsDecided(StreamTask):
    """Ends when the last call has ended, and loses what is finished and not taken by then."""

    def is_drained(self) -> bool:
        return all(entry.outputs is not None for entry in self.queue)

    def finish(self) -> None:
        self.output.cut(None if self.end is None else self.end.error)


@breaks("RES-2")
class TakesNoResultsForNoOutcome(OrderedQueue):
    """Asks whether a record has outputs where it means to ask whether they are decided."""

    def peek_ready(self) -> Entry | None:
        entry = super().peek_ready()
        return entry if entry is not None and entry.outputs else None


@breaks("RES-3")
class TakesATextForItsLetters(ResultHandler):
    """Takes whatever can be iterated for a collection, a text too, as PyFlink 2.3 does."""

    def collect(self, outcome: Returned) -> tuple[Any, ...]:
        try:
            return tuple(outcome.given() if outcome.is_supplied else outcome.given)
        except Exception as error:
            raise call_failed(self.record, error) from error


@breaks("RES-4")
class LetsTheLastCompletionCount(ResultHandler):
    """Lets a second completion overwrite the first if that has not come out yet."""

    def on_outcome(self, outcome: Outcome) -> None:
        if not self.entry.outputs:
            super().on_outcome(outcome)
            return
        self.entry.outputs = deque(self.output_of(r) for r in self.results_of(outcome))


@breaks("RES-4")
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


@breaks("RES-5", loop="trio")
class SleepsThroughThreads(TaskMailbox):
    """Files a mail of another thread and wakes nobody: it is found when something else happens."""

    def __init__(self, loop: Loop) -> None:
        super().__init__(replace(loop, call_soon_threadsafe=lambda _: None))


@breaks("RES-6")
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


@breaks("RES-7")
class AsksSuppliersWhereTheyAre(Attempt):
    """Asks a supplier on the thread that gives it, and not on the loop."""

    def completion(self) -> Completion:
        completion = super().completion()
        return _AsksAtOnce(completion.send, completion.clock)


@breaks("RES-8")
class ReadsResultsTwice(ResultHandler):
    """Counts the results of a record before it reads them."""

    def collect(self, outcome: Returned) -> tuple[Any, ...]:
        given = outcome.given() if outcome.is_supplied else outcome.given
        if hasattr(given, "__iter__"):
            sum(1 for _ in given)
        return super().collect(Returned(given, outcome.at))


@breaks("RES-1")
class KeepsSixteenResults(ResultHandler):
    """Has room for sixteen results of a record, and drops what follows."""

    def results_of(self, outcome: Outcome) -> tuple[Any, ...]:
        return super().results_of(outcome)[:16]


@breaks("RES-7")
class AsksEverySupplier(ResultHandler):
    """Asks for the results of every completion, and looks then which of them was the first."""

    def on_outcome(self, outcome: Outcome) -> None:
        if isinstance(outcome, Returned) and outcome.is_supplied:
            with suppress(Exception):
                outcome = Returned(list(outcome.given()), outcome.at)
        super().on_outcome(outcome)


@breaks("RES-1")
class TakesNoneForNoResult(ResultHandler):
    """Leaves results out that are None."""

    def results_of(self, outcome: Outcome) -> tuple[Any, ...]:
        return tuple(r for r in super().results_of(outcome) if r is not None)


@breaks("RES-1")
class MergesEqualResults(ResultHandler):
    """Gives results of a record that are equal once."""

    def results_of(self, outcome: Outcome) -> tuple[Any, ...]:
        merged: list[Any] = []
        for result in super().results_of(outcome):
            if result not in merged:
                merged.append(result)
        return tuple(merged)


@breaks("RES-2")
class WakesNobodyForASilentRecord(ResultHandler):
    """Tells the consumer of results only, not of a record without any that was before others."""

    def decide(self, results: tuple[Any, ...]) -> None:
        if results:
            super().decide(results)
            return
        self.cancel_deadline()
        self.entry.outputs = deque()
        self.operator.queue.completed(self.entry)


@breaks("RES-3")
class TakesNothingForNoResults(ResultHandler):
    """Takes a forgotten `return` for an empty collection."""

    def collect(self, outcome: Returned) -> tuple[Any, ...]:
        return () if outcome.given is None else super().collect(outcome)


@breaks("RES-4")
class LetsErrorsOverruleResults(ResultHandler):
    """Lets an error fail the operator that follows the results of the same call."""

    def on_outcome(self, outcome: Outcome) -> None:
        if isinstance(outcome, Raised) and self.is_decided:
            self.results_of(outcome)
        super().on_outcome(outcome)


class _Lazy(deque[Any]):
    """Outputs that are made of what a list holds when they are taken."""

    given: Any = ()
    taken = 0

    def popleft(self) -> Any:
        output = super().popleft()
        self.taken += 1
        return replace(output, value=(self.given[self.taken - 1 :] or self.given)[0])


@breaks("RES-9")
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


@breaks("RES-1")
class LooksWhetherAnIteratorHasResults(ResultHandler):
    """Takes the first result of an iterator, to see whether there is one, and reads the others."""

    def collect(self, outcome: Returned) -> tuple[Any, ...]:
        given = outcome.given() if outcome.is_supplied else outcome.given
        if isinstance(given, GeneratorType) and next(given, None) is None:
            given = ()
        return super().collect(Returned(given, outcome.at))
