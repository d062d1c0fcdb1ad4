"""CAP: operators that hold too much, or work too little."""

from collections import Counter
from typing import Any

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import CallRunner, Operator, Outcome, Output, RecordEntry, SourceReader
from asyncwait.spec import LatencyMarker, Snapshot, WatermarkStatus


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


class FreesASlotWithEachCompletion(Operator):
    """Gives a slot back with each completion, and so more than one where a record has two."""

    _given_back = 0

    def _on_outcome(self, entry: RecordEntry, outcome: Outcome) -> None:
        self._given_back += entry.outputs is not None
        super()._on_outcome(entry, outcome)

    def _has_room(self) -> bool:
        taken = len(self._queue) + self._output.slots - self._given_back
        return taken < self._config.capacity


class HasRoomForEachKey(Operator):
    """Counts what is in flight for each key, where it means to bound the whole."""

    def _has_room(self) -> bool:
        own = getattr(self._backlog[0], "key", None)
        keys = [getattr(element, "key", None) for element in self._queue.elements()]
        return keys.count(own) + self._output.slots < self._config.capacity


class ReadsOneMoreAhead(SourceReader):
    """Reads one element ahead of the one that waits for room, into a buffer of one place."""

    _waiting = 0

    def proceed(self) -> None:
        self._waiting = max(0, self._waiting - 1)
        super().proceed()

    async def _hand_over(self, element: Any) -> None:
        self._waiting += 1
        if self._waiting > 1:
            await super()._hand_over(element)
        else:
            self._on_element(element)


class WorksInBatches(Operator):
    """Fills up, and then admits nothing until all of that is gone, as gathering calls does."""

    _is_full = False

    def _has_room(self) -> bool:
        taken = len(self._queue) + self._output.slots
        self._is_full = taken >= self._config.capacity or (self._is_full and taken > 0)
        return not self._is_full


class BoundsMarkersAndSnapshotsApart(Output):
    """Counts the markers and the snapshots that nobody has taken each by themselves."""

    @property
    def overtakers(self) -> int:
        return max(Counter(map(type, self._ahead)).values(), default=0)


class LeavesTimersOfAnsweredCalls(Operator):
    """Lets a timer of a record that has answered run on, and does nothing when it fires."""

    def _cancel_deadline(self, entry: RecordEntry) -> None:
        pass


class GivesStatusesNoSlot(Operator):
    """Lets a status take no slot, as Flink does after 2.3."""

    def _has_room(self) -> bool:
        counted = [e for e in self._queue.elements() if not isinstance(e, WatermarkStatus)]
        return len(counted) + self._output.slots < self._config.capacity


FAULTY: tuple[Faulty, ...] = (
    Faulty(FreesTheSlotOnCompletion, rule="CAP-1"),
    Faulty(FreesSilentRecordsBehindAHalfReadOne, rule="CAP-1"),
    Faulty(FreesASlotWithEachCompletion, rule="CAP-1"),
    Faulty(RestoresAllAtOnce, rule="CAP-2"),
    Faulty(HasRoomForEachKey, rule="CAP-2"),
    Faulty(ReadsAhead, rule="CAP-3", loop="trio"),
    Faulty(ReadsOneMoreAhead, rule="CAP-3"),
    Faulty(LosesTheSlotsOfTimeouts, rule="CAP-4"),
    Faulty(WorksInBatches, rule="CAP-4"),
    Faulty(CountsRecordsOnly, rule="CAP-5"),
    Faulty(GivesStatusesNoSlot, rule="CAP-5"),
    Faulty(TakesMarkersWithoutEnd, rule="CAP-6"),
    Faulty(BoundsMarkersAndSnapshotsApart, rule="CAP-6"),
    Faulty(RemembersAllItHasCalled, rule="CAP-7"),
    Faulty(LeavesTimersOfAnsweredCalls, rule="CAP-7"),
)
