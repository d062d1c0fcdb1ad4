"""BAT: operators that share calls between records wrongly."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import (
    AsyncWaitOperator,
    Attempt,
    BatchCall,
    Gathering,
    KeyLines,
    Outcome,
    Raised,
    ResultHandler,
    Returned,
    StreamTask,
)


@breaks("BAT-1")
class LooksWhenATimerFires(Gathering):
    """Does not notice that a batch is full."""

    def next_batch(self) -> tuple[Sequence[Attempt], bool]:
        return super().next_batch()[0], False


@breaks("BAT-2")
class GathersUntilABatchIsFull(Gathering):
    """Sets no timer: a batch goes only when it is full, or at the end."""

    def set_alarm(self) -> None:
        pass

    def has_waited(self) -> bool:
        return False


@breaks("BAT-3")
class WaitsForThoseWhoCanNotCome(StreamTask):
    """Waits for the timer of a batch although no further record can join it."""

    def nothing_more_comes(self) -> bool:
        return False


@breaks("BAT-3")
class WaitsForThoseInTheirLastAttempt(Gathering):
    """Waits after the end of input for all running calls, as if each might be repeated."""

    def some_may_come(self) -> bool:
        return len(self.away) > 0


@breaks("BAT-4")
class WaitsForNobodyBehindTheEnd(StreamTask):
    """Sends a batch at the end of input although records still back off."""

    def nothing_more_comes(self) -> bool:
        return (self.end is not None and not self.backlog) or super().nothing_more_comes()


@breaks("BAT-4")
class KeepsTheTimerOfAFullBatch(Gathering):
    """Sets a timer for the first record and never cancels it, as a draft of Flink's does."""

    def set_alarm(self) -> None:
        if self.alarm is None and self.may_go:
            self.alarm = self.operator.timers.register(self.due, self.on_alarm)


@breaks("BAT-4")
class KeepsThePlacesOfTheLate(Gathering):
    """Counts records that are decided by their deadlines while they gather to be called again."""

    def leave(self, attempt: Attempt) -> None:
        pass


@breaks("BAT-5")
class SendsAllThatHaveGathered(Gathering):
    """Sends all waiting records in one batch, beyond the size of a batch."""

    def next_batch(self) -> tuple[Sequence[Attempt], bool]:
        attempts, is_full = super().next_batch()
        is_bounded = any(attempt.handler.room for attempt in self.waiting)
        return [*self.waiting] if is_full and not is_bounded else attempts, is_full


@breaks("BAT-6")
class SendsBatchesAsTheyFill(Gathering):
    """Bounds the records in flight, but not the batches."""

    @property
    def may_go(self) -> bool:
        return len(self.waiting) > 0 and self.starting is None and self.permit is None


@breaks("BAT-7")
class LeavesTheLatestBehind(Gathering):
    """Leaves the last record for the next batch, which other records may still join."""

    def next_batch(self) -> tuple[Sequence[Attempt], bool]:
        attempts, is_full = super().next_batch()
        return (attempts, True) if is_full else (attempts[:-1] or attempts, False)


@breaks("BAT-8", behind="ORD-1", why="answers that change places come out in the wrong order, too")
class HandsAnswersOutBackwards(BatchCall):
    """Assigns the answers to the records in reverse order."""

    def outcomes(self, outcome: Outcome) -> Sequence[Outcome]:
        return super().outcomes(outcome)[::-1]


@breaks("BAT-9")
class FailsTogether(BatchCall):
    """Fails the complete batch if one answer is bad."""

    def outcomes(self, outcome: Outcome) -> Sequence[Outcome]:
        outcomes = super().outcomes(outcome)
        failed = next((each for each in outcomes if isinstance(each, Raised)), None)
        return outcomes if failed is None else [failed] * len(outcomes)


@breaks("BAT-10")
class FailsTheFirstAlone(BatchCall):
    """Fails only the first record if the call raises, as Flink's draft for lookups does."""

    def on_ended(self, outcome: Outcome | None) -> None:
        if isinstance(outcome, Raised):
            for attempt in self.given[1:]:
                self.staying.discard(attempt)
        super().on_ended(outcome)


@breaks("BAT-11")
class LetsThoseWithoutAnAnswerWait(BatchCall):
    """Never completes the records without an answer, as in Flink's draft."""

    def outcomes(self, outcome: Outcome) -> Sequence[Outcome]:
        outcomes = super().outcomes(outcome)
        for attempt, each in zip(self.given, outcomes, strict=True):
            if isinstance(each, Raised) and type(each.error).__name__ == "NoAnswer":
                self.staying.discard(attempt)
        return outcomes


@breaks("BAT-12")
class CancelsForAll(BatchCall):
    """Cancels the call when the first of its records is late."""

    def leave(self, attempt: Attempt) -> None:
        super().leave(attempt)
        self.cancel()


@breaks("BAT-13")
class LetsAbandonedBatchesRun(BatchCall):
    """Never cancels a shared call, even if all its records have left."""

    def cancel(self) -> None:
        pass


@breaks("BAT-14")
class RepeatsTheWholeBatch(BatchCall):
    """Repeats a batch that has raised with all its records."""

    def bound(self, attempt: Attempt) -> None:
        self.has_failed = False
        super().bound(attempt)


@breaks("BAT-14")
class HalvesToTheEnd(BatchCall):
    """Halves a failing batch at each attempt, even if no attempt is left for a single record."""

    def bound(self, attempt: Attempt) -> None:
        attempt.handler.room = max(1, len(self.given) // 2) if self.has_failed else None


@breaks("BAT-14")
class SplitsWhatRaisesAlone(BatchCall):
    """Repeats a batch as a whole if the batch reached `attempt_timeout`."""

    def on_limit(self, attempt: Attempt) -> None:
        pass


@breaks("BAT-15")
class GathersPastTheKeys(AsyncWaitOperator):
    """Gathers records whose keys are busy, although they may not be called yet."""

    def is_first(self, handler: ResultHandler, keys: KeyLines) -> bool:
        is_busy = keys.lines.get(keys.key_of(handler)) is not None
        return True if is_busy and self.gathered is not None else super().is_first(handler, keys)

    def free_key(self, handler: ResultHandler) -> None:
        if self.keys is None or handler.line is not None:
            super().free_key(handler)


@breaks("BAT-16")
class CountsBatchesThatGather(Gathering):
    """Counts a batch when its first record comes, and again when the batch goes."""

    def join(self, attempt: Attempt) -> None:
        if not self.waiting:
            self.operator.batches += 1
        super().join(attempt)


@breaks("BAT-8")
class KeepsAnswersByValue(BatchCall):
    """Collects the answers of a list by value, so equal values get the same answer."""

    def answers(self, outcome: Returned) -> Sequence[Any] | Raised:
        read = super().answers(outcome)
        if isinstance(read, Raised):
            return read
        with suppress(TypeError):  # A value has no hash.
            by_value = dict(zip(self.values, read, strict=True))
            return [by_value[value] for value in self.values]
        return read
