"""ORD: operators that get the order of results or calls wrong."""

import math
from collections import deque
from typing import Any

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import (
    Attempt,
    Entry,
    OrderedQueue,
    Outcome,
    RecordEntry,
    ResultHandler,
    Returned,
    StreamTask,
    UnorderedQueue,
)
from asyncwait.toolkit import awaitable_of


@breaks("ORD-1")
class KnowsOneMode(UnorderedQueue, OrderedQueue):
    """Hands results out as they are decided, even in ordered mode."""


@breaks("ORD-2")
class EmitsOnePerCompletion(OrderedQueue):
    """Hands out one record per decided record, and keeps the ready records behind it."""

    _may_emit = False

    def put(self, entry: Entry) -> None:
        super().put(entry)
        self._may_emit |= entry.outputs is not None

    def make_ready(self, entry: RecordEntry) -> None:
        self._may_emit = entry.outputs is not None

    def peek_ready(self) -> Entry | None:
        return super().peek_ready() if self._may_emit else None

    def remove(self, entry: Entry) -> None:
        super().remove(entry)
        self._may_emit = False


@breaks("ORD-3")
class EmitsWholeSegments(UnorderedQueue):
    """Hands out nothing of a segment while one of its records is undecided."""

    def peek_ready(self) -> Entry | None:
        segment = self.segments[0] if self.segments else None
        if segment is None or len(segment.ready) < len(segment.entries):
            return None
        return super().peek_ready()


@breaks("ORD-4", loop="trio", is_bound=True)  # asyncio begins tasks in order
class StartsCallsInAnyOrder(StreamTask):
    """Starts several calls in a step, and trio runs new tasks in any order."""

    def process_input(self, controller: object) -> None:
        super().process_input(controller)
        while self.backlog and not self.is_back_pressured():
            super().process_input(controller)


@breaks("ORD-5")
class TakesEqualRecordsForOne(ResultHandler):
    """Makes one call for equal records in flight, like a set of pending items by value."""

    waiting: tuple[ResultHandler, ...] = ()

    def start(self) -> None:
        running = getattr(self.operator, "running", ())
        same = next((h for h in running if h.is_open and h.record.value == self.record.value), None)
        if same is None:
            self.operator.running = (*running, self)  # type: ignore[attr-defined]
            super().start()
        else:
            same.waiting += (self,)

    def on_outcome(self, outcome: Outcome) -> None:
        super().on_outcome(outcome)
        for handler in self.waiting:
            handler.conclude(outcome)


@breaks("ORD-1")
class OrdersByTime(OrderedQueue):
    """Orders results by timestamp instead of input order."""

    def put(self, entry: Entry) -> None:
        super().put(entry)
        later: list[Entry] = [self.entries.pop()]
        while self.entries and self.time_of(self.entries[-1]) > self.time_of(entry):
            later.insert(1, self.entries.pop())
        self.entries.extend(later)

    def time_of(self, entry: Entry) -> float:
        record = entry.element if isinstance(entry, RecordEntry) else None
        return -math.inf if record is None or record.timestamp is None else record.timestamp


@breaks("ORD-1")
class NumbersRecordsInText(OrderedQueue):
    """Sorts by sequence numbers in text form, where "10" precedes "9"."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._count = 0
        self._numbers: dict[Entry, str] = {}

    def put(self, entry: Entry) -> None:
        self._numbers[entry] = str(self._count)
        self._count += 1
        super().put(entry)
        self.entries = deque(sorted(self.entries, key=self._numbers.__getitem__))

    def remove(self, entry: Entry) -> None:
        super().remove(entry)
        del self._numbers[entry]


@breaks("ORD-5")
class TriesFailedCallsAgain(Attempt):
    """Calls once more after any failure, without a retry policy."""

    async def invoke(self) -> Outcome:
        try:
            return await super().invoke()
        except Exception:  # any error: that is the fault
            return await super().invoke()


@breaks("ORD-5")
class ReadsIntoOneObject(Attempt):
    """Reads each record into one object, as decoders do: a late call sees the next record."""

    def start(self) -> None:
        vars(self.operator)["read"] = self.handler.record.value
        super().start()

    async def invoke(self) -> Outcome:
        self.begin()
        call = self.operator.function.call
        assert call is not None
        returned = await awaitable_of(self.handler.record, call(vars(self.operator)["read"]))
        return Returned(returned, self.operator.clock())
