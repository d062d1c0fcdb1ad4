"""What was admitted and has not come out yet, and which of it may come out next."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from asyncwait.reference._timers import Timer
from asyncwait.spec import Element, Record, Stored, Watermark, WatermarkStatus


@dataclass(slots=True, eq=False)
class RecordEntry:
    """A record in the queue, and what becomes of it.

    Args:
        element: the record as it was read; a snapshot holds this, never the outputs (SNAP-3).
        outputs: what comes out, once that is decided; None before.
        deadline: decides the record if nothing else does; None if there is none.
    """

    element: Record
    outputs: deque[Element] | None = None
    deadline: Timer | None = None


@dataclass(slots=True, eq=False)
class FenceEntry:
    """A watermark or status in the queue: nothing crosses it. It is decided from birth.

    Args:
        element: the watermark or status.
        outputs: the same.
    """

    element: Watermark | WatermarkStatus
    outputs: deque[Element]


Entry: TypeAlias = RecordEntry | FenceEntry


class ElementQueue(ABC):
    """The queue of an operator. The two modes differ in nothing else."""

    @abstractmethod
    def __len__(self) -> int:
        """Count the entries, decided or not."""

    @abstractmethod
    def put(self, entry: Entry) -> None:
        """Add an entry behind all others."""

    @abstractmethod
    def completed(self, entry: RecordEntry) -> None:
        """Take note that the outputs of `entry` are decided."""

    @abstractmethod
    def peek_ready(self) -> Entry | None:
        """Return the entry that may come out next, and leave it; None if none may."""

    def pop_ready(self) -> Entry | None:
        """Remove the entry that may come out next, and return it; None if none may."""
        entry = self.peek_ready()
        if entry is not None:
            self._remove(entry)
        return entry

    @abstractmethod
    def elements(self) -> Iterator[Stored]:
        """Go through what was put in and has not come out, in input order (SNAP-4)."""

    @abstractmethod
    def _remove(self, entry: Entry) -> None:
        """Remove an entry, which may come out."""


class OrderedQueue(ElementQueue):
    """Everything comes out in the order in which it went in (ORD-1, WM-1, WM-2)."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque()

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, entry: Entry) -> None:
        """Add an entry behind all others."""
        self._entries.append(entry)

    def completed(self, entry: RecordEntry) -> None:
        """Do nothing: a decided record waits for its turn where it stands."""

    def peek_ready(self) -> Entry | None:
        """Return the first entry if it is decided, and leave it (ORD-2)."""
        if self._entries and self._entries[0].outputs is not None:
            return self._entries[0]
        return None

    def elements(self) -> Iterator[Stored]:
        """Go through what was put in and has not come out, in input order (SNAP-4)."""
        return (entry.element for entry in self._entries)

    def _remove(self, entry: Entry) -> None:
        self._entries.remove(entry)


@dataclass(slots=True, eq=False)
class Segment:
    """The records between two fences, or one fence alone.

    Args:
        is_fence: whether it is the latter.
        entries: those that have not come out, in input order; a set that keeps its order.
        ready: the decided ones among them, in the order in which they come out.
    """

    is_fence: bool
    entries: dict[Entry, None] = field(default_factory=dict)
    ready: deque[Entry] = field(default_factory=deque)


class UnorderedQueue(ElementQueue):
    """Records come out as they are decided, but nothing crosses a watermark or a status.

    The stream is cut into segments at those fences. Only the first segment gives anything out,
    and it must be empty before the next one may (WM-1, WM-2, WM-5).
    """

    def __init__(self) -> None:
        self._segments: deque[Segment] = deque()
        self._segment_of: dict[Entry, Segment] = {}

    def __len__(self) -> int:
        return len(self._segment_of)

    def put(self, entry: Entry) -> None:
        """Add an entry to the last segment; a fence is a segment of its own."""
        segment = self._segment_for(entry)
        segment.entries[entry] = None
        self._segment_of[entry] = segment
        if entry.outputs is not None:
            segment.ready.append(entry)

    def completed(self, entry: RecordEntry) -> None:
        """Let a record come out behind those of its segment that were decided before it (ORD-3).

        One without outputs goes ahead: its slot is free, and nobody has to take it (RES-2).
        """
        ready = self._segment_of[entry].ready
        if entry.outputs:
            ready.append(entry)
        else:
            ready.appendleft(entry)

    def peek_ready(self) -> Entry | None:
        """Return the first decided entry of the first segment, and leave it."""
        if self._segments and self._segments[0].ready:
            return self._segments[0].ready[0]
        return None

    def elements(self) -> Iterator[Stored]:
        """Go through what was put in and has not come out, in input order (SNAP-4).

        Flink stores a segment in arbitrary order (its SN-3), so that a snapshot of this mode can't
        be restored in the other.
        """
        return (entry.element for segment in self._segments for entry in segment.entries)

    def _segment_for(self, entry: Entry) -> Segment:
        is_fence = isinstance(entry, FenceEntry)
        if not self._segments or self._segments[-1].is_fence or is_fence:
            self._segments.append(Segment(is_fence))
        return self._segments[-1]

    def _remove(self, entry: Entry) -> None:
        segment = self._segment_of.pop(entry)
        segment.ready.remove(entry)
        del segment.entries[entry]
        if not segment.entries:
            self._segments.remove(segment)
