"""RES: operators that lose results, or accept invalid results."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
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
    TaskMailbox,
)
from asyncwait.spec.mailbox import Loop
from asyncwait.toolkit import call_failed


@breaks("RES-1")
class HasRoomForSoManyResults(ResultHandler):
    """Keeps at most 1,024 results of a record, and drops the others."""

    def decide(self, results: tuple[Any, ...]) -> None:
        super().decide(results[:1024])


@breaks("RES-2")
class TakesNoResultsForNoOutcome(OrderedQueue):
    """Treats a record that is decided without results as undecided."""

    def peek_ready(self) -> Entry | None:
        entry = super().peek_ready()
        return entry if entry is not None and entry.outputs else None


@breaks("RES-3")
class TakesATextForItsLetters(ResultHandler):
    """Accepts any iterable as a collection, even a text, as PyFlink 2.3 does."""

    def collect(self, outcome: Returned) -> tuple[Any, ...]:
        try:
            return tuple(outcome.given() if outcome.is_supplied else outcome.given)
        except Exception as error:
            raise call_failed(self.record, error) from error


@breaks("RES-4")
class LetsTheLastCompletionCount(ResultHandler):
    """Lets a second completion overwrite the first until its results are emitted."""

    def on_outcome(self, outcome: Outcome) -> None:
        if not self.entry.outputs:
            super().on_outcome(outcome)
            return
        self.entry.outputs = deque(self.output_of(r) for r in self.results_of(outcome))


@breaks("RES-4")
class RaisesAtLateCompletions(Attempt):
    """Raises when a decided record is completed, as a completed future does."""

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
    """Queues a mail of another thread without waking the loop."""

    def __init__(self, loop: Loop) -> None:
        super().__init__(replace(loop, call_soon_threadsafe=lambda _: None))


@breaks("RES-6")
class KeepsWhatABrokenCollectionGave(ResultHandler):
    """Emits the items that an iterator yielded before it raised."""

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
    """Calls a supplier on the completing thread instead of the loop."""

    def completion(self) -> Completion:
        completion = super().completion()
        return _AsksAtOnce(completion.send, completion.clock)


@breaks("RES-7")
class AsksEverySupplier(ResultHandler):
    """Calls the supplier of every completion, and only then drops the later completions."""

    def on_outcome(self, outcome: Outcome) -> None:
        if isinstance(outcome, Returned) and outcome.is_supplied:
            with suppress(Exception):
                outcome = Returned(list(outcome.given()), outcome.at)
        super().on_outcome(outcome)


@breaks("RES-1")
class TakesNoneForNoResult(ResultHandler):
    """Drops results that are None."""

    def results_of(self, outcome: Outcome) -> tuple[Any, ...]:
        return tuple(r for r in super().results_of(outcome) if r is not None)


@breaks("RES-1")
class MergesEqualResults(ResultHandler):
    """Emits only one of several equal results of a record."""

    def results_of(self, outcome: Outcome) -> tuple[Any, ...]:
        merged: list[Any] = []
        for result in super().results_of(outcome):
            if result not in merged:
                merged.append(result)
        return tuple(merged)


@breaks("RES-4")
class LetsErrorsOverruleResults(ResultHandler):
    """Fails because of an error that follows the results of the same call."""

    def on_outcome(self, outcome: Outcome) -> None:
        if isinstance(outcome, Raised) and self.is_decided:
            self.results_of(outcome)
        super().on_outcome(outcome)
