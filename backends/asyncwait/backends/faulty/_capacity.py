"""CAP: operators that hold too many records, or call too few."""

from collections import Counter
from typing import Any

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import (
    Outcome,
    Output,
    ResultHandler,
    StreamTask,
)
from asyncwait.spec import Element, WatermarkStatus
from asyncwait.spec.snapshots import Stored


class TellsEachCompletion(ResultHandler):
    """Reports room when a record is decided."""

    def decide(self, results: tuple[Any, ...]) -> None:
        super().decide(results)
        self.operator.queue.on_room()


@breaks("CAP-1", TellsEachCompletion)
class FreesTheSlotOnCompletion(StreamTask):
    """Frees a slot when the call ends, so results pile up behind a slow head or reader."""

    def is_back_pressured(self) -> bool:
        undecided = sum(entry.outputs is None for entry in self.queue)
        return isinstance(self.backlog[0], Stored) and undecided >= self.config.capacity


@breaks("CAP-4")
class LosesTheSlotsOfTimeouts(ResultHandler):
    """Never frees the slot of a record that its deadline decided."""

    def on_deadline(self) -> None:
        if not self.is_decided:
            self.operator.queue.capacity -= 1
        super().on_deadline()


@breaks("CAP-5")
class CountsRecordsOnly(StreamTask):
    """Gives watermarks and statuses no slots, so any number of them queues up behind one call."""

    def is_back_pressured(self) -> bool:
        return super().is_back_pressured() and self.queue.records >= self.config.capacity


@breaks("CAP-6")
class TakesMarkersWithoutEnd(StreamTask):
    """Reads on while markers and snapshots wait for the consumer, without a bound on them."""

    def let_read(self) -> None:
        if not self.backlog:
            self.source.proceed()


@breaks("CAP-1")
class FreesASlotWithEachCompletion(ResultHandler):
    """Frees a slot with each completion, so a record with two completions frees two."""

    def on_outcome(self, outcome: Outcome) -> None:
        self.operator.queue.capacity += self.is_decided
        super().on_outcome(outcome)
        self.operator.queue.on_room()


@breaks("CAP-2", behind="KEY-9", why="records that wait for their keys take too much room, too")
class HasRoomForEachKey(StreamTask):
    """Applies the capacity to each key, not to all records together."""

    def is_back_pressured(self) -> bool:
        own = getattr(self.backlog[0], "key", None)
        keys = [getattr(entry.element, "key", None) for entry in self.queue]
        return super().is_back_pressured() and keys.count(own) >= self.config.capacity


@breaks("CAP-3")
class ReadsOneMoreAhead(StreamTask):
    """Reads one element more while another element waits for room."""

    def on_element(self, element: Element) -> None:
        super().on_element(element)
        self.let_read()

    def let_read(self) -> None:
        if len(self.backlog) <= 1 and self.output.overtakers <= self.config.capacity:
            self.source.proceed()


@breaks("CAP-6")
class BoundsMarkersAndSnapshotsApart(Output):
    """Bounds the waiting markers and the waiting snapshots separately."""

    @property
    def overtakers(self) -> int:
        kinds = Counter(type(e) for e in self.ahead if getattr(e, "read", None) is None)
        return max(kinds.values(), default=0)


@breaks("CAP-7")
class LeavesTimersOfAnsweredCalls(ResultHandler):
    """Keeps the timer of a decided record, which does nothing when it fires."""

    def cancel_deadline(self) -> None:
        pass


@breaks("CAP-7")
class NotesWhichAreOver(ResultHandler):
    """Keeps a number for each decided record, forever."""

    def decide(self, results: tuple[Any, ...]) -> None:
        over = vars(self.operator).setdefault("over", set())
        over.add(len(over))
        super().decide(results)


@breaks("CAP-5")
class GivesStatusesNoSlot(StreamTask):
    """Gives a status no slot, as Flink does after 2.3."""

    def is_back_pressured(self) -> bool:
        counted = [e for e in self.queue if not isinstance(e.element, WatermarkStatus)]
        return super().is_back_pressured() and len(counted) >= self.config.capacity
