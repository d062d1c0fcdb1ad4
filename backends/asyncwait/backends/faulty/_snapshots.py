"""SNAP: operators whose snapshots hold too little or too much, or come at the wrong time."""

from bisect import bisect
from collections import deque
from collections.abc import Iterator

import anyio
from msgspec.structs import replace

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import End, FenceEntry, OrderedQueue, Output, StreamTask, UnorderedQueue
from asyncwait.spec import Barrier, Element, Record, Snapshot
from asyncwait.spec.snapshots import Stored


@breaks("SNAP-1")
class ReplacesSnapshotsNotYetTaken(Output):
    """Gives up a snapshot that nobody has taken yet when there is a newer one."""

    def put_ahead(self, element: Element) -> None:
        if isinstance(element, Snapshot):
            self.ahead = deque(e for e in self.ahead if not isinstance(e, Snapshot))
        super().put_ahead(element)


@breaks("SNAP-2")
class StoresEqualRecordsOnce(StreamTask):
    """Knows elements by their values, so that equal ones are stored once: Beam's AsyncWrapper."""

    def in_flight_elements(self) -> tuple[Stored, ...]:
        return tuple(dict.fromkeys(super().in_flight_elements()))


@breaks("SNAP-2")
class ForgetsWhatWaitsForRoom(StreamTask):
    """Stores its queue, and not the record that waits in front of it, much like FLINK-13063."""

    def in_flight_elements(self) -> tuple[Stored, ...]:
        return tuple(self.queue.elements())


@breaks("SNAP-2")
class ForgetsFinishedRecords(OrderedQueue):
    """Stores the calls that run, and not the results that wait for their turn."""

    def elements(self) -> Iterator[Stored]:
        for entry in self.entries:
            if entry.outputs is None or isinstance(entry, FenceEntry):
                yield entry.element


@breaks("SNAP-3")
class StoresWhatIsHandedOut(OrderedQueue):
    """Stores a record until its last result is taken, although the rest of it comes first."""

    def elements(self) -> Iterator[Stored]:
        return (entry.element for entry in self.entries)


@breaks("SNAP-4")
class StoresInOrderOfCompletion(UnorderedQueue):
    """Stores the finished records of each segment first, as Flink does (SN-3)."""

    def elements(self) -> Iterator[Stored]:
        for segment in self.segments:
            yield from (entry.element for entry in segment.ready)
            yield from (entry.element for entry in segment.entries if entry.outputs is None)


@breaks("SNAP-5")
class DrainsAtBarriers(StreamTask):
    """Waits until everything in flight is gone before it takes a snapshot, as PyFlink does."""

    def is_back_pressured(self) -> bool:
        is_barrier = isinstance(self.backlog[0], Barrier | Snapshot)
        return not self.is_drained() if is_barrier else super().is_back_pressured()


@breaks("SNAP-6")
class TearsResultsApartWithSnapshots(Output):
    """Puts a snapshot out next, even in the middle of a record's results."""

    def take(self) -> Element | None:
        return self.ahead.popleft() if self.ahead else super().take()


@breaks("SNAP-7", behind="SNAP-3", why="a snapshot that waits holds what came out meanwhile")
class LetsReadyResultsOvertakeSnapshots(Output):
    """Keeps a snapshot until nothing else is ready, and what is behind its barrier overtakes."""

    def take(self) -> Element | None:
        ahead, self.ahead = self.ahead, deque()
        element = super().take()
        self.ahead = ahead
        return self.ahead.popleft() if element is None and self.ahead else element


@breaks("SNAP-8")
class LetsRequestsWaitForRoom(Output):
    """Answers requests for snapshots when there is room, and not while it is full: FLINK-39835."""

    _waiting: tuple[int, ...] = ()

    def request_snapshot(self, checkpoint_id: int) -> None:
        self._waiting += (checkpoint_id,)
        self.answer()

    def answer(self) -> None:
        """Put out the snapshots that were asked for, if there is room."""
        while self._waiting and not self.queue.is_full:
            super().request_snapshot(self._waiting[0])
            self._waiting = self._waiting[1:]

    def take(self) -> Element | None:
        element = super().take()
        self.answer()
        return element


@breaks("SNAP-9")
class CountsOnlyWhatIsStored(StreamTask):
    """Does not count markers and barriers as read, because no snapshot holds them."""

    def on_element(self, element: Element) -> None:
        super().on_element(element)
        self.read -= not isinstance(element, Stored)


@breaks("SNAP-9")
class CountsWhatIsNoElement(StreamTask):
    """Counts as read what the source gave in place of an element."""

    def on_end(self, end: End) -> None:
        self.read += isinstance(end.error, TypeError)
        super().on_end(end)


