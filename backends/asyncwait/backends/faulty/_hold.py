"""HOLD: operators that hold too many results, or do not use their room for results."""

from typing import Any

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import OrderedQueue, SourceReader


@breaks("HOLD-1")
class KnowsNoRoomForResults(OrderedQueue):
    """Ignores the room for results: frees a slot only when its record is out."""

    @property
    def is_full(self) -> bool:
        return len(self) >= self.capacity


@breaks("HOLD-2")
class AddsTheTwoUp(OrderedQueue):
    """Adds the room for results to the capacity, and calls as many records."""

    @property
    def is_full(self) -> bool:
        return len(self) >= self.capacity + self.max_held


@breaks("HOLD-3")
class HoldsWhateverIsFinished(OrderedQueue):
    """Counts only undecided records, and holds any number of results."""

    @property
    def is_full(self) -> bool:
        taken = len(self) - (self.decided if self.max_held else 0)
        return taken >= self.capacity


@breaks("HOLD-4", behind="CAP-3", why="two elements wait for room, whatever is held")
class ReadsTwoAtATime(SourceReader):
    """Reads a second element while another element waits for room."""

    is_second = False

    async def hand_over(self, element: Any) -> None:
        self.is_second = not self.is_second
        if self.is_second:
            self.on_element(element)
        else:
            await super().hand_over(element)
