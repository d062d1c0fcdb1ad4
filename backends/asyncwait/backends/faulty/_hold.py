"""HOLD: operators that hold too much, or make nothing of it."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import OrderedQueue, RecordEntry, SourceReader
from asyncwait.spec.snapshots import Stored


@breaks("HOLD-1")
class KnowsNoRoomForResults(OrderedQueue):
    """Frees a slot when its record is out, whatever it was told."""

    @property
    def is_full(self) -> bool:
        return len(self) >= self.capacity


@breaks("HOLD-1")
class TellsNobodyOfTheRoom(OrderedQueue):
    """Makes room when a record is finished, and lets that be known when something comes out."""

    def completed(self, entry: RecordEntry) -> None:
        max_held, self.max_held = self.max_held, 0
        super().completed(entry)
        self.max_held = max_held


@breaks("HOLD-2")
class AddsTheTwoUp(OrderedQueue):
    """Takes room for results for more capacity, and calls for as many records."""

    @property
    def is_full(self) -> bool:
        return len(self) >= self.capacity + self.max_held


@breaks("HOLD-3")
class HoldsWhateverIsFinished(OrderedQueue):
    """Counts undecided calls and nothing else, once it may hold anything."""

    @property
    def is_full(self) -> bool:
        taken = len(self) - (self.decided if self.max_held else 0)
        return taken >= self.capacity


@breaks("HOLD-4", behind="CAP-3", why="two elements wait for room, whatever is held")
class ReadsTwoAtATime(SourceReader):
    """Reads another element while one waits for room."""

    is_second = False

    async def hand_over(self, element: Any) -> None:
        self.is_second = not self.is_second
        if self.is_second:
            self.on_element(element)
        else:
            await super().hand_over(element)


@breaks("HOLD-5")
class SavesAsManyAsItsCapacity(OrderedQueue):
    """Stores no more elements in a snapshot than there is capacity for."""

    def elements(self) -> Iterator[Stored]:
        return islice(super().elements(), self.capacity)
