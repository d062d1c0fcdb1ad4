"""SNAP: operators whose snapshots store too little or too much, or come at the wrong time."""

from collections import deque

from msgspec.structs import replace

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import Output, StreamTask
from asyncwait.spec import Barrier, Element, Snapshot
from asyncwait.spec.snapshots import Stored


@breaks("SNAP-2")
class StoresEqualRecordsOnce(StreamTask):
    """Stores only one of several equal elements, as Beam's AsyncWrapper does."""

    def in_flight_elements(self) -> tuple[Stored, ...]:
        return tuple(dict.fromkeys(super().in_flight_elements()))


@breaks("SNAP-2")
class ForgetsWhatWaitsForRoom(StreamTask):
    """Stores its queue without the record that waits for room, much like FLINK-13063."""

    def in_flight_elements(self) -> tuple[Stored, ...]:
        return tuple(self.queue.elements())


@breaks("SNAP-5")
class DrainsAtBarriers(StreamTask):
    """Waits until nothing is in flight before it takes a snapshot, as PyFlink does."""

    def is_back_pressured(self) -> bool:
        is_barrier = isinstance(self.backlog[0], Barrier | Snapshot)
        return not self.is_drained() if is_barrier else super().is_back_pressured()


@breaks("SNAP-6")
class TearsResultsApartWithSnapshots(Output):
    """Emits a snapshot between the results of one record."""

    def take(self) -> Element | None:
        return self.ahead.popleft() if self.ahead else super().take()


@breaks("SNAP-7", behind="SNAP-3", why="a snapshot that waits holds what came out meanwhile")
class LetsReadyResultsOvertakeSnapshots(Output):
    """Holds a snapshot until nothing else is ready; elements behind its barrier overtake it."""

    def take(self) -> Element | None:
        ahead, self.ahead = self.ahead, deque()
        element = super().take()
        self.ahead = ahead
        return self.ahead.popleft() if element is None and self.ahead else element


@breaks("SNAP-8")
class LetsRequestsWaitForRoom(Output):
    """Answers requests for snapshots only when there is room: FLINK-39835."""

    _waiting: tuple[int, ...] = ()

    def request_snapshot(self, checkpoint_id: int) -> None:
        self._waiting += (checkpoint_id,)
        self.answer()

    def answer(self) -> None:
        """Emit the requested snapshots, if there is room."""
        while self._waiting and not self.queue.is_full:
            super().request_snapshot(self._waiting[0])
            self._waiting = self._waiting[1:]

    def take(self) -> Element | None:
        element = super().take()
        self.answer()
        return element


@breaks("SNAP-9")
class CountsOnlyWhatIsStored(StreamTask):
    """Does not count markers and barriers as read, because no snapshot stores them."""

    def on_element(self, element: Element) -> None:
        super().on_element(element)
        self.read -= not isinstance(element, Stored)


@breaks("SNAP-10")
class DropsTheUpstream(StreamTask):
    """Treats an incoming snapshot as a plain barrier, and loses its content."""

    def process_barrier(self, barrier: Barrier | Snapshot) -> None:
        super().process_barrier(Barrier(barrier.checkpoint_id))


@breaks("SNAP-1")
class TakesCheckpointZeroForNone(StreamTask):
    """Takes no snapshot for the checkpoint number zero, which is falsy."""

    def process_barrier(self, barrier: Barrier | Snapshot) -> None:
        if barrier.checkpoint_id:
            super().process_barrier(barrier)


@breaks("SNAP-3")
class FillsSnapshotsWhenTheyAreTaken(Output):
    """Fills a snapshot when the consumer takes it, not when its barrier is read."""

    def take(self) -> Element | None:
        element = super().take()
        if isinstance(element, Snapshot) and element.read is None:
            return replace(element, in_flight=tuple(self.queue.elements()))
        return element


@breaks("SNAP-8")
class AnswersOneRequestAtATime(Output):
    """Ignores a request while the snapshot of an earlier request has not been taken."""

    def put_first(self, snapshot: Snapshot) -> None:
        if not any(isinstance(e, Snapshot) and e.read is not None for e in self.ahead):
            super().put_first(snapshot)


@breaks("SNAP-10")
class KeepsTheLastUpstream(StreamTask):
    """Stores the last incoming snapshot, and attaches it to later plain barriers as well."""

    _upstream: Snapshot | None = None

    def process_barrier(self, barrier: Barrier | Snapshot) -> None:
        if isinstance(barrier, Snapshot):
            self._upstream = barrier
        elif self._upstream is not None:
            barrier = replace(self._upstream, checkpoint_id=barrier.checkpoint_id)
        super().process_barrier(barrier)
