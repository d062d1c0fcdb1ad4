"""Queues of admitted elements; each mode has its own choice of the next output."""

from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from asyncwait.spec import Element, Record, Watermark, WatermarkStatus
from asyncwait.spec.snapshots import Stored


@dataclass(slots=True, eq=False)
class RecordEntry:
    """A record in the queue, and its outputs.

    Args:
        element: the record as it was read; a snapshot holds this, never the outputs (SNAP-3).
        outputs: outputs of the decided record; None before the decision.
        begun: whether some outputs were taken. Then the record keeps its slot, but no snapshot
            holds it: the other outputs precede the snapshot.
    """

    element: Record
    outputs: deque[Element] | None = None
    begun: bool = False


@dataclass(slots=True, eq=False)
class FenceEntry:
    """A watermark or status in the queue, which no record crosses; it is decided on admission.

    Args:
        element: the watermark or status.
        outputs: the element itself.
        begun: always False.
    """

    element: Watermark | WatermarkStatus
    outputs: deque[Element]
    begun: bool = False


Entry: TypeAlias = RecordEntry | FenceEntry


class ElementQueue(ABC):
    """The queue of an operator; each mode has a subclass.

    Args:
        capacity: number of entries with room.
        on_room: called when room is free.
        max_held: number of decided entries that take no room.
    """

    def __init__(self, capacity: int, on_room: Callable[[], object], max_held: int = 0) -> None:
        self.capacity = capacity
        self.on_room = on_room
        self.max_held = max_held
        self.decided = 0
        """Number of decided entries."""
        self.records = 0
        """Number of records among the entries."""
        self.called: OrderedDict[Entry, float] = OrderedDict()
        """Times of the first calls of records, in seconds of the loop's clock, oldest first."""
        self.most_records = self.most_held = 0

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of entries, also of entries with some outputs taken (CAP-1)."""

    @abstractmethod
    def __iter__(self) -> Iterator[Entry]:
        """Iterate over the entries, in input order."""

    @property
    def is_full(self) -> bool:
        """Whether no room is left: `max_held` decided entries take none (CAP-1, HOLD-1, HOLD-3)."""
        return len(self) - min(self.decided, self.max_held) >= self.capacity

    @property
    def held(self) -> int:
        """Number of decided records; all other decided entries are fences."""
        return self.decided - (len(self) - self.records)

    @property
    def oldest(self) -> float | None:
        """Time of the first call of the oldest called record; None without a called record."""
        return next(iter(self.called.values()), None)

    def put(self, entry: Entry) -> None:
        """Append an entry."""
        self.records += isinstance(entry, RecordEntry)
        self.most_records = max(self.records, self.most_records)
        self.decided += entry.outputs is not None

    def completed(self, entry: RecordEntry) -> None:
        """Take note that the outputs of `entry` are decided."""
        self.decided += 1
        self.most_held = max(self.held, self.most_held)
        self.make_ready(entry)
        self.drop_empty()
        if self.max_held:
            self.on_room()

    @abstractmethod
    def make_ready(self, entry: RecordEntry) -> None:
        """Let `entry` come out at its place in the order."""

    @abstractmethod
    def peek_ready(self) -> Entry | None:
        """Return the entry that comes out next, without removing it; None if none is ready."""

    def remove(self, entry: Entry) -> None:
        """Remove a ready entry, all of whose outputs have been taken."""
        self.records -= isinstance(entry, RecordEntry)
        self.decided -= 1
        self.called.pop(entry, None)
        self.on_room()

    def take(self) -> Element | None:
        """Take the next output; None if none is ready. The last output of an entry removes it.

        Results of one record come out without other elements between them (ELEM-5).
        """
        self.drop_empty()
        entry = self.peek_ready()
        if entry is None or not entry.outputs:
            return None
        element = entry.outputs.popleft()
        entry.begun = bool(entry.outputs)
        if not entry.begun:
            self.remove(entry)
            self.drop_empty()
        return element

    def drop_empty(self) -> None:
        """Remove ready records without results, which have no outputs to take (RES-2)."""
        while (entry := self.peek_ready()) is not None and not entry.outputs:
            self.remove(entry)

    @property
    def begun(self) -> bool:
        """Whether some outputs of the next record were taken, so that its others come next."""
        entry = self.peek_ready()
        return entry is not None and entry.begun

    def elements(self) -> Iterator[Stored]:
        """Iterate over the elements for a snapshot, in input order (SNAP-4).

        Flink stores a segment in arbitrary order (its SN-3), so that another mode can't restore a
        snapshot of the unordered mode.
        """
        return (entry.element for entry in self if not entry.begun)


class OrderedQueue(ElementQueue):
    """Entries come out in input order (ORD-1, WM-1, WM-2)."""

    def __init__(self, capacity: int, on_room: Callable[[], object], max_held: int = 0) -> None:
        super().__init__(capacity, on_room, max_held)
        self.entries: deque[Entry] = deque()

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def put(self, entry: Entry) -> None:
        """Append an entry."""
        super().put(entry)
        self.entries.append(entry)

    def make_ready(self, entry: RecordEntry) -> None:
        """Do nothing: a decided record waits at its place in the order."""

    def peek_ready(self) -> Entry | None:
        """Return the first entry if it is decided, without removing it (ORD-2)."""
        if self.entries and self.entries[0].outputs is not None:
            return self.entries[0]
        return None

    def remove(self, entry: Entry) -> None:
        """Remove the first entry, all of whose outputs have been taken."""
        self.entries.remove(entry)
        super().remove(entry)


@dataclass(slots=True, eq=False)
class Segment:
    """The records between two fences, or one fence alone.

    Args:
        is_fence: whether it is a fence.
        entries: entries of the segment, in input order; a dict as an ordered set.
        ready: decided entries, in the order of their output.
    """

    is_fence: bool
    entries: dict[Entry, None] = field(default_factory=dict)
    ready: deque[Entry] = field(default_factory=deque)


class UnorderedQueue(ElementQueue):
    """Records come out as they are decided, but no record crosses a watermark or a status.

    Fences divide the stream into segments. Outputs come from the first segment only, which must be
    empty before the next segment follows (WM-1, WM-2, WM-5).
    """

    def __init__(self, capacity: int, on_room: Callable[[], object], max_held: int = 0) -> None:
        super().__init__(capacity, on_room, max_held)
        self.segments: deque[Segment] = deque()
        self.segment_of: dict[Entry, Segment] = {}

    def __len__(self) -> int:
        return len(self.segment_of)

    def __iter__(self) -> Iterator[Entry]:
        return (entry for segment in self.segments for entry in segment.entries)

    def put(self, entry: Entry) -> None:
        """Add an entry to the last segment; a fence is a segment of its own."""
        super().put(entry)
        segment = self.segment_for(entry)
        segment.entries[entry] = None
        self.segment_of[entry] = segment
        if entry.outputs is not None:
            segment.ready.append(entry)

    def make_ready(self, entry: RecordEntry) -> None:
        """Let a record come out after earlier decided records of its segment (ORD-3).

        A record without outputs goes first, so that its slot is freed at once (RES-2).
        """
        ready = self.segment_of[entry].ready
        if entry.outputs:
            ready.append(entry)
        else:
            ready.insert(1 if ready and ready[0].begun else 0, entry)

    def peek_ready(self) -> Entry | None:
        """Return the first decided entry of the first segment, without removing it."""
        if self.segments and self.segments[0].ready:
            return self.segments[0].ready[0]
        return None

    def segment_for(self, entry: Entry) -> Segment:
        """Return the segment for an entry: the last segment, or a new segment."""
        is_fence = isinstance(entry, FenceEntry)
        if not self.segments or self.segments[-1].is_fence or is_fence:
            self.segments.append(Segment(is_fence))
        return self.segments[-1]

    def remove(self, entry: Entry) -> None:
        """Remove an entry of the first segment, all of whose outputs have been taken."""
        segment = self.segment_of.pop(entry)
        segment.ready.remove(entry)
        del segment.entries[entry]
        if not segment.entries:
            self.segments.remove(segment)
        super().remove(entry)


class KeyOrderedQueue(UnorderedQueue):
    """Records come out as they are decided, as in unordered mode, in input order for each key.

    A record is called only when the previous record of its key is decided (KEY-1), and records come
    out in the order of their decisions: so the order within a key is kept (KEY-2).
    """
