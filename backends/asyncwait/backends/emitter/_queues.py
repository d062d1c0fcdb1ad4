"""Which completed entry may come out of the queue: the modes."""

from collections import deque

from asyncwait.backends.emitter._blocking import ElementQueue, EntrySet
from asyncwait.backends.emitter._entries import Entry
from asyncwait.spec import Record


class OrderedQueue(ElementQueue):
    """The first entry comes out when it is completed, and no other before it (ORD-1)."""

    def __init__(self, capacity: int, max_held: int = 0) -> None:
        super().__init__(capacity, max_held)
        self._line: deque[Entry] = deque()

    def peek(self) -> Entry | None:
        """Return the first entry if it is completed, and leave it there."""
        return self._line[0] if self._line and self._line[0].is_completed else None

    def add(self, entry: Entry) -> None:
        """Put an entry behind all others."""
        self._line.append(entry)

    def advance(self, entry: Entry) -> None:
        """Do nothing: an entry waits for its turn where it stands."""

    def remove(self) -> None:
        """Take the first entry away."""
        self._line.popleft()

    def clear(self) -> None:
        """Forget the line."""
        self._line.clear()


class UnorderedQueue(ElementQueue):
    """Entries come out as they are completed, but none crosses a fence (ORD-3, WM-1, WM-2).

    What is not completed stands in sets, one for the records between two fences and one for each
    fence: the first set, those behind it, and the last set, which takes new records. Only what is
    completed in the first set moves on to the line of those that may come out; when the first set
    is empty, the next one becomes the first, with all that was completed in it before.
    """

    def __init__(self, capacity: int, max_held: int = 0) -> None:
        super().__init__(capacity, max_held)
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

    def clear(self) -> None:
        """Forget all sets."""
        self._completed.clear()
        self._behind.clear()
        self._first = self._last = {}

    def _next_sets(self) -> None:
        while not self._first and self._first is not self._last:
            self._first = self._behind.popleft()
            for entry in [entry for entry in self._first if entry.is_completed]:
                del self._first[entry]
                self._completed.append(entry)


class KeyOrderedQueue(UnorderedQueue):
    """Entries come out as they are completed, which those of one key are in their order (KEY-2)."""
