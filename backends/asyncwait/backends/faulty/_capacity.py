"""CAP: operators that hold too much, or work too little."""

from typing import Any

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import CallRunner, Operator, RecordEntry, SourceReader
from asyncwait.spec import LatencyMarker, Snapshot


class FreesTheSlotOnCompletion(Operator):
    """Gives a slot back when the call ends, and piles up results behind a slow head or reader."""

    def _has_room(self) -> bool:
        return self._undecided < self._config.capacity


class FreesSilentRecordsBehindAHalfReadOne(Operator):
    """Takes a record of which one result was taken for gone, and lets silent ones follow it."""

    def _release_empty(self) -> None:
        while (entry := self._queue.peek_ready()) is not None and not entry.outputs:
            self._queue.pop_ready()
            self._free_slot(entry)


class RestoresAllAtOnce(Operator):
    """Admits all that was stored without looking for room, and calls the function for it."""

    async def _wait_for_room(self) -> None:
        if self._read > 0:
            await super()._wait_for_room()


class ReadsAhead(SourceReader):
    """Reads on while an element waits for room, so that nothing ever slows the source down."""

    async def _hand_over(self, element: Any) -> None:
        self._on_element(element)


class LosesTheSlotsOfTimeouts(Operator):
    """Never gets back the slot of a record that its deadline decided, until none is left."""

    def _has_room(self) -> bool:
        lost = self._timeouts
        return len(self._queue) + self._output.slots + lost < self._config.capacity


class CountsRecordsOnly(Operator):
    """Gives watermarks and statuses no slots: any number of them queues up behind one call."""

    def _has_room(self) -> bool:
        return self._in_flight < self._config.capacity


class TakesMarkersWithoutEnd(Operator):
    """Lets any number of markers and snapshots overtake while nobody takes them, and reads on."""

    async def _overtake(self, element: LatencyMarker | Snapshot) -> None:
        self._leave_backlog()
        self._output.put_ahead(element)


class RemembersAllItHasCalled(CallRunner):
    """Keeps a list of all its calls, to tell about them some day."""

    _history: list[RecordEntry]

    async def start(self, entry: RecordEntry) -> None:
        self._history = [*getattr(self, "_history", ()), entry]
        await super().start(entry)


class CountsDeadlinesThatNeverPassed(Operator):
    """Counts a timeout for each deadline that it is done with, whether it has passed or not."""

    def _cancel_deadline(self, entry: RecordEntry) -> None:
        if entry.deadline is not None:
            self._timeouts += 1
        super()._cancel_deadline(entry)


FAULTY: tuple[Faulty, ...] = (
    Faulty(FreesTheSlotOnCompletion, rule="CAP-1"),
    Faulty(FreesSilentRecordsBehindAHalfReadOne, rule="CAP-1"),
    Faulty(RestoresAllAtOnce, rule="CAP-2"),
    Faulty(ReadsAhead, rule="CAP-3", loop="trio"),
    Faulty(LosesTheSlotsOfTimeouts, rule="CAP-4"),
    Faulty(CountsRecordsOnly, rule="CAP-5"),
    Faulty(TakesMarkersWithoutEnd, rule="CAP-6"),
    Faulty(RemembersAllItHasCalled, rule="CAP-7"),
    Faulty(CountsDeadlinesThatNeverPassed, rule="CAP-8"),
)
