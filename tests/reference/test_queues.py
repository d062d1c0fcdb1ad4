"""The two queues, entry by entry."""

from collections import deque

import pytest

from asyncwait.reference import (
    ElementQueue,
    FenceEntry,
    OrderedQueue,
    RecordEntry,
    UnorderedQueue,
)
from asyncwait.spec import Record, Stored, Watermark, WatermarkStatus


class Driven:
    """A queue of either kind with room for five, and the entries in it by name.

    Records are named by their values, watermarks by their timestamps, a status by "idle".
    """

    def __init__(self, kind: type[ElementQueue]) -> None:
        self.queue = kind(5, self._note_room)
        self.entries: dict[object, RecordEntry] = {}
        self.room = 0
        """How often it was told that there is more room."""

    def _note_room(self) -> None:
        self.room += 1

    def put(self, *elements: Stored) -> None:
        """Put one entry for each element."""
        for element in elements:
            if isinstance(element, Record):
                entry = self.entries[element.value] = RecordEntry(element)
                self.queue.put(entry)
            else:
                self.queue.put(FenceEntry(element, deque([element])))

    def complete(self, *values: object, results: int = 1) -> None:
        """Decide the records of these names, in this order."""
        for value in values:
            entry = self.entries[value]
            entry.outputs = deque(Record(f"{value}{number}") for number in range(results))
            self.queue.completed(entry)

    def take(self) -> list[object]:
        """Take out all that may come out; return values of results, and names of fences."""
        taken: list[object] = []
        while (element := self.queue.take()) is not None:
            assert isinstance(element, Stored)
            taken.append(name_of(element))
        return taken

    @property
    def inside(self) -> list[object]:
        """The names of all that is inside."""
        return [name_of(element) for element in self.queue.elements()]


def name_of(element: Stored) -> object:
    """Return what a test calls this element."""
    match element:
        case Record(value):
            return value
        case Watermark(timestamp):
            return timestamp
        case WatermarkStatus():
            return "idle"


@pytest.fixture
def ordered() -> Driven:
    """An empty ordered queue."""
    return Driven(OrderedQueue)


@pytest.fixture
def unordered() -> Driven:
    """An empty unordered queue."""
    return Driven(UnorderedQueue)


@pytest.fixture(params=[OrderedQueue, UnorderedQueue])
def either(request: pytest.FixtureRequest) -> Driven:
    """An empty queue of either kind."""
    return Driven(request.param)


def test_a_segment_that_ran_empty_can_still_grow(unordered: Driven) -> None:
    """Records that come later join no segment before a fence."""
    unordered.put(Record("a"))
    unordered.complete("a")
    assert unordered.take() == ["a0"]
    unordered.put(Record("b"), Watermark(1), Record("c"))
    unordered.complete("c", "b")

    assert unordered.take() == ["b0", 1, "c0"]


def test_a_record_without_results_goes_at_once(unordered: Driven) -> None:
    """Nobody has to take it, and its slot is free although nobody takes the others."""
    unordered.put(Record("a"), Record("b"))
    unordered.complete("a")
    unordered.complete("b", results=0)

    assert (len(unordered.queue), unordered.room) == (1, 1)
    assert unordered.take() == ["a0"]


def test_a_record_without_results_waits_for_its_turn(ordered: Driven) -> None:
    """It goes with what is taken before it."""
    ordered.put(Record("a"), Record("b"), Record("c"))
    ordered.complete("b", results=0)
    assert len(ordered.queue) == 3

    ordered.complete("a")
    assert ordered.queue.take() == Record("a0")
    assert ordered.inside == ["c"]


def test_a_record_taken_in_part_keeps_its_slot_and_is_in_no_snapshot(either: Driven) -> None:
    """The rest of it comes next, whatever is decided meanwhile."""
    either.put(Record("a"), Record("b"), Record("c"))
    either.complete("a", results=2)
    assert either.queue.take() == Record("a0")
    either.complete("b", results=0)

    assert (either.queue.begun, len(either.queue), either.room) == (True, 3, 0)
    assert either.inside == ["b", "c"]
    assert either.queue.take() == Record("a1")
    assert (either.queue.begun, len(either.queue), either.room) == (False, 1, 2)


def test_it_is_full_of_what_is_not_gone(either: Driven) -> None:
    """Fences count, and records until their last result is taken."""
    either.put(Watermark(1), *(Record(name) for name in "abcd"))
    assert (either.queue.is_full, either.queue.records) == (True, 4)

    assert either.take() == [1]
    assert not either.queue.is_full


def test_equal_records_are_told_apart(either: Driven) -> None:
    """Entries are what they are, not what they look like."""
    twins = [RecordEntry(Record("a")), RecordEntry(Record("a"))]
    for entry in twins:
        either.queue.put(entry)
    for number, entry in enumerate(reversed(twins)):
        entry.outputs = deque([Record(number)])
        either.queue.completed(entry)

    assert len(either.queue) == 2
    assert either.take() == ([1, 0] if isinstance(either.queue, OrderedQueue) else [0, 1])
