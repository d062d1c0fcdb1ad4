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
    """A queue of either kind, and the entries in it by name.

    Records are named by their values, watermarks by their timestamps, a status by "idle".
    """

    def __init__(self, queue: ElementQueue) -> None:
        self.queue = queue
        self.entries: dict[object, RecordEntry] = {}

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
            entry.outputs = deque([Record(f"{value}'")] * results)
            self.queue.completed(entry)

    def pop(self) -> list[object]:
        """Take out all that may come out; return the names."""
        popped: list[object] = []
        while (ready := self.queue.peek_ready()) is not None:
            assert self.queue.pop_ready() is ready
            popped.append(name_of(ready.element))
        assert self.queue.pop_ready() is None
        return popped

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
    return Driven(OrderedQueue())


@pytest.fixture
def unordered() -> Driven:
    """An empty unordered queue."""
    return Driven(UnorderedQueue())


@pytest.fixture(params=[OrderedQueue, UnorderedQueue])
def either(request: pytest.FixtureRequest) -> Driven:
    """An empty queue of either kind."""
    return Driven(request.param())


def test_ordered_gives_nothing_while_its_head_is_undecided(ordered: Driven) -> None:
    """A record that is decided early waits for its turn."""
    ordered.put(Record("a"), Record("b"), Record("c"))
    ordered.complete("c", "b")

    assert ordered.pop() == []
    ordered.complete("a")
    assert ordered.pop() == ["a", "b", "c"]


def test_unordered_gives_records_as_they_are_decided(unordered: Driven) -> None:
    """The order of decision is the order of output."""
    unordered.put(Record("a"), Record("b"), Record("c"))
    unordered.complete("c", "a")

    assert unordered.pop() == ["c", "a"]
    assert unordered.inside == ["b"]


def test_nothing_crosses_a_fence(either: Driven) -> None:
    """Neither a watermark nor a status, and in neither direction."""
    either.put(Record("a"), Watermark(1), Record("b"), WatermarkStatus(idle=True), Record("c"))
    either.complete("c", "b")

    assert either.pop() == []
    either.complete("a")
    assert either.pop() == ["a", 1, "b", "idle", "c"]


def test_a_fence_with_nothing_before_it_may_come_out_at_once(either: Driven) -> None:
    """A fence is decided from birth."""
    either.put(Watermark(1), Watermark(2), Record("a"))

    assert either.pop() == [1, 2]


def test_a_segment_that_ran_empty_can_still_grow(unordered: Driven) -> None:
    """Records that come later join no segment before a fence."""
    unordered.put(Record("a"))
    unordered.complete("a")
    assert unordered.pop() == ["a"]
    unordered.put(Record("b"), Watermark(1), Record("c"))
    unordered.complete("c", "b")

    assert unordered.pop() == ["b", 1, "c"]


def test_a_record_without_results_goes_ahead_of_the_finished_ones(unordered: Driven) -> None:
    """Its slot is free at once, though nobody takes the others."""
    unordered.put(Record("a"), Record("b"))
    unordered.complete("a")
    unordered.complete("b", results=0)

    assert unordered.pop() == ["b", "a"]


def test_everything_inside_is_listed_in_input_order(either: Driven) -> None:
    """Decided or not: this is what a snapshot holds."""
    either.put(Record("a"), Record("b"), Watermark(1), Record("c"), Record("d"))
    either.complete("d", "b")

    assert either.inside == ["a", "b", 1, "c", "d"]
    assert len(either.queue) == 5


def test_equal_records_are_told_apart(either: Driven) -> None:
    """Entries are what they are, not what they look like."""
    twins = [RecordEntry(Record("a")), RecordEntry(Record("a"))]
    for entry in twins:
        either.queue.put(entry)
    for entry in reversed(twins):
        entry.outputs = deque([Record("a'")])
        either.queue.completed(entry)

    assert len(either.queue) == 2
    expected = twins if isinstance(either.queue, OrderedQueue) else twins[::-1]
    assert [either.queue.pop_ready(), either.queue.pop_ready()] == expected
