"""The queue that blocks: what was admitted and is not gone."""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeAlias

from asyncwait.backends.emitter._entries import Entry
from asyncwait.backends.emitter._signal import Signal
from asyncwait.spec import Record
from asyncwait.spec.snapshots import Stored

EntrySet: TypeAlias = dict[Entry, None]
"""A set that keeps its order."""


class ElementQueue(ABC):
    """A queue that blocks on both sides: who puts waits for room, who peeks for a completed entry.

    An entry holds its slot until it is polled, and it is polled when it has been emitted (CAP-1).

    Args:
        capacity: how many entries there may be.
        max_held: how many completed ones need no room.
    """

    def __init__(self, capacity: int, max_held: int = 0) -> None:
        self._capacity = capacity
        self._max_held = max_held
        self._done = 0
        self._entries: EntrySet = {}
        self._records = 0
        self.called: OrderedDict[Entry, float] = OrderedDict()
        """When the first calls of the entries began, in that order, in seconds of the loop."""
        self.max_held = 0
        """Most records at a time that were completed and not polled."""
        self._room = Signal()
        self._news = Signal()
        self.on_moved: Callable[[], object] = lambda: None
        """Called when an entry has come or gone, and at the end."""
        self.on_completed: Callable[[Entry], object] = lambda _: None
        """Called with each entry that is completed."""
        self.is_ended = False
        """Whether nothing will be put any more."""
        self._is_closed = False

    # Of the task that reads

    async def put(self, entry: Entry) -> bool:
        """Add an entry as soon as there is room; return False if the queue was closed instead."""
        while not self.try_put(entry):
            if self._is_closed:
                return False
            await self._room.outlast()
        return True

    def try_put(self, entry: Entry) -> bool:
        """Add an entry, if there is room; return whether there was."""
        if self._is_closed or self.is_full():
            return False
        self._entries[entry] = None
        self._done += entry.is_completed
        self._records += isinstance(entry.element, Record)
        self.add(entry)
        self._news.give()
        self.on_moved()
        return True

    def end(self) -> None:
        """Take note that nothing will be put any more."""
        self.is_ended = True
        self._news.give()
        self.on_moved()

    # Of the emitter

    async def peek_blockingly(self) -> Entry | None:
        """Return the entry that may come out next as soon as there is one, and leave it there.

        None says that there will be none: the queue has ended and is empty, or was closed.
        """
        while not self._is_closed:
            entry = self.peek()
            if entry is not None:
                return entry
            if self.is_ended and self.is_empty():
                return None
            await self._news.wait()
        return None

    def poll(self) -> Entry | None:
        """Remove the entry that may come out next, and return it; None if none may."""
        entry = self.peek()
        if entry is not None:
            self.remove()
            del self._entries[entry]
            self.called.pop(entry, None)
            self._records -= isinstance(entry.element, Record)
            self._done -= 1
            self._room.give()
            self.on_moved()
        return entry

    # Of whoever completes

    def completed(self, entry: Entry) -> None:
        """Take note that an entry was completed, and wake the emitter."""
        if not self._is_closed:
            self._done += 1
            self.max_held = max(self.held(), self.max_held)
            self.advance(entry)
            self.on_completed(entry)
            self._news.give()
            if self._max_held:
                self._room.give()

    # Of everybody

    def is_empty(self) -> bool:
        """Say whether there is no entry."""
        return not self._entries

    def is_full(self) -> bool:
        """Say whether there is no room; some that are completed need none (HOLD-1)."""
        return self.size() - min(self._done, self._max_held) >= self._capacity

    def size(self) -> int:
        """Count the entries, which is the slots taken (CAP-5)."""
        return len(self._entries)

    def records(self) -> int:
        """Count the entries that are records."""
        return self._records

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries in input order."""
        return tuple(self._entries)

    def held(self) -> int:
        """Count the records that are completed; fences always are."""
        return self._done - (self.size() - self._records)

    def values(self) -> tuple[Stored, ...]:
        """Return the elements of all entries, in input order, for a snapshot (SNAP-4).

        In the unordered queue Flink stored those first that were completed (its SN-3).
        """
        return tuple(entry.element for entry in self._entries)

    def close(self) -> None:
        """Let go of everything, and of whoever waits."""
        self._is_closed = True
        self._entries.clear()
        self.called.clear()
        self._records = self._done = 0
        self.clear()
        self._room.give()
        self._news.give()

    # What the modes differ in

    @abstractmethod
    def peek(self) -> Entry | None:
        """Return the entry that may come out next, and leave it there; None if none may."""

    @abstractmethod
    def add(self, entry: Entry) -> None:
        """Give an entry its place."""

    @abstractmethod
    def advance(self, entry: Entry) -> None:
        """Let out what may come out now that `entry` is completed."""

    @abstractmethod
    def remove(self) -> None:
        """Take the entry that was peeked from its place."""

    @abstractmethod
    def clear(self) -> None:
        """Forget all places."""
