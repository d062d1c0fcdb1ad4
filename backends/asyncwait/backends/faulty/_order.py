"""ORD: operators that get the order wrong, of results or of calls."""

import math
from collections import deque
from typing import Any

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import (
    Call,
    CallRunner,
    Entry,
    Operator,
    OrderedQueue,
    Outcome,
    RecordEntry,
    UnorderedQueue,
)
from asyncwait.spec import MODES


class KnowsOneMode(Operator):
    """Hands results out as they are decided, in ordered mode too."""

    queue_classes = dict.fromkeys(MODES, UnorderedQueue)


class EmitsOnePerCompletion(OrderedQueue):
    """Hands out one record when one is decided, and leaves those that are ready behind it."""

    _may_emit = False

    def put(self, entry: Entry) -> None:
        super().put(entry)
        self._may_emit |= entry.outputs is not None

    def completed(self, entry: RecordEntry) -> None:
        self._may_emit = entry.outputs is not None

    def peek_ready(self) -> Entry | None:
        return super().peek_ready() if self._may_emit else None

    def _remove(self, entry: Entry) -> None:
        super()._remove(entry)
        self._may_emit = False


class EmitsWholeSegments(UnorderedQueue):
    """Hands nothing of a segment out while a record of it is undecided."""

    def peek_ready(self) -> Entry | None:
        segment = self._segments[0] if self._segments else None
        if segment is None or len(segment.ready) < len(segment.entries):
            return None
        return super().peek_ready()


class StartsCallsInAnyOrder(CallRunner):
    """Does not wait for the first step of a call, and trio runs new tasks in any order."""

    async def _start_task(self, entry: RecordEntry) -> None:
        call = self._running[entry] = Call(entry)
        self._spawn(self._run, call)


class TakesEqualRecordsForOne(CallRunner):
    """Calls the function once for equal records in flight, like a set of pending items by value."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sharing: list[tuple[RecordEntry, RecordEntry]] = []

    async def start(self, entry: RecordEntry) -> None:
        value = entry.element.value
        same = next((other for other in self._running if other.element.value == value), None)
        if same is None:
            await super().start(entry)
        else:
            self._sharing.append((same, entry))

    def _on_ended(self, call: Call, outcome: Outcome | None) -> None:
        super()._on_ended(call, outcome)
        for leader, entry in self._sharing:
            if leader is call.entry and outcome is not None:
                self._on_outcome(entry, outcome)


class OrdersByTime(OrderedQueue):
    """Takes the order of timestamps for that of the input, as far as there are timestamps."""

    def put(self, entry: Entry) -> None:
        later: list[Entry] = []
        while self._entries and self._time_of(self._entries[-1]) > self._time_of(entry):
            later.append(self._entries.pop())
        self._entries.extend([entry, *reversed(later)])

    def _time_of(self, entry: Entry) -> float:
        record = entry.element if isinstance(entry, RecordEntry) else None
        return -math.inf if record is None or record.timestamp is None else record.timestamp


class NumbersRecordsInText(OrderedQueue):
    """Sorts by sequence numbers that are texts, of which "10" stands before "9"."""

    def __init__(self) -> None:
        super().__init__()
        self._count = 0
        self._numbers: dict[Entry, str] = {}

    def put(self, entry: Entry) -> None:
        self._numbers[entry] = str(self._count)
        self._count += 1
        super().put(entry)
        self._entries = deque(sorted(self._entries, key=self._numbers.__getitem__))

    def _remove(self, entry: Entry) -> None:
        super()._remove(entry)
        del self._numbers[entry]


class TriesFailedCallsAgain(CallRunner):
    """Calls once more where a call has failed: nearly always that helps."""

    async def _invoke(self, call: Call) -> Outcome:
        try:
            return await super()._invoke(call)
        except Exception:  # whatever it was: that is the fault
            return await super()._invoke(call)


FAULTY: tuple[Faulty, ...] = (
    Faulty(KnowsOneMode, rule="ORD-1"),
    Faulty(OrdersByTime, rule="ORD-1"),
    Faulty(NumbersRecordsInText, rule="ORD-1"),
    Faulty(EmitsOnePerCompletion, rule="ORD-2"),
    Faulty(EmitsWholeSegments, rule="ORD-3"),
    Faulty(StartsCallsInAnyOrder, rule="ORD-4", loop="trio"),
    Faulty(TakesEqualRecordsForOne, rule="ORD-5"),
    Faulty(TriesFailedCallsAgain, rule="ORD-5"),
)