@breaks("SNAP-10")
class DropsTheUpstream(StreamTask):
    """Takes a snapshot that comes in for a barrier and no more, and loses what it holds."""

    def process_barrier(self, barrier: Barrier | Snapshot) -> None:
        super().process_barrier(Barrier(barrier.checkpoint_id))


@breaks("SNAP-11")
class AnswersTheLatestRequestFirst(Output):
    """Puts each requested snapshot in front of those that were asked for before."""

    def put_first(self, snapshot: Snapshot) -> None:
        self.ahead.appendleft(snapshot)
        self.tell()


@breaks("SNAP-1")
class TakesCheckpointZeroForNone(StreamTask):
    """Asks whether the number of a checkpoint is truthy, and gives none for number zero."""

    def process_barrier(self, barrier: Barrier | Snapshot) -> None:
        if barrier.checkpoint_id:
            super().process_barrier(barrier)


@breaks("SNAP-2")
class StoresSixteenElements(StreamTask):
    """Has room for sixteen elements in a snapshot, and drops what follows."""

    def in_flight_elements(self) -> tuple[Stored, ...]:
        return super().in_flight_elements()[:16]


@breaks("SNAP-3")
class FillsSnapshotsWhenTheyAreTaken(Output):
    """Looks what is in flight when a snapshot is taken, not when its barrier was read."""

    def take(self) -> Element | None:
        element = super().take()
        if isinstance(element, Snapshot) and element.read is None:
            return replace(element, in_flight=tuple(self.queue.elements()))
        return element


@breaks("SNAP-4")
class StoresFencesApart(StreamTask):
    """Stores the records first and the fences behind them, in a list of state for each."""

    def in_flight_elements(self) -> tuple[Stored, ...]:
        return tuple(sorted(super().in_flight_elements(), key=lambda e: not isinstance(e, Record)))


@breaks("SNAP-5")
class WritesSnapshotsInTheBackground(StreamTask):
    """Puts a snapshot out when it has been written, and what is behind its barrier goes on."""

    def process_barrier(self, barrier: Barrier | Snapshot) -> None:
        upstream = barrier if isinstance(barrier, Snapshot) else None
        snapshot = Snapshot(barrier.checkpoint_id, self.in_flight_elements(), upstream=upstream)
        self.spawn(self.write, snapshot)

    async def write(self, snapshot: Snapshot) -> None:
        await anyio.sleep(0.02)
        self.output.put_ahead(snapshot)


@breaks("SNAP-8")
class AnswersOneRequestAtATime(Output):
    """Takes a request for answered if a snapshot for an earlier one has not been taken yet."""

    def put_first(self, snapshot: Snapshot) -> None:
        if not any(isinstance(e, Snapshot) and e.read is not None for e in self.ahead):
            super().put_first(snapshot)


@breaks("SNAP-9", behind="STAT-2", why="the same number says which element waits")
class CountsStoredElementsAsRead(StreamTask):
    """Counts what it restores among what it has read from the source."""

    def restore(self) -> None:
        self.read += len(self.stored)
        super().restore()


@breaks("SNAP-10")
class CutsTheChainOfUpstreams(StreamTask):
    """Carries the snapshot along that came in, and not the one that this carries itself."""

    def process_barrier(self, barrier: Barrier | Snapshot) -> None:
        if isinstance(barrier, Snapshot):
            barrier = replace(barrier, upstream=None)
        super().process_barrier(barrier)


@breaks("SNAP-10")
class KeepsTwoUpstreamSnapshots(StreamTask):
    """Carries the snapshot that came in and the one in that, and nothing from further up."""

    def process_barrier(self, barrier: Barrier | Snapshot) -> None:
        if isinstance(barrier, Snapshot) and barrier.upstream is not None:
            barrier = replace(barrier, upstream=replace(barrier.upstream, upstream=None))
        super().process_barrier(barrier)


@breaks("SNAP-10")
class KeepsTheLastUpstream(StreamTask):
    """Keeps the last snapshot that came in, and carries it along for plain barriers, too."""

    _upstream: Snapshot | None = None

    def process_barrier(self, barrier: Barrier | Snapshot) -> None:
        if isinstance(barrier, Snapshot):
            self._upstream = barrier
        elif self._upstream is not None:
            barrier = replace(self._upstream, checkpoint_id=barrier.checkpoint_id)
        super().process_barrier(barrier)


@breaks("SNAP-11")
class SortsRequestsByNumber(Output):
    """Puts out the requested snapshots in the order of their numbers, not of the requests."""

    def put_first(self, snapshot: Snapshot) -> None:
        requested = [e for e in self.ahead if isinstance(e, Snapshot) and e.read is not None]
        numbers = [e.checkpoint_id for e in requested]
        self.ahead.insert(bisect(numbers, snapshot.checkpoint_id), snapshot)
        self.tell()
