"""In which order decided entries may go out, and those of one key are called: the modes."""

from collections import deque
from collections.abc import Callable
from typing import Any

from asyncwait.spec import ByKey, Record


class Segment:
    """The records between two fences (a fence is a watermark or a status)."""

    __slots__ = ("decided", "fence", "undecided")

    def __init__(self) -> None:
        self.undecided = 0
        self.decided: list[Entry] = []
        """Decided records that may not go out before the fence in front of the segment."""
        self.fence: Entry | None = None
        """What closes the segment; None for the last one."""


class Entry:
    """An admitted element on its way through the operator; it holds one slot."""

    __slots__ = ("attempts", "deadline", "element", "given", "line", "results", "segment", "worker")

    def __init__(self, element: Any, segment: Segment) -> None:
        self.element = element
        """The input: a Record, or a fence."""
        self.results: tuple[Any, ...] | None = None
        """What goes out for it; None while undecided. A fence stands for itself."""
        self.given = 0
        """How many of the results the consumer has taken."""
        self.deadline: float | None = None
        """When it is decided at the latest; None before its call and without a timeout."""
        self.worker: Any = None
        """The worker that runs its call, or an attempt that stands for that; else None."""
        self.attempts = 0
        """Its calls so far; they are counted where there are retries."""
        self.segment = segment
        """Where it stands; not in ordered mode."""
        self.line: deque[Entry] | None = None
        """Those that wait for its key, in key-ordered mode, if it is its turn."""


class Ordered:
    """Entries go out in input order.

    Args:
        promote: called with each entry when its turn has come.
    """

    def __init__(self, promote: Callable[[Entry], None]) -> None:
        self._promote = promote
        self._queue: deque[Entry] = deque()
        self.segment = Segment()
        """The one that new entries belong to."""

    def add(self, entry: Entry) -> None:
        """Take in an admitted entry; a fence is decided already."""
        self._queue.append(entry)
        if entry.results is not None:
            self.decided(entry)

    def decided(self, _entry: Entry) -> None:
        """Promote what may go out now that an entry is decided."""
        queue = self._queue
        while queue and queue[0].results is not None:
            self._promote(queue.popleft())


class Unordered:
    """Records go out as they are decided, and no record crosses a fence.

    Args:
        promote: called with each entry when its turn has come.
    """

    def __init__(self, promote: Callable[[Entry], None]) -> None:
        self._promote = promote
        self.segment = Segment()
        """The one that new entries belong to, the last one."""
        self._segments = deque([self.segment])

    def add(self, entry: Entry) -> None:
        """Take in an admitted entry; a fence is decided already."""
        if isinstance(entry.element, Record):
            self.segment.undecided += 1
            return
        self.segment.fence = entry
        self.segment = Segment()
        self._segments.append(self.segment)
        self._advance()

    def decided(self, entry: Entry) -> None:
        """Promote what may go out now that `entry` is decided."""
        segment = entry.segment
        segment.undecided -= 1
        # What has no results crosses no fence, and only holds a slot that others could use.
        if segment is self._segments[0] or not entry.results:
            self._promote(entry)
            self._advance()
        else:
            segment.decided.append(entry)

    def _advance(self) -> None:
        """Pass the fences that have no undecided record in front of them."""
        segments = self._segments
        while not segments[0].undecided and (fence := segments[0].fence) is not None:
            segments.popleft()
            self._promote(fence)
            parked, segments[0].decided = segments[0].decided, []
            for entry in parked:
                self._promote(entry)


class Lines:
    """Has the records of each key called one after another.

    They go out as in unordered mode: what is decided in the order of a key goes out in it, too.
    """

    def __init__(self) -> None:
        self._busy: ByKey[deque[Entry]] = ByKey()
        """For each key with a record whose turn it is, those that wait behind that."""

    def enter(self, entry: Entry) -> bool:
        """Put `entry` behind all with its key; tell whether there are none."""
        key = entry.element.key
        line = self._busy.get(key)
        if line is not None:
            line.append(entry)
            return False
        entry.line = deque()
        self._busy.put(key, entry.line)
        return True

    def leave(self, entry: Entry) -> Entry | None:
        """Return whose turn it is when `entry` is decided; None if nobody waits for its key."""
        line, entry.line = entry.line, None
        if line:
            following = line.popleft()
            following.line = line
            return following
        if line is not None:
            self._busy.remove(entry.element.key, line)
        return None

    def clear(self) -> None:
        """Forget everything."""
        self._busy.clear()
