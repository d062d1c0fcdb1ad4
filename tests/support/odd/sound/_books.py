"""The books of an operator: what is admitted, what may come out, and what a snapshot holds."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import Protocol, TypeAlias

from asyncwait.spec import Element, OperatorConfig, Record, Snapshot
from asyncwait.spec.snapshots import Stored
from odd.sound._contract import passed_on, put_first

Orders: TypeAlias = list[Callable[[], object]]
"""What the loop has to do, in this order."""


class Desk(Protocol):
    """Does on the loop what the books order."""

    def start(self, number: int, record: Record) -> None:
        """Call the function for a record."""

    def read_on(self) -> None:
        """Let the next element be read."""

    def wake(self) -> None:
        """Have the consumer ask again."""

    def give(self, element: Element) -> None:
        """Hand an element to the consumer, which has just asked."""

    def finish(self, error: BaseException | None) -> None:
        """End the output."""

    def note(self, records: list[bool]) -> None:
        """Note of each record in flight whether it is decided."""


@dataclass(slots=True)
class _Entry:
    """A record or a fence that was admitted."""

    element: Stored
    segment: int
    outputs: deque[Element] | None = None


class Books:
    """The books of one operator. Each public method answers one kind of letter.

    The stream is cut into segments, and only the first that is not empty gives anything out. In
    ordered mode each element is a segment, else each fence is, and all records between two.
    """

    def __init__(self, desk: Desk, config: OperatorConfig, backlog: deque[Stored]) -> None:
        self._desk = desk
        self._config = config
        self._backlog = backlog
        self._entries: dict[int, _Entry] = {}
        self._numbers = count()
        self._last: tuple[Stored | None, int] = None, 0  # admitted last, and its segment
        self._ready: list[tuple[int, int]] = []  # a heap: segment and number of what is decided
        self._begun: int | None = None
        self._ahead: deque[Element] = deque()
        self._source_end: tuple[BaseException | None] | None = None

    def take_in(self, element: Element) -> Orders:
        """Enter what was read."""
        if isinstance(element, Stored):
            self._backlog.append(element)
        else:
            self._ahead.append(passed_on(element, self._held()))
        return self.go_on()

    def end(self, error: BaseException | None) -> Orders:
        """Enter that the source has ended."""
        self._source_end = (error,)
        return [self._desk.wake]

    def decide(self, number: int, outputs: Iterable[Element]) -> Orders:
        """Enter what comes out of a record or a fence."""
        entry = self._entries[number]
        entry.outputs = deque(outputs)
        heappush(self._ready, (entry.segment, number))
        return self.go_on()

    def request(self, checkpoint_id: int, taken: int) -> Orders:
        """Enter that a snapshot is wanted now."""
        held = (*self._held(), *self._backlog)
        put_first(self._ahead, Snapshot(checkpoint_id, held, taken))
        return [self._desk.wake]

    def take(self) -> Orders:
        """Take out what the consumer gets next."""
        if self._begun is None and self._ahead:
            return [partial(self._desk.give, self._ahead.popleft()), *self.go_on()]
        if self._begun is None and self._next() is not None:
            self._begun = heappop(self._ready)[1]
        if self._begun is not None:
            outputs = self._entries[self._begun].outputs
            assert outputs
            give = partial(self._desk.give, outputs.popleft())
            if not outputs:
                del self._entries[self._begun]
                self._begun = None
            return [give, *self.go_on()]
        if self._source_end is not None and not self._entries:
            return [partial(self._desk.finish, *self._source_end)]
        return []

    def go_on(self) -> Orders:
        """Let go by itself what has no results, and admit what there is room for."""
        while (number := self._next()) is not None and not self._entries[number].outputs:
            del self._entries[heappop(self._ready)[1]]
        orders: Orders = []
        while self._backlog and len(self._entries) < self._config.capacity:
            orders += self._admit(next(self._numbers), self._backlog.popleft())
        if not self._backlog and len(self._ahead) <= self._config.capacity:
            orders.append(self._desk.read_on)
        entries = [e for e in self._entries.values() if isinstance(e.element, Record)]
        note = partial(self._desk.note, [entry.outputs is not None for entry in entries])
        return [*orders, note, self._desk.wake]

    def _admit(self, number: int, element: Stored) -> Orders:
        last, segment = self._last
        is_between = isinstance(last, Record) and isinstance(element, Record)
        self._last = element, segment + (self._config.mode == "ordered" or not is_between)
        self._entries[number] = entry = _Entry(element, self._last[1])
        if isinstance(element, Record):
            return [partial(self._desk.start, number, element)]
        entry.outputs = deque([element])
        heappush(self._ready, (entry.segment, number))
        return []

    def _next(self) -> int | None:
        """Return what may go out next."""
        if not self._ready:
            return None
        segment, number = self._ready[0]
        first = next(iter(self._entries.values()))
        return number if segment == first.segment else None

    def _held(self) -> tuple[Stored, ...]:
        return tuple(e.element for number, e in self._entries.items() if number != self._begun)
