"""SNAP: operators whose snapshots hold too little or too much, or come at the wrong time."""

from bisect import bisect
from collections import deque
from collections.abc import Iterator

import anyio
from msgspec.structs import replace

from asyncwait.backends.faulty._gallery import Faulty
from asyncwait.reference import Entry, FenceEntry, Operator, OrderedQueue, Output, UnorderedQueue
from asyncwait.spec import Barrier, Element, LatencyMarker, Record, Snapshot, Stored


class ReplacesSnapshotsNotYetTaken(Output):
    """Gives up a snapshot that nobody has taken yet when there is a newer one."""

    def put_ahead(self, element: Element) -> None:
        if isinstance(element, Snapshot):
            self._ahead = deque(e for e in self._ahead if not isinstance(e, Snapshot))
        super().put_ahead(element)


class StoresEqualRecordsOnce(Operator):
    """Knows elements by their values, so that equal ones are stored once: Beam's AsyncWrapper."""

    def _in_flight_elements(self) -> tuple[Stored, ...]:
        return tuple(dict.fromkeys(super()._in_flight_elements()))


class ForgetsWhatWaitsForRoom(Operator):
    """Stores its queue, and not the record that waits in front of it, much like FLINK-13063."""

    def _in_flight_elements(self) -> tuple[Stored, ...]:
        return tuple(self._queue.elements())


class ForgetsFinishedRecords(OrderedQueue):
    """Stores the calls that run, and not the results that wait for their turn."""

    def elements(self) -> Iterator[Stored]:
        for entry in self._entries:
            if entry.outputs is None or isinstance(entry, FenceEntry):
                yield entry.element


class StoresWhatIsHandedOut(Operator):
    """Stores a record until its last result is taken, although the rest of it comes first."""

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


class StoresInOrderOfCompletion(UnorderedQueue):
    """Stores the finished records of each segment first, as Flink does (SN-3)."""

    def elements(self) -> Iterator[Stored]:
        for segment in self._segments:
            yield from (entry.element for entry in segment.ready)
            yield from (entry.element for entry in segment.entries if entry.outputs is None)


class DrainsAtBarriers(Operator):
    """Waits until everything in flight is gone before it takes a snapshot, as PyFlink does."""

    async def _process_barrier(self, barrier: Barrier | Snapshot) -> None:
        await self._drain()
        await super()._process_barrier(barrier)


class TearsResultsApartWithSnapshots(Output):
    """Puts a snapshot out next, even in the middle of a record's results."""

    def _next(self) -> Element | None:
        return self._ahead.popleft() if self._ahead else super()._next()


class LetsReadyResultsOvertakeSnapshots(Output):
    """Keeps a snapshot until nothing else is ready, and what is behind its barrier overtakes."""

    def _next(self) -> Element | None:
        ahead, self._ahead = self._ahead, deque()
        element = super()._next()
        self._ahead = ahead
        return self._ahead.popleft() if element is None and self._ahead else element


class LetsRequestsWaitForRoom(Operator):
    """Takes requests for snapshots as mails that a full operator does not see: FLINK-39835."""

    def request_snapshot(self, checkpoint_id: int) -> None:
        request = super().request_snapshot
        self._post_main(lambda: request(checkpoint_id))


class CountsOnlyWhatIsStored(Operator):
    """Does not count markers and barriers as read, because no snapshot holds them."""

    def _on_element(self, element: Element) -> None:
        super()._on_element(element)
        self._read -= not isinstance(element, Stored)


class DropsTheUpstream(Operator):
    """Takes a snapshot that comes in for a barrier and no more, and loses what it holds."""

    async def _process_barrier(self, barrier: Barrier | Snapshot) -> None:
        await super()._process_barrier(Barrier(barrier.checkpoint_id))


class AnswersTheLatestRequestFirst(Output):
    """Puts each requested snapshot in front of those that were asked for before."""

    def put_first(self, snapshot: Snapshot) -> None:
        self._ahead.appendleft(snapshot)
        self.tell()


class TakesCheckpointZeroForNone(Operator):
    """Asks whether the number of a checkpoint is truthy, and gives none for number zero."""

    async def _process_barrier(self, barrier: Barrier | Snapshot) -> None:
        if barrier.checkpoint_id:
            await super()._process_barrier(barrier)
        else:
            self._leave_backlog()


class StoresSixteenElements(Operator):
    """Has room for sixteen elements in a snapshot, and drops what follows."""

    def _in_flight_elements(self) -> tuple[Stored, ...]:
        return super()._in_flight_elements()[:16]


