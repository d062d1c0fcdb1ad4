"""The queue that blocks, and the order in which each mode lets its entries out."""

from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import TypeAlias

from asyncwait.backends.emitter._tasks import outlast
from asyncwait.spec import Element, Record
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import Bell, CallScope


@dataclass(slots=True, eq=False)
class Entry:
    """An element in the queue: a record, or a fence, which is completed from birth.

    A fence is a watermark or a status: no result crosses it.

    Args:
        element: as it was read; a snapshot holds this, never the outputs (SNAP-3).
        outputs: what comes out for it; None until it is completed.
        given: how many of these the consumer has taken.
        call: the scope of the call while that runs.
    """

    element: Stored
    outputs: tuple[Element, ...] | None = None
    given: int = 0
    call: CallScope | None = None

    @classmethod
    def of(cls, element: Stored) -> "Entry":
        """Make an entry of an element that was read or restored."""
        return cls(element, None if isinstance(element, Record) else (element,))

    @property
    def is_completed(self) -> bool:
        """Whether it is decided what comes out for it."""
        return self.outputs is not None

    @property
    def is_taken(self) -> bool:
        """Whether the consumer has all that comes out for it."""
        return self.outputs is not None and self.given == len(self.outputs)


EntrySet: TypeAlias = dict[Entry, None]
"""A set that keeps its order."""


class ElementQueue(ABC):
    """A queue that blocks on both sides: the reader waits for room, the emitter for an entry.

    An entry holds its slot until the emitter polls it, which it does when the entry is out (CAP-1).

    Args:
        capacity: how many entries there may be.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[Entry, None] = OrderedDict()
        self._room = Bell()
        self._news = Bell()
        self._is_ended = False
        self._is_closed = False

    # Of the task that reads

    async def put(self, entry: Entry) -> bool:
        """Add an entry as soon as there is room; return False if the queue was closed instead."""
        while not self.try_put(entry):
            if self._is_closed:
                return False
            await outlast(self._room)
        return True

    def try_put(self, entry: Entry) -> bool:
        """Add an entry, if there is room; return whether there was."""
        if self._is_closed or self.size() >= self._capacity:
            return False
        self._entries[entry] = None
        self.add(entry)
        self._news.ring()
        return True

    def end(self) -> None:
        """Take note that the reader puts nothing any more."""
        self._is_ended = True
        self._news.ring()

    # Of the emitter

    async def peek_blockingly(self) -> Entry | None:
        """Return the entry that may come out next as soon as there is one, and leave it there.

        None says that there will be none: the queue has ended and is empty, or was closed.
        """
        while not self._is_closed:
            entry = self.peek()
            if entry is not None:
                return entry
            if self._is_ended and not self._entries:
                return None
            await self._news.wait()
        return None

    def poll(self) -> Entry | None:
        """Remove the entry that may come out next, and return it; None if none may."""
        entry = self.peek()
        if entry is not None:
            del self._entries[entry]
            self.remove()
            self._room.ring()
        return entry

    # Of the call or the deadline that completes

    def completed(self, entry: Entry) -> None:
        """Take note that an entry was completed, and wake the emitter."""
        if not self._is_closed:
            self.advance(entry)
            self._news.ring()

    # Of all of them

    def size(self) -> int:
        """Count the entries, which is the slots taken (CAP-5)."""
        return len(self._entries)

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries in input order."""
        return tuple(self._entries)

    def values(self) -> tuple[Stored, ...]:
        """Return the elements of all entries, in input order, for a snapshot (SNAP-4).

        In the unordered queue Flink stored the completed ones first (its SN-3).
        """
        return tuple(entry.element for entry in self._entries)

    def close(self) -> None:
        """Let go of all entries, and of the tasks that wait."""
        self._is_closed = True
        self._entries.clear()
        self._room.ring()
        self._news.ring()

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


class OrderedQueue(ElementQueue):
    """A queue whose first entry comes out when it is completed, and no other before it (ORD-1)."""

    def peek(self) -> Entry | None:
        """Return the first entry if it is completed, and leave it there."""
        first = next(iter(self._entries), None)
        return first if first is not None and first.is_completed else None

    def add(self, entry: Entry) -> None:
        """Do nothing: the entries stand in input order."""

    def advance(self, entry: Entry) -> None:
        """Do nothing: an entry waits for its turn where it stands."""

    def remove(self) -> None:
        """Do nothing: the first entry has no other place."""


class UnorderedQueue(ElementQueue):
    """A queue whose entries come out as they are completed, and cross no fence (ORD-3, WM-1, WM-2).

    Entries stand in sets, one for the records between two fences and one for each fence: the first
    set, those behind it, and the last set, which takes new records. Only a completed entry of the
    first set moves on to the line of finished records. When the first set is empty, the next set
    becomes the first, with all entries that were completed in it before.
    """

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self._completed: deque[Entry] = deque()
        self._behind: deque[EntrySet] = deque()
        self._first: EntrySet = {}
        self._last = self._first

    def peek(self) -> Entry | None:
        """Return the entry that was completed first in the first set, and leave it there."""
        return self._completed[0] if self._completed else None

    def add(self, entry: Entry) -> None:
        """Put a record into the last set; behind a fence there is a new last set."""
        if isinstance(entry.element, Record):
            self._last[entry] = None
        else:
            self._last = {}
            self._behind.extend(({entry: None}, self._last))
            self._next_sets()

    def advance(self, entry: Entry) -> None:
        """Let `entry` out if it stands in the first set, and then the sets behind that."""
        if entry in self._first:
            del self._first[entry]
            self._completed.append(entry)
            self._next_sets()

    def remove(self) -> None:
        """Take the first completed entry away."""
        self._completed.popleft()

    def _next_sets(self) -> None:
        while not self._first and self._first is not self._last:
            self._first = self._behind.popleft()
            for entry in [entry for entry in self._first if entry.is_completed]:
                del self._first[entry]
                self._completed.append(entry)
