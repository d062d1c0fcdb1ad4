"""ORD: operators that get the order wrong, of results or of calls."""

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


FAULTY: tuple[Faulty, ...] = (
    Faulty(KnowsOneMode, rule="ORD-1"),
    Faulty(EmitsOnePerCompletion, rule="ORD-2"),
    Faulty(EmitsWholeSegments, rule="ORD-3"),
    Faulty(StartsCallsInAnyOrder, rule="ORD-4", loop="trio"),
    Faulty(TakesEqualRecordsForOne, rule="ORD-5"),
)
