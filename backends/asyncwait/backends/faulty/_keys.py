"""KEY: operators that compare keys wrongly, or hold them too long or too short."""

from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import (
    AsyncWaitOperator,
    Attempt,
    Entry,
    FenceEntry,
    KeyLines,
    KeyOrderedQueue,
    Outcome,
    RecordEntry,
    ResultHandler,
)
from asyncwait.spec.snapshots import Stored


@breaks("KEY-1")
class CallsAllOfAKeyAtOnce(KeyLines):
    """Calls every record at once, whatever its key."""

    def enter(self, handler: ResultHandler) -> bool:
        del handler
        return True

    def leave(self, handler: ResultHandler) -> None:
        del handler


@breaks("KEY-2")
class HandsOutTheLatestFirst(KeyOrderedQueue):
    """Hands out the record decided last first, if several wait."""

    def make_ready(self, entry: RecordEntry) -> None:
        ready = self.segment_of[entry].ready
        ready.insert(1 if ready and ready[0].begun else 0, entry)


@breaks("KEY-3")
class KeepsTheOrderOfAllKeys(KeyOrderedQueue):
    """Hands out a record only after all records before it, whatever their keys."""

    def peek_ready(self) -> Entry | None:
        first = next(iter(self), None)
        return None if first is None or first.outputs is None else first


@breaks("KEY-5")
class NeverFreesKeysOfLateRecords(AsyncWaitOperator):
    """Frees the key of a record that its call has decided, but not of a late record."""

    def free_key(self, handler: ResultHandler) -> None:
        if self.clock() < handler.due:
            super().free_key(handler)


@breaks("KEY-6")
class TakesAllKeysForOne(KeyLines):
    """Treats all keys as the same key."""

    def key_of(self, handler: ResultHandler) -> Any:
        del handler
        return ""


@breaks("KEY-6")
class LooksKeysUpByTheirHash(KeyLines):
    """Treats keys with equal hashes as equal, such as -1 and -2."""

    def key_of(self, handler: ResultHandler) -> Any:
        key = handler.record.key
        return hash(key) if isinstance(key, str | int | float) else key


@breaks("KEY-7")
class CallsNothingBehindAFence(ResultHandler):
    """Calls a record only when no watermark or status waits before it."""

    def start(self) -> None:
        before = iter(self.operator.queue)
        fences = [
            e for e in takewhile(lambda e: e is not self.entry, before) if isinstance(e, FenceEntry)
        ]
        if self.operator.config.mode != "key-ordered" or self.attempts or not fences:
            super().start()
        else:
            self.operator.timers.register(self.operator.clock() + 0.001, self.start)


@breaks("KEY-8")
class TellsKeysApartByTheirTypes(KeyLines):
    """Treats 1, True and 1.0 as three keys."""

    def key_of(self, handler: ResultHandler) -> Any:
        return repr(handler.record.key)


@breaks("KEY-8")
class CallsRecordsWithoutAKeyAtOnce(KeyLines):
    """Treats the key None as a missing key, which needs no order."""

    def key_of(self, handler: ResultHandler) -> Any:
        return handler if handler.record.key is None else handler.record.key


@breaks("KEY-8")
class CallsRecordsAtOnceWhoseKeysHaveNoHash(KeyLines):
    """Compares keys that cannot be hashed by identity."""

    def key_of(self, handler: ResultHandler) -> Any:
        key = handler.record.key
        return id(key) if isinstance(key, list | dict) else key


@breaks("KEY-9")
class GivesNoRoomToWhoWaitsForAKey(KeyLines):
    """Gives records that wait for their keys no slots."""

    def enter(self, handler: ResultHandler) -> bool:
        is_next = super().enter(handler)
        handler.operator.queue.capacity += not is_next
        return is_next

    def leave(self, handler: ResultHandler) -> ResultHandler | None:
        following = super().leave(handler)
        handler.operator.queue.capacity -= following is not None
        return following


@breaks("SNAP-4")
class StoresTheRunningRecordFirst(KeyOrderedQueue):
    """Stores the running record of a key before its finished records that are held (KO-12)."""

    def elements(self) -> Iterator[Stored]:
        running = {id(entry.element) for entry in self.called if entry.outputs is None}
        yield from sorted(super().elements(), key=lambda element: id(element) not in running)


@breaks(
    "TIME-6",
    behind="KEY-1",
    why="the call of the key that still runs is answered, and the next one begins",
)
class GivesLateAnswersToTheirKeys(Attempt):
    """Knows calls by their keys: a late answer goes to the record that holds the key now."""

    def on_outcome(self, outcome: Outcome) -> None:
        line, operator = None, self.operator
        assert isinstance(operator, AsyncWaitOperator)
        if operator.keys is not None and self.handler.timed_out:
            line = operator.keys.lines.get(self.handler.record.key)
        if line:
            line[0].on_outcome(outcome)
        else:
            super().on_outcome(outcome)
