"""What was admitted and has not come out yet, and which of it may come out next."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from asyncwait.reference._timers import Timer
from asyncwait.spec import Element, Record, Stored


@dataclass(slots=True, eq=False)
class Entry:
    """One element in the queue, and what comes out of it.

    Args:
        element: as it was read; this is what a snapshot stores, never the outputs (SN-1).
        outputs: what comes out, once that is decided; None before. A watermark or status is its
            own output from the beginning (EL-8).
        deadline: decides the record if nothing else does; None if there is none.
        call: the running call in coroutine form; None if there is none.
    """

    element: Stored
    outputs: deque[Element] | None = None
    deadline: Timer | None = None
    call: Any = None

    @property
    def decided(self) -> bool:
        """Whether it is settled what comes out."""
        return self.outputs is not None

    @property
    def is_record(self) -> bool:
        """Whether it is a record; if not, nothing may cross it."""
        return isinstance(self.element, Record)


class ElementQueue(Protocol):
    """The queue of an operator; the two modes differ in nothing else."""

    def __len__(self) -> int:
        """Count the entries, decided or not."""

    def put(self, entry: Entry) -> None:
        """Add an entry behind all others."""

    def completed(self, entry: Entry) -> None:
        """Take note that a record of the queue was decided."""

    def peek_ready(self) -> Entry | None:
        """Return the entry that may come out next, and leave it; None if none may."""

    def pop_ready(self) -> Entry | None:
        """Remove the entry that may come out next, and return it; None if none may."""

    def elements(self) -> Iterator[Stored]:
        """Go through what was put in and has not come out, in input order."""


class OrderedQueue:
    """Everything comes out in the order in which it went in (OR-1, OR-2)."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque()

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, entry: Entry) -> None:
        """Add an entry behind all others."""
        self._entries.append(entry)

    def completed(self, entry: Entry) -> None:
        """Do nothing: a decided record waits for its turn where it stands."""

    def peek_ready(self) -> Entry | None:
        """Return the head if it is decided, and leave it."""
        if self._entries and self._entries[0].decided:
            return self._entries[0]
        return None

    def pop_ready(self) -> Entry | None:
        """Remove the head if it is decided, and return it."""
        return None if self.peek_ready() is None else self._entries.popleft()

    def elements(self) -> Iterator[Stored]:
        """Go through what was put in and has not come out, in input order."""
        return (entry.element for entry in self._entries)


@dataclass(slots=True, eq=False)
class Segment:
    """The records between two fences, or one fence alone (UN-1).

    Args:
        entries: those that have not come out, in input order.
        ready: the decided ones among them, in the order in which they come out.
    """

    entries: dict[int, Entry] = field(default_factory=dict)
    ready: deque[Entry] = field(default_factory=deque)
    is_fence: bool = False


class UnorderedQueue:
    """Records come out as they are decided, but nothing crosses a watermark or a status.

    The stream is cut into segments at those fences. Only the first segment gives anything out,
    and it must be empty before the next one may (UN-2).
    """

    def __init__(self) -> None:
        self._segments: deque[Segment] = deque()
        self._segment_of: dict[int, Segment] = {}

    def __len__(self) -> int:
        return len(self._segment_of)

    def put(self, entry: Entry) -> None:
        """Add an entry to the last segment; a fence is a segment of its own."""
        segment = self._segment_for(entry)
        segment.entries[id(entry)] = entry
        self._segment_of[id(entry)] = segment
        if entry.decided:
            segment.ready.append(entry)

    def completed(self, entry: Entry) -> None:
        """Let a record come out behind those of its segment that were decided before it.

        One without results goes first: it has nothing to wait for.
        """
        ready = self._segment_of[id(entry)].ready
        if entry.outputs:
            ready.append(entry)
        else:
            ready.appendleft(entry)

    def peek_ready(self) -> Entry | None:
        """Return the first decided entry of the first segment, and leave it."""
        if self._segments and self._segments[0].ready:
            return self._segments[0].ready[0]
        return None

    def pop_ready(self) -> Entry | None:
        """Remove the first decided entry of the first segment, and return it."""
        entry = self.peek_ready()
        if entry is None:
            return None
        segment = self._segment_of.pop(id(entry))
        segment.ready.popleft()
        del segment.entries[id(entry)]
        if not segment.entries:
            self._segments.popleft()
        return entry

    def elements(self) -> Iterator[Stored]:
        """Go through what was put in and has not come out, in input order (unlike SN-3)."""
        for segment in self._segments:
            for entry in segment.entries.values():
                yield entry.element

    def _segment_for(self, entry: Entry) -> Segment:
        last = self._segments[-1] if self._segments else None
        if last is None or last.is_fence or not entry.is_record:
            last = Segment(is_fence=not entry.is_record)
            self._segments.append(last)
        return last
