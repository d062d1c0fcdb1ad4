"""The queue that blocks, and the order in which each mode lets its entries out."""

from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import TypeAlias

from asyncwait.backends.emitter._tasks import outlast
from asyncwait.spec import Element, Record
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import Bell, CallScope


@dataclass(slots=True, eq=False)
class Entry:
    """An element in the queue: a record, or a fence, which is completed from the start.

    A fence is a watermark or a status: no result crosses it.

    Args:
        element: as it was read; a snapshot stores the element, never the outputs (SNAP-3).
        outputs: the elements to emit for it; None until it is completed.
        given: number of outputs that the consumer has taken.
        call: the scope of the call while it runs.
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
        """Whether its outputs are decided."""
        return self.outputs is not None

    @property
    def is_taken(self) -> bool:
        """Whether the consumer has taken all its outputs."""
        return self.outputs is not None and self.given == len(self.outputs)


EntrySet: TypeAlias = dict[Entry, None]
"""A set that keeps its order."""


class ElementQueue:
    """A queue that blocks on both sides: the reader waits for room, the emitter for an entry.

    An entry keeps its slot until the emitter polls it, after the entry has come out (CAP-1).

    Args:
        capacity: number of slots.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[Entry, None] = OrderedDict()
        self._room = Bell()
        self._news = Bell()
        self._is_ended = False
        self._is_closed = False

    # Called by the task that reads

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
        """Note that the reader adds no further entry."""
        self._is_ended = True
        self._news.ring()

    # Called by the emitter

    async def peek_blockingly(self) -> Entry | None:
        """Return the entry that may come out next, without removing it; wait for it.

        Returns None if no entry will come: the queue has ended and is empty, or was closed.
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
        """Remove the entry that may come out next, and return it; return None without one."""
        entry = self.peek()
        if entry is not None:
            del self._entries[entry]
            self.remove()
            self._room.ring()
        return entry

    # Called by the call or the deadline that completes an entry

    def completed(self, entry: Entry) -> None:
        """Wake the emitter, because an entry was completed."""
        if not self._is_closed:
            self.advance(entry)
            self._news.ring()

    # Called by all of them

    def size(self) -> int:
        """Count the entries, which equals the slots taken (CAP-5)."""
        return len(self._entries)

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries in input order."""
        return tuple(self._entries)

    def values(self) -> tuple[Stored, ...]:
        """Return the elements of all entries, in input order, for a snapshot (SNAP-4).

        Flink's unordered queue stored the completed entries first (its SN-3).
        """
        return tuple(entry.element for entry in self._entries)

    def close(self) -> None:
        """Drop all entries, and wake the tasks that wait."""
        self._is_closed = True
        self._entries.clear()
        self._room.ring()
        self._news.ring()

    # Differences between the modes

    def peek(self) -> Entry | None:
        """Return the entry that may come out next, without removing it; None without one."""
        first = next(iter(self._entries), None)
        return first if first is not None and first.is_completed else None

    def add(self, entry: Entry) -> None:
        """Put a new entry into its place."""

    def advance(self, entry: Entry) -> None:
        """Let out the entries that may come out now that `entry` is completed."""

    def remove(self) -> None:
        """Remove the entry that `peek` returned from its place."""


class OrderedQueue(ElementQueue):
    """A queue whose first entry comes out when it is completed, and no other before it (ORD-1)."""


class UnorderedQueue(ElementQueue):
    """A queue whose entries come out as they are completed, and cross no fence (ORD-3, WM-1, WM-2).

    Entries are in sets, one for the records between two fences and one for each fence: the first
    set, the sets behind it, and the last set, which takes new records. Only completed entries of
    the first set move on to the line of finished records. When the first set is empty, the next set
    becomes the first, with all entries that were completed in it before.
    """

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self._completed: deque[Entry] = deque()
        self._behind: deque[EntrySet] = deque()
        self._first: EntrySet = {}
        self._last = self._first

    def peek(self) -> Entry | None:
        """Return the first set's entry that was completed first, without removing it."""
        return self._completed[0] if self._completed else None

    def add(self, entry: Entry) -> None:
        """Put a record into the last set; a fence opens a new last set."""
        if isinstance(entry.element, Record):
            self._last[entry] = None
        else:
            self._last = {}
            self._behind.extend(({entry: None}, self._last))
            self._next_sets()

    def advance(self, entry: Entry) -> None:
        """Let `entry` out if it is in the first set, and then entries of the next sets."""
        if entry in self._first:
            del self._first[entry]
            self._completed.append(entry)
            self._next_sets()

    def remove(self) -> None:
        """Remove the first completed entry."""
        self._completed.popleft()

    def _next_sets(self) -> None:
        while not self._first and self._first is not self._last:
            self._first = self._behind.popleft()
            for entry in [entry for entry in self._first if entry.is_completed]:
                del self._first[entry]
                self._completed.append(entry)
