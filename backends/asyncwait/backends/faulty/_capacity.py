"""CAP: operators that hold too much, or work too little."""

from collections import Counter
from typing import Any

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import (
    AsyncWaitOperator,
    OrderedQueue,
    Outcome,
    Output,
    ResultHandler,
    SourceReader,
    StreamTask,
)
from asyncwait.spec import Element, OperatorError, Record, WatermarkStatus
from asyncwait.spec.snapshots import Stored


class TellsEachCompletion(ResultHandler):
    """Says that there is more room when a record is decided."""

    def decide(self, results: tuple[Any, ...]) -> None:
        super().decide(results)
        self.operator.queue.on_room()


@breaks("CAP-1", TellsEachCompletion)
class FreesTheSlotOnCompletion(StreamTask):
    """Gives a slot back when the call ends, and piles up results behind a slow head or reader."""

    def is_back_pressured(self) -> bool:
        undecided = sum(entry.outputs is None for entry in self.queue)
        return isinstance(self.backlog[0], Stored) and undecided >= self.config.capacity


@breaks("CAP-1")
class FreesSilentRecordsBehindAHalfReadOne(OrderedQueue):
    """Takes a record of which one result was taken for gone, and lets silent ones follow it."""

    def drop_empty(self) -> None:
        super().drop_empty()
        if self.begun:
            begun = self.entries.popleft()
            super().drop_empty()
            self.entries.appendleft(begun)


@breaks(
    "CAP-2",
    behind="REST-4",
    why="it starts too many calls while restoring, which has a bound of its own",
)
class RestoresAllAtOnce(StreamTask):
    """Admits all that was stored without looking for room, and calls the function for it."""

    def restore(self) -> None:
        for element in self.stored:
            self.process(element)
        self.stored = ()
        super().restore()


@breaks("CAP-3", loop="trio")
class ReadsAhead(SourceReader):
    """Reads on while an element waits for room, so that nothing ever slows the source down."""

    async def hand_over(self, element: Any) -> None:
        self.on_element(element)


@breaks("CAP-4")
class LosesTheSlotsOfTimeouts(ResultHandler):
    """Never gets back the slot of a record that its deadline decided, until none is left."""

    def on_deadline(self) -> None:
        if not self.is_decided:
            self.operator.queue.capacity -= 1
        super().on_deadline()


@breaks("CAP-5")
class CountsRecordsOnly(StreamTask):
    """Gives watermarks and statuses no slots: any number of them queues up behind one call."""

    def is_back_pressured(self) -> bool:
        return super().is_back_pressured() and self.queue.records >= self.config.capacity


@breaks("CAP-6")
class TakesMarkersWithoutEnd(StreamTask):
    """Lets any number of markers and snapshots overtake while nobody takes them, and reads on."""

    def let_read(self) -> None:
        if not self.backlog:
            self.source.proceed()


@breaks("CAP-7")
class RemembersAllItHasCalled(AsyncWaitOperator):
    """Keeps a list of all its calls, to tell about them some day."""

    _history: tuple[Record, ...] = ()

    def process_record(self, record: Record) -> None:
        self._history += (record,)
        super().process_record(record)


@breaks("CAP-1")
class FreesASlotWithEachCompletion(ResultHandler):
    """Gives a slot back with each completion, and so more than one where a record has two."""

    def on_outcome(self, outcome: Outcome) -> None:
        self.operator.queue.capacity += self.is_decided
        super().on_outcome(outcome)
        self.operator.queue.on_room()


@breaks("CAP-2", behind="KEY-9", why="records that wait for their keys take too much room, too")
class HasRoomForEachKey(StreamTask):
    """Counts what is in flight for each key, where it means to bound the whole."""

    def is_back_pressured(self) -> bool:
        own = getattr(self.backlog[0], "key", None)
        keys = [getattr(entry.element, "key", None) for entry in self.queue]
        return super().is_back_pressured() and keys.count(own) >= self.config.capacity


@breaks("CAP-3")
class ReadsOneMoreAhead(StreamTask):
    """Reads one element ahead of the one that waits for room, into a buffer of one place."""

    def on_element(self, element: Element) -> None:
        super().on_element(element)
        self.let_read()

    def let_read(self) -> None:
        if len(self.backlog) <= 1 and self.output.overtakers <= self.config.capacity:
            self.source.proceed()


@breaks("CAP-4")
class WorksInBatches(StreamTask):
    """Fills up, and then admits nothing until all of that is gone, as gathering calls does."""

    _is_full = False

    def is_back_pressured(self) -> bool:
        self._is_full = self.queue.is_full or (self._is_full and len(self.queue) > 0)
        return isinstance(self.backlog[0], Stored) and self._is_full


@breaks("CAP-6")
class BoundsMarkersAndSnapshotsApart(Output):
    """Counts the markers and the snapshots that nobody has taken each by themselves."""

    @property
    def overtakers(self) -> int:
        kinds = Counter(type(e) for e in self.ahead if getattr(e, "read", None) is None)
        return max(kinds.values(), default=0)


@breaks("CAP-7")
class LeavesTimersOfAnsweredCalls(ResultHandler):
    """Lets a timer of a record that has answered run on, and does nothing when it fires."""

    def cancel_deadline(self) -> None:
        pass


@breaks("CAP-7")
class NotesWhichAreOver(ResultHandler):
    """Keeps no record, and of each one a number by which it knows that it is decided."""

    def decide(self, results: tuple[Any, ...]) -> None:
        over = vars(self.operator).setdefault("over", set())
        over.add(len(over))
        super().decide(results)


@breaks("CAP-7")
class KeepsWhatItHasAnsweredFor(ResultHandler):
    """Keeps each failure that the failure handler has answered for, to tell about it some day."""

    def decide_despite(self, failure: OperatorError) -> None:
        super().decide_despite(failure)
        vars(self.operator).setdefault("answered", []).append(failure)


@breaks("CAP-5")
class GivesStatusesNoSlot(StreamTask):
    """Lets a status take no slot, as Flink does after 2.3."""

    def is_back_pressured(self) -> bool:
        counted = [e for e in self.queue if not isinstance(e.element, WatermarkStatus)]
        return super().is_back_pressured() and len(counted) >= self.config.capacity