class FillsSnapshotsWhenTheyAreTaken(Output):
    """Looks what is in flight when a snapshot is taken, not when its barrier was read."""

    def _next(self) -> Element | None:
        element = super()._next()
        if isinstance(element, Snapshot) and element.read is None:
            return replace(element, in_flight=tuple(self._queue.elements()))
        return element


class StoresFencesApart(Operator):
    """Stores the records first and the fences behind them, in a list of state for each."""

    def _in_flight_elements(self) -> tuple[Stored, ...]:
        return tuple(sorted(super()._in_flight_elements(), key=lambda e: not isinstance(e, Record)))


class WritesSnapshotsInTheBackground(Operator):
    """Puts a snapshot out when it has been written, and what is behind its barrier goes on."""

    async def _overtake(self, element: LatencyMarker | Snapshot) -> None:
        if isinstance(element, Snapshot):
            self._leave_backlog()
            self._spawn(self._write, element)
        else:
            await super()._overtake(element)

    async def _write(self, snapshot: Snapshot) -> None:
        await anyio.sleep(0.02)
        self._output.put_ahead(snapshot)


class AnswersOneRequestAtATime(Output):
    """Takes a request for answered if a snapshot for an earlier one has not been taken yet."""

    def put_first(self, snapshot: Snapshot) -> None:
        if not any(isinstance(e, Snapshot) and e.read is not None for e in self._ahead):
            super().put_first(snapshot)


class CountsStoredElementsAsRead(Operator):
    """Counts what it restores among what it has read from the source."""

    async def _restore(self) -> None:
        self._read += len(self._stored)
        await super()._restore()


class CutsTheChainOfUpstreams(Operator):
    """Carries the snapshot along that came in, and not the one that this carries itself."""

    async def _process_barrier(self, barrier: Barrier | Snapshot) -> None:
        if isinstance(barrier, Snapshot):
            barrier = replace(barrier, upstream=None)
        await super()._process_barrier(barrier)


class KeepsTheLastUpstream(Operator):
    """Keeps the last snapshot that came in, and carries it along for plain barriers, too."""

    _upstream: Snapshot | None = None

    async def _process_barrier(self, barrier: Barrier | Snapshot) -> None:
        if isinstance(barrier, Snapshot):
            self._upstream = barrier
        elif self._upstream is not None:
            barrier = replace(self._upstream, checkpoint_id=barrier.checkpoint_id)
        await super()._process_barrier(barrier)


class SortsRequestsByNumber(Output):
    """Puts out the requested snapshots in the order of their numbers, not of the requests."""

    def put_first(self, snapshot: Snapshot) -> None:
        requested = [e for e in self._ahead if isinstance(e, Snapshot) and e.read is not None]
        numbers = [e.checkpoint_id for e in requested]
        self._ahead.insert(bisect(numbers, snapshot.checkpoint_id), snapshot)
        self.tell()


FAULTY: tuple[Faulty, ...] = (
    Faulty(ReplacesSnapshotsNotYetTaken, rule="SNAP-1"),
    Faulty(TakesCheckpointZeroForNone, rule="SNAP-1"),
    Faulty(StoresEqualRecordsOnce, rule="SNAP-2"),
    Faulty(ForgetsWhatWaitsForRoom, rule="SNAP-2"),
    Faulty(ForgetsFinishedRecords, rule="SNAP-2"),
    Faulty(StoresSixteenElements, rule="SNAP-2"),
    Faulty(StoresWhatIsHandedOut, rule="SNAP-3"),
    Faulty(FillsSnapshotsWhenTheyAreTaken, rule="SNAP-3"),
    Faulty(StoresInOrderOfCompletion, rule="SNAP-4"),
    Faulty(StoresFencesApart, rule="SNAP-4"),
    Faulty(DrainsAtBarriers, rule="SNAP-5"),
    Faulty(WritesSnapshotsInTheBackground, rule="SNAP-5"),
    Faulty(TearsResultsApartWithSnapshots, rule="SNAP-6"),
    Faulty(LetsReadyResultsOvertakeSnapshots, rule="SNAP-7"),
    Faulty(LetsRequestsWaitForRoom, rule="SNAP-8"),
    Faulty(AnswersOneRequestAtATime, rule="SNAP-8"),
    Faulty(CountsOnlyWhatIsStored, rule="SNAP-9"),
    Faulty(CountsStoredElementsAsRead, rule="SNAP-9"),
    Faulty(DropsTheUpstream, rule="SNAP-10"),
    Faulty(CutsTheChainOfUpstreams, rule="SNAP-10"),
    Faulty(KeepsTheLastUpstream, rule="SNAP-10"),
    Faulty(AnswersTheLatestRequestFirst, rule="SNAP-11"),
    Faulty(SortsRequestsByNumber, rule="SNAP-11"),
)
