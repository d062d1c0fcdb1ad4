"""SNAP: operators whose snapshots hold too little or too much, or come at the wrong time."""

from collections import deque
from collections.abc import Iterator

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import Entry, FenceEntry, Operator, OrderedQueue, Output, UnorderedQueue
from asyncwait.spec import Barrier, Element, Snapshot, Stored


class NewSnapshotReplacesTheLast(Output):
    """A snapshot that nobody has taken yet gives way to the next one."""

    def put_ahead(self, element: Element) -> None:
        if isinstance(element, Snapshot):
            self._ahead = deque(e for e in self._ahead if not isinstance(e, Snapshot))
        super().put_ahead(element)


class SnapshotForgetsEqualRecords(Operator):
    """Elements are known by their values, so equal ones are stored once: Beam's AsyncWrapper."""

    def _in_flight_elements(self) -> tuple[Stored, ...]:
        return tuple(dict.fromkeys(super()._in_flight_elements()))


class SnapshotForgetsWhatWaitsForRoom(Operator):
    """A snapshot holds the queue, and not the record that waits in front of it: FLINK-13063."""

    def _in_flight_elements(self) -> tuple[Stored, ...]:
        return tuple(self._queue.elements())


class SnapshotForgetsWhatIsFinished(OrderedQueue):
    """A snapshot holds the calls that run, and not the results that wait for their turn."""

    def elements(self) -> Iterator[Stored]:
        for entry in self._entries:
            if entry.outputs is None or isinstance(entry, FenceEntry):
                yield entry.element


class SnapshotHoldsWhatIsHandedOut(Operator):
    """A record is stored until its last result is taken, although the rest of it comes first."""

    def _set_up(self) -> None:
        super()._set_up()
        self._present: dict[Entry, None] = {}

    def _admit(self, entry: Entry) -> None:
        super()._admit(entry)
        self._present[entry] = None

    def _free_slot(self, entry: Entry) -> None:
        super()._free_slot(entry)
        del self._present[entry]

    def _in_flight_elements(self) -> tuple[Stored, ...]:
        waiting = super()._in_flight_elements()[len(self._queue) :]
        return (*(entry.element for entry in self._present), *waiting)


class SnapshotInOrderOfCompletion(UnorderedQueue):
    """Of each segment the finished records are stored first, as Flink does it (its SN-3)."""

    def elements(self) -> Iterator[Stored]:
        for segment in self._segments:
            yield from (entry.element for entry in segment.ready)
            yield from (entry.element for entry in segment.entries if entry.outputs is None)


class BarrierWaitsForCalls(Operator):
    """Everything in flight is decided and gone before the snapshot is taken: PyFlink."""

    async def _process_barrier(self, barrier: Barrier | Snapshot) -> None:
        await self._drain()
        await super()._process_barrier(barrier)


class SnapshotTearsResultsApart(Output):
    """A snapshot comes out next, even in the middle of a record's results."""

    def _next(self) -> Element | None:
        return self._ahead.popleft() if self._ahead else super()._next()


class SnapshotWaitsForWhatIsReady(Output):
    """A snapshot leaves only when nothing else does, so what is behind its barrier overtakes."""

    def _next(self) -> Element | None:
        ahead, self._ahead = self._ahead, deque()
        element = super()._next()
        self._ahead = ahead
        return self._ahead.popleft() if element is None and self._ahead else element


class RequestWaitsForRoom(Operator):
    """A request for a snapshot is a mail that a full operator does not see: FLINK-39835."""

    def request_snapshot(self, checkpoint_id: int) -> None:
        request = super().request_snapshot
        self._post_main(lambda: request(checkpoint_id))


class ReadCountsWhatIsStored(Operator):
    """Markers and barriers are not counted as read, because no snapshot holds them."""

    def _on_element(self, element: Element) -> None:
        super()._on_element(element)
        self._read -= not isinstance(element, Stored)


class SnapshotDropsItsUpstream(Operator):
    """A snapshot that comes in is a barrier and nothing more: what it holds is lost."""

    async def _process_barrier(self, barrier: Barrier | Snapshot) -> None:
        await super()._process_barrier(Barrier(barrier.checkpoint_id))


FAULTY: tuple[Faulty, ...] = (
    Faulty(NewSnapshotReplacesTheLast, rule="SNAP-1"),
    Faulty(SnapshotForgetsEqualRecords, rule="SNAP-2"),
    Faulty(SnapshotForgetsWhatWaitsForRoom, rule="SNAP-2"),
    Faulty(SnapshotForgetsWhatIsFinished, rule="SNAP-2"),
    Faulty(SnapshotHoldsWhatIsHandedOut, rule="SNAP-3"),
    Faulty(SnapshotInOrderOfCompletion, rule="SNAP-4"),
    Faulty(BarrierWaitsForCalls, rule="SNAP-5"),
    Faulty(SnapshotTearsResultsApart, rule="SNAP-6"),
    Faulty(SnapshotWaitsForWhatIsReady, rule="SNAP-7"),
    Faulty(RequestWaitsForRoom, rule="SNAP-8"),
    Faulty(ReadCountsWhatIsStored, rule="SNAP-9"),
    Faulty(SnapshotDropsItsUpstream, rule="SNAP-10"),
)
