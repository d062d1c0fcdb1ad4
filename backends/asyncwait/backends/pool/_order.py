"""The modes: the order in which decided entries go out, and in which records of one key are called.

The ordered mode needs only the line of all entries: its first entry goes out next.
"""

from collections import deque
from collections.abc import Collection
from typing import Any

from msgspec import Struct

from asyncwait.toolkit import ByKey


class Segment:
    """The records between two fences (a fence is a watermark or a status)."""

    __slots__ = ("decided", "fence", "undecided")

    def __init__(self) -> None:
        self.undecided = 0
        self.decided: list[Entry] = []
        """Decided records that may not go out before the fence in front of the segment."""
        self.fence: Entry | None = None
        """The fence behind the segment; None for the last segment."""


RUN = -1
"""`room` of an entry for several values: a further field would cost memory and time."""


class Entry(Struct, eq=False):
    """An admitted element on its way through the operator; it holds one slot.

    Each record has an entry. A Struct is made in half the time of a class with slots.

    Args:
        value: value of the record; the argument of the function.
        element: the input: a Record, or a fence. None when the entry has left the operator, and for
            plain values, until an error needs their records; see `Core.record`.
        results: outputs of the entry; None while undecided. A fence is its own output.
        given: number of results that the consumer has taken; -1 when the entry has left.
        started: when its first call began, in seconds of the loop's clock; None before.
        worker: the worker that runs its call, or the attempt in its place; otherwise None.
        attempts: number of its calls; counted if there are retries.
        number: its place in the input; counted if there are limits.
        error: the error of its last call, if a further attempt follows.
        permit: the permit for its next call, or the request for one; the number of its arrival
            while it waits for its key; None without limits.
        room: largest number of records in its next call, if batches are split; 0 for no bound;
            `RUN` if it has several decided values, with one result and one slot for each.
        segment: its segment; None in ordered mode.
        line: for the first record of a key in key-ordered mode, the records that wait for the key.
    """

    value: Any
    element: Any = None
    results: tuple[Any, ...] | None = None
    given: int = 0
    started: float | None = None
    worker: Any = None
    attempts: int = 0
    room: int = 0
    segment: Segment | None = None
    line: "deque[Entry] | None" = None
    number: int = 0
    error: BaseException | None = None
    permit: Any = None

    @property
    def is_idle(self) -> bool:
        """Whether a record whose attempts are counted has no call, or a load that waits."""
        return self.worker is None or getattr(self.worker, "worker", self) is None

    @property
    def is_without_call(self) -> bool:
        """Whether an undecided record waits for its first call, or for its next attempt."""
        waits = self.started is None or bool(self.attempts and self.is_idle)
        return waits and self.results is None


_SLACK = 64
"""Number of entries that may stay in a queue after they left, before it is searched."""


def let_go(queue: deque[Entry], entry: Entry, inside: int) -> None:
    """Remove `entry`, which has left, from `queue`, now or later.

    Entries that have left are dropped from the front, and from any place when they outnumber the
    others, so each costs the same on average, however many there are.

    Args:
        queue: entries, some of which may have left before.
        entry: one of them.
        inside: number of entries that have not left, in this queue or elsewhere.
    """
    if queue[0] is entry:
        queue.popleft()
        while queue and queue[0].given < 0:
            queue.popleft()
    elif len(queue) > 2 * inside + _SLACK:
        rest = [each for each in queue if each.given >= 0]
        queue.clear()
        queue.extend(rest)


class Unordered:
    """Records go out as they are decided, and no record crosses a fence."""

    def __init__(self, ready: deque[Entry]) -> None:
        self._ready = ready
        self._last = Segment()
        self._segments = deque([self._last])

    def add(self, entry: Entry) -> None:
        """Add an admitted record."""
        entry.segment = self._last
        self._last.undecided += 1

    def add_all(self, entries: Collection[Entry]) -> None:
        """Add admitted records."""
        last = self._last
        for entry in entries:
            entry.segment = last
        last.undecided += len(entries)

    def add_fence(self, fence: Entry) -> None:
        """Add an admitted fence."""
        self._last.fence = fence
        self._last = Segment()
        self._segments.append(self._last)
        self._advance()

    def decided(self, entry: Entry) -> None:
        """Let out the entries that may go out now that `entry` is decided."""
        segment = entry.segment
        assert segment is not None
        segment.undecided -= 1
        # A record without results crosses no fence, and only holds a slot that others could use.
        if segment is self._segments[0] or not entry.results:
            self._ready.append(entry)
            if not segment.undecided:
                self._advance()
        else:
            segment.decided.append(entry)

    def _advance(self) -> None:
        """Pass the fences that have no undecided record in front of them."""
        segments = self._segments
        while not segments[0].undecided and (fence := segments[0].fence) is not None:
            segments.popleft()
            self._ready.append(fence)
            parked, segments[0].decided = segments[0].decided, []
            self._ready.extend(parked)


class Lines:
    """Calls the records of each key one after another.

    They go out as in unordered mode: records decided in the order of a key go out in that order.
    """

    def __init__(self) -> None:
        self._busy: ByKey[deque[Entry]] = ByKey()
        """For each key with a current record, the records that wait behind it."""

    def enter(self, entry: Entry) -> bool:
        """Put `entry` behind all records of its key; return whether it is the first."""
        key = entry.element.key
        line = self._busy.get(key)
        if line is not None:
            line.append(entry)
            return False
        entry.line = deque()
        self._busy.put(key, entry.line)
        return True

    def leave(self, entry: Entry) -> Entry | None:
        """Return the next record of the key when `entry` is decided; None if no record waits."""
        line, entry.line = entry.line, None
        if line:
            following = line.popleft()
            following.line = line
            return following
        if line is not None:
            self._busy.remove(entry.element.key, line)
        return None

    def clear(self) -> None:
        """Remove all records."""
        self._busy.clear()
