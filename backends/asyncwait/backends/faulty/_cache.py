"""CACHE: operators that keep what calls give, and go wrong about it."""

from typing import Any, ClassVar

from cachetools import Cache as Unordered
from msgspec.structs import replace

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import (
    AsyncWaitOperator,
    Attempt,
    LoadCall,
    Outcome,
    Raised,
    ResultCache,
    Returned,
    StreamTask,
)
from asyncwait.spec import Cache
from asyncwait.toolkit import NULL_KEY, Store


def _is_null(key: Any) -> bool:
    return key is NULL_KEY


@breaks("CACHE-1")
class TakesNullForAKey(ResultCache):
    """Keeps and shares what was loaded for a null as if that were a key."""

    def place_of(self, value: Any) -> Any:
        place = super().place_of(value)
        return "null" if _is_null(place) else place


@breaks("CACHE-1")
class LooksAtTheWholeKeyAlone(ResultCache):
    """Takes a key for one though a part of it is null."""

    def place_of(self, value: Any) -> Any:
        key = value if self.key is None else self.key(value)
        return NULL_KEY if key is None else (type(key), key)


@breaks("CACHE-2")
class LoadsForEachRecord(ResultCache):
    """Begins a load for each record that finds nothing, as Flink's lookup cache does."""

    def start(self, load: LoadCall) -> None:
        load.start()


@breaks("CACHE-2")
class TakesTrueForOne(ResultCache):
    """Finds keys as a dict does, to which 1, 1.0 and True are one."""

    def place_of(self, value: Any) -> Any:
        place = super().place_of(value)
        is_number = isinstance(place, tuple) and place[0] in {float, bool}
        return place[1] if is_number else place


@breaks("CACHE-3")
class LeavesWithTheLoad(LoadCall):
    """Cancels a load when the record leaves that has begun it."""

    def leave(self, attempt: Attempt) -> None:
        super().leave(attempt)
        if attempt is self.first:
            self.cancel()


@breaks("CACHE-3")
class LetsUnwantedLoadsRun(LoadCall):
    """Cancels no load, so that the next to ask may find its results."""

    def leave(self, attempt: Attempt) -> None:
        self.waiting.pop(attempt, None)


@breaks("CACHE-3")
class SharesWhatIsCancelled(LoadCall):
    """Forgets a load when it has ended, and not when it is cancelled."""

    def leave(self, attempt: Attempt) -> None:
        self.waiting.pop(attempt, None)
        if not self.waiting:
            self.cancel()


@breaks("CACHE-3")
class LetsLoadsAheadHang(LoadCall):
    """Lets a load run on that began in the background, also where all have left it."""

    def leave(self, attempt: Attempt) -> None:
        self.waiting.pop(attempt, None)
        if not (self.waiting or self.is_background):
            self.cache.is_over(self)
            self.cancel()


@breaks("CACHE-4")
class KeepsFailures(ResultCache):
    """Has each later record of a key fail as the first did."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.failures: dict[Any, Outcome] = {}

    def despite(self, load: LoadCall, failure: Raised) -> Outcome:
        outcome = super().despite(load, failure)
        if isinstance(outcome, Raised) and not _is_null(load.place):
            self.failures[load.place] = outcome
        return outcome

    def ask_for(self, place: Any, attempt: Attempt) -> None:
        if place in self.failures:
            self.hits += 1
            attempt.post(attempt.on_outcome, self.failures[place])
        else:
            super().ask_for(place, attempt)


@breaks("CACHE-4")
class FailsWhoHasBegunAlone(LoadCall):
    """Hands a failure to the record that has begun the load, and to nobody else."""

    def tell(self, outcome: Outcome) -> None:
        if isinstance(outcome, Raised) and self.first in self.waiting:
            self.waiting = {self.first: None}
        super().tell(outcome)


@breaks("CACHE-5")
class CountsFromTheAnswer(ResultCache):
    """Has the time of results begin when they are there, as Flink's lookup cache does."""

    def keep(self, load: LoadCall, outcome: Returned) -> None:
        super().keep(load, outcome)
        kept = self.store.entries.get(load.place)
        if kept is not None:
            kept.good_until += outcome.at - load.began


@breaks("CACHE-5")
class KeepsWhatIsFresh(ResultCache):
    """Believes results for half of the time for which they are good."""

    def kept(self, place: Any, attempt: Attempt) -> tuple[Any, ...] | None:
        kept, now = self.store.entries.get(place), self.operator.clock()
        half = self.settings.ttl / 2
        is_old = kept is not None and kept.results and now >= kept.good_until - half
        return None if is_old else super().kept(place, attempt)


@breaks("CACHE-6")
class LetsTheOldestGo(ResultCache):
    """Counts a key from when its results were kept, however often it was used since."""

    def kept(self, place: Any, attempt: Attempt) -> tuple[Any, ...] | None:
        entries: Any = self.store.entries
        if place not in entries or self.settings.refresh_ahead is not None:
            return super().kept(place, attempt)
        kept: Any = Unordered.__getitem__(entries, place)  # and it is as old as before
        return None if self.operator.clock() >= kept.good_until else kept.results


