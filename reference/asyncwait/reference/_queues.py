"""What was admitted and is not gone yet, and which of it may come out next."""

from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from asyncwait.spec import Element, Record, Watermark, WatermarkStatus
from asyncwait.spec.snapshots import Stored


@dataclass(slots=True, eq=False)
class RecordEntry:
    """A record in the queue, and what comes out of it.

    Args:
        element: the record as it was read; a snapshot holds this, never the outputs (SNAP-3).
        outputs: what comes out, once that is decided; None before.
        begun: whether some of that was taken. It keeps its slot, and is in no snapshot: the rest
            comes out before that.
    """

    element: Record
    outputs: deque[Element] | None = None
    begun: bool = False


@dataclass(slots=True, eq=False)
class FenceEntry:
    """A watermark or status in the queue: nothing crosses it. It is decided from birth.

    Args:
        element: the watermark or status.
        outputs: the same.
        begun: never.
    """

    element: Watermark | WatermarkStatus
    outputs: deque[Element]
    begun: bool = False


Entry: TypeAlias = RecordEntry | FenceEntry


class ElementQueue(ABC):
    """The queue of an operator; for each mode there is one.

    Args:
        capacity: how many entries it has room for.
        on_room: told when there is more room.
        max_held: how many decided entries take none.
    """

    def __init__(self, capacity: int, on_room: Callable[[], object], max_held: int = 0) -> None:
        self.capacity = capacity
        self.on_room = on_room
        self.max_held = max_held
        self.decided = 0
        """How many of the entries are decided."""
        self.records = 0
        """How many of the entries are records."""
        self.called: OrderedDict[Entry, float] = OrderedDict()
        """When the function was called for records first, in seconds of the loop's clock.

        The one that was called first stands in front.
        """
        self.most_records = self.most_held = 0

    @abstractmethod
    def __len__(self) -> int:
        """Count the entries, decided or not, all or a part of them: each takes a slot (CAP-1)."""

    @abstractmethod
    def __iter__(self) -> Iterator[Entry]:
        """Go through the entries, in input order."""

    @property
    def is_full(self) -> bool:
        """Whether nothing more is to be put in: that counts all that is not gone (CAP-1).

        But for some that are decided (HOLD-1, HOLD-3).
        """
        return len(self) - min(self.decided, self.max_held) >= self.capacity

    @property
    def held(self) -> int:
        """How many of the records are decided; all else that is there is decided from birth."""
        return self.decided - (len(self) - self.records)

    @property
    def oldest(self) -> float | None:
        """When the function was called for the record that it was called for first."""
        return next(iter(self.called.values()), None)

    def put(self, entry: Entry) -> None:
        """Add an entry behind all others."""
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
        """Let `entry` come out in its turn."""

    @abstractmethod
    def peek_ready(self) -> Entry | None:
        """Return the entry that may come out next, and leave it; None if none may."""

    def remove(self, entry: Entry) -> None:
        """Remove an entry that may come out next, as it is gone."""
        self.records -= isinstance(entry, RecordEntry)
        self.decided -= 1
        self.called.pop(entry, None)
        self.on_room()

    def take(self) -> Element | None:
        """Take the next output, and with its last one an entry is gone. None if there is none.

        Results of one record come out with nothing between them (ELEM-5).
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
        """Free the slots of records without results, in their turn: nobody takes them (RES-2)."""
        while (entry := self.peek_ready()) is not None and not entry.outputs:
            self.remove(entry)

    @property
    def begun(self) -> bool:
        """Whether a record was taken in part, whose other results come next."""
        entry = self.peek_ready()
        return entry is not None and entry.begun

    def elements(self) -> Iterator[Stored]:
        """Go through what was put in and has not come out, in input order (SNAP-4).

        Flink stores a segment in arbitrary order (its SN-3), so that a snapshot of one mode can't
        be restored in the other.
        """
        return (entry.element for entry in self if not entry.begun)


class OrderedQueue(ElementQueue):
    """Everything comes out in the order in which it went in (ORD-1, WM-1, WM-2)."""

    def __init__(self, capacity: int, on_room: Callable[[], object], max_held: int = 0) -> None:
        super().__init__(capacity, on_room, max_held)
        self.entries: deque[Entry] = deque()

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def put(self, entry: Entry) -> None:
        """Add an entry behind all others."""
        super().put(entry)
        self.entries.append(entry)

    def make_ready(self, entry: RecordEntry) -> None:
        """Do nothing: a decided record waits for its turn where it stands."""

    def peek_ready(self) -> Entry | None:
        """Return the first entry if it is decided, and leave it (ORD-2)."""
        if self.entries and self.entries[0].outputs is not None:
            return self.entries[0]
        return None

    def remove(self, entry: Entry) -> None:
        """Remove the first entry, as it is gone."""
        self.entries.remove(entry)
        super().remove(entry)


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
        """Let a record come out behind those of its segment that were decided before it (ORD-3).

        One without outputs goes ahead: its slot is free, and nobody has to take it (RES-2).
        """
        ready = self.segment_of[entry].ready
        if entry.outputs:
            ready.append(entry)
        else:
            ready.insert(1 if ready and ready[0].begun else 0, entry)

    def peek_ready(self) -> Entry | None:
        """Return the first decided entry of the first segment, and leave it."""
        if self.segments and self.segments[0].ready:
            return self.segments[0].ready[0]
        return None

    def segment_for(self, entry: Entry) -> Segment:
        """Return the segment that an entry belongs to: the last, or a new one."""
        is_fence = isinstance(entry, FenceEntry)
        if not self.segments or self.segments[-1].is_fence or is_fence:
            self.segments.append(Segment(is_fence))
        return self.segments[-1]

    def remove(self, entry: Entry) -> None:
        """Remove an entry of the first segment, as it is gone."""
        segment = self.segment_of.pop(entry)
        segment.ready.remove(entry)
        del segment.entries[entry]
        if not segment.entries:
            self.segments.remove(segment)
        super().remove(entry)


class KeyOrderedQueue(UnorderedQueue):
    """Records come out as they are decided, as in unordered mode, and so in the order of a key.

    Of one key a record is called only when the one before it is decided (KEY-1), and what was
    decided first comes out first: that keeps the order of the key (KEY-2).
    """
