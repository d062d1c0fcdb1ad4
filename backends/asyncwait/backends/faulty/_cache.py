"""CACHE: operators that cache results wrongly."""

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
    """Caches and shares the results of a null key."""

    def place_of(self, value: Any) -> Any:
        place = super().place_of(value)
        return "null" if _is_null(place) else place


@breaks("CACHE-1")
class LooksAtTheWholeKeyAlone(ResultCache):
    """Accepts a key of which a part is null."""

    def place_of(self, value: Any) -> Any:
        key = value if self.key is None else self.key(value)
        return NULL_KEY if key is None else (type(key), key)


@breaks("CACHE-2")
class LoadsForEachRecord(ResultCache):
    """Starts a load for each record without cached results, as Flink's lookup cache does."""

    def start(self, load: LoadCall) -> None:
        load.start()


@breaks("CACHE-2")
class TakesTrueForOne(ResultCache):
    """Compares keys as a dict does, where 1, 1.0 and True are equal."""

    def place_of(self, value: Any) -> Any:
        place = super().place_of(value)
        is_number = isinstance(place, tuple) and place[0] in {float, bool}
        return place[1] if is_number else place


@breaks("CACHE-3")
class LeavesWithTheLoad(LoadCall):
    """Cancels a load when the record that began the load leaves."""

    def leave(self, attempt: Attempt) -> None:
        super().leave(attempt)
        if attempt is self.first:
            self.cancel()


@breaks("CACHE-3")
class LetsUnwantedLoadsRun(LoadCall):
    """Never cancels a load, so the next record may find its results."""

    def leave(self, attempt: Attempt) -> None:
        self.waiting.pop(attempt, None)


@breaks("CACHE-3")
class SharesWhatIsCancelled(LoadCall):
    """Keeps sharing a cancelled load until the load has ended."""

    def leave(self, attempt: Attempt) -> None:
        self.waiting.pop(attempt, None)
        if not self.waiting:
            self.cancel()


@breaks("CACHE-4")
class KeepsFailures(ResultCache):
    """Caches the failure of a key for later records."""

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
    """Passes a failure only to the record that began the load."""

    def tell(self, outcome: Outcome) -> None:
        if isinstance(outcome, Raised) and self.first in self.waiting:
            self.waiting = {self.first: None}
        super().tell(outcome)


@breaks("CACHE-5")
class CountsFromTheAnswer(ResultCache):
    """Counts the age of results from the answer, not the call, as Flink's lookup cache does."""

    def keep(self, load: LoadCall, outcome: Returned) -> None:
        super().keep(load, outcome)
        kept = self.store.entries.get(load.place)
        if kept is not None:
            kept.good_until += outcome.at - load.began


@breaks("CACHE-5")
class KeepsWhatIsFresh(ResultCache):
    """Drops results after half of their time to live."""

    def kept(self, place: Any, attempt: Attempt) -> tuple[Any, ...] | None:
        kept, now = self.store.entries.get(place), self.operator.clock()
        half = self.settings.ttl / 2
        is_old = kept is not None and kept.results and now >= kept.good_until - half
        return None if is_old else super().kept(place, attempt)


@breaks("CACHE-6")
class LetsTheOldestGo(ResultCache):
    """Evicts the key whose results were cached first, however often it was used since."""

    def kept(self, place: Any, attempt: Attempt) -> tuple[Any, ...] | None:
        entries: Any = self.store.entries
        if place not in entries or self.settings.refresh_ahead is not None:
            return super().kept(place, attempt)
        kept: Any = Unordered.__getitem__(entries, place)  # and it is as old as before
        return None if self.operator.clock() >= kept.good_until else kept.results


@breaks("CACHE-7")
class KeepsEmptyResultsAsLong(ResultCache):
    """Keeps empty results as long as other results."""

    def __init__(
        self, operator: AsyncWaitOperator, settings: Cache, load_class: type[LoadCall]
    ) -> None:
        super().__init__(operator, settings, load_class)
        self.store = Store(replace(settings, missing_ttl=settings.ttl))


@breaks("CACHE-7")
class TakesAnEmptyResultForNone(ResultCache):
    """Treats a cached empty collection as a missing entry."""

    def kept(self, place: Any, attempt: Attempt) -> tuple[Any, ...] | None:
        return super().kept(place, attempt) or None


@breaks("CACHE-8")
class LoadsWhenItIsTooLate(ResultCache):
    """Never refreshes results ahead of time."""

    def refresh(self, place: Any, attempt: Attempt) -> None:
        pass


@breaks("CACHE-8")
class LoadsAheadWithEachHit(ResultCache):
    """Starts a refresh with each hit that is due, as long as none runs."""

    def refresh(self, place: Any, attempt: Attempt) -> None:
        refresh_from = self.store.entries[place].refresh_from
        super().refresh(place, attempt)
        self.store.entries[place].refresh_from = refresh_from


@breaks("CACHE-8")
class LoadsAheadWithoutBound(ResultCache):
    """Refreshes any number of keys at the same time."""

    def kept(self, place: Any, attempt: Attempt) -> tuple[Any, ...] | None:
        running, self.running = self.running, 0
        try:
            return super().kept(place, attempt)
        finally:
            self.running += running


@breaks("CACHE-8")
class WaitsForTheNewResults(ResultCache):
    """Lets the hit that starts a refresh wait for the refreshed results."""

    def kept(self, place: Any, attempt: Attempt) -> tuple[Any, ...] | None:
        before, results = self.refreshes, super().kept(place, attempt)
        return results if self.refreshes == before else None


@breaks("CACHE-8")
class WaitsForWhatNobodyWaitsFor(StreamTask):
    """Waits at its end for all loads, even for background loads."""

    def is_drained(self) -> bool:
        cache = self.operator.cache
        return super().is_drained() and not (cache is not None and cache.loads)


@breaks("CACHE-9")
class HasNothingOldToGive(ResultCache):
    """Drops the results of a key when a load of the key fails."""

    def despite(self, load: LoadCall, failure: Raised) -> Outcome:
        self.store.entries.pop(load.place, None)
        return super().despite(load, failure)


@breaks("CACHE-9")
class RepeatsBeforeItGivesOldResults(ResultCache):
    """Returns stale results only if no attempts are left."""

    def despite(self, load: LoadCall, failure: Raised) -> Outcome:
        retry = self.operator.config.retry
        numbers = [attempt.number for attempt in load.waiting]
        if retry is not None and numbers and max(numbers) < retry.max_attempts:
            return failure
        return super().despite(load, failure)


@breaks("CACHE-9")
class GivesOldResultsForEver(ResultCache):
    """Returns stale results for a failure, however old they are."""

    def despite(self, load: LoadCall, failure: Raised) -> Outcome:
        kept = None if _is_null(load.place) else self.store.entries.get(load.place)
        if kept is not None and kept.results and self.settings.stale_if_error is not None:
            kept.stale_until = failure.at + 1
        return super().despite(load, failure)


@breaks("CACHE-10")
class StaysWarm(StreamTask):
    """Continues after a restore with the cache of the operator before."""

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
    """Counts a load when it ends, not when it begins."""

    def figures(self) -> dict[str, int]:
        figures = super().figures()
        running = sum(not load.is_background for load in self.loads.values())
        return {**figures, "loads": figures["loads"] - running}