@breaks("CACHE-6")
class LetsNothingGo(ResultCache):
    """Keeps the results of all keys that there are."""

    def __init__(
        self, operator: AsyncWaitOperator, settings: Cache, load_class: type[LoadCall]
    ) -> None:
        super().__init__(operator, settings, load_class)
        self.store = Store(replace(settings, max_keys=1_000_000))


@breaks("CACHE-7")
class KeepsEmptyResultsAsLong(ResultCache):
    """Keeps an empty result like any other."""

    def __init__(
        self, operator: AsyncWaitOperator, settings: Cache, load_class: type[LoadCall]
    ) -> None:
        super().__init__(operator, settings, load_class)
        self.store = Store(replace(settings, missing_ttl=settings.ttl))


@breaks("CACHE-7")
class TakesAnEmptyResultForNone(ResultCache):
    """Finds no results in an empty collection of them."""

    def kept(self, place: Any, attempt: Attempt) -> tuple[Any, ...] | None:
        return super().kept(place, attempt) or None


@breaks("CACHE-8")
class LoadsWhenItIsTooLate(ResultCache):
    """Begins no load ahead of time."""

    def refresh(self, place: Any, attempt: Attempt) -> None:
        pass


@breaks("CACHE-8")
class LoadsAheadWithEachHit(ResultCache):
    """Begins a load with each hit that is due, as long as none runs."""

    def refresh(self, place: Any, attempt: Attempt) -> None:
        refresh_from = self.store.entries[place].refresh_from
        super().refresh(place, attempt)
        self.store.entries[place].refresh_from = refresh_from


@breaks("CACHE-8")
class LoadsAheadWithoutBound(ResultCache):
    """Begins as many loads ahead of time as keys are due."""

    def kept(self, place: Any, attempt: Attempt) -> tuple[Any, ...] | None:
        running, self.running = self.running, 0
        try:
            return super().kept(place, attempt)
        finally:
            self.running += running


@breaks("CACHE-8")
class WaitsForTheNewResults(ResultCache):
    """Has the hit that begins a load wait for it."""

    def kept(self, place: Any, attempt: Attempt) -> tuple[Any, ...] | None:
        before, results = self.refreshes, super().kept(place, attempt)
        return results if self.refreshes == before else None


@breaks("CACHE-8")
class WaitsForWhatNobodyWaitsFor(StreamTask):
    """Ends when all loads have ended, those in the background, too."""

    def is_drained(self) -> bool:
        cache = self.operator.cache
        return super().is_drained() and not (cache is not None and cache.loads)


@breaks("CACHE-9")
class HasNothingOldToGive(ResultCache):
    """Forgets results when a load of their key has failed."""

    def despite(self, load: LoadCall, failure: Raised) -> Outcome:
        self.store.entries.pop(load.place, None)
        return super().despite(load, failure)


@breaks("CACHE-9")
class RepeatsBeforeItGivesOldResults(ResultCache):
    """Gives old results when no attempts are left."""

    def despite(self, load: LoadCall, failure: Raised) -> Outcome:
        retry = self.operator.config.retry
        numbers = [attempt.number for attempt in load.waiting]
        if retry is not None and numbers and max(numbers) < retry.max_attempts:
            return failure
        return super().despite(load, failure)


@breaks("CACHE-9")
class GivesOldResultsForEver(ResultCache):
    """Gives old results for a failure, however old they are."""

    def despite(self, load: LoadCall, failure: Raised) -> Outcome:
        kept = None if _is_null(load.place) else self.store.entries.get(load.place)
        if kept is not None and kept.results and self.settings.stale_if_error is not None:
            kept.stale_until = failure.at + 1
        return super().despite(load, failure)


@breaks("CACHE-10")
class StaysWarm(StreamTask):
    """Goes on with what the one before it has kept, where it is restored."""

    kept: ClassVar[Store | None] = None

    def restore(self) -> None:
        cache = self.operator.cache
        if cache is not None and self.stored and StaysWarm.kept is not None:
            cache.store = StaysWarm.kept
        super().restore()

    def stop(self) -> None:
        cache = self.operator.cache
        StaysWarm.kept = None if cache is None else cache.store
        super().stop()


@breaks("CACHE-11")
class CountsLoadsWhenTheyEnd(ResultCache):
    """Counts a load when it is over."""

    def figures(self) -> dict[str, int]:
        figures = super().figures()
        running = sum(not load.is_background for load in self.loads.values())
        return {**figures, "loads": figures["loads"] - running}


@breaks("CACHE-11")
class CountsOldResultsBesides(ResultCache):
    """Counts a call that is given old results as that, and as what it was before."""

    def despite(self, load: LoadCall, failure: Raised) -> Outcome:
        counted = self.begun, self.shared
        outcome = super().despite(load, failure)
        self.begun, self.shared = counted
        return outcome
