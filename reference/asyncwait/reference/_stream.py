"""What becomes of the stream: restored, read element by element, snapshotted, drained."""

from asyncwait.reference._records import RecordHandling
from asyncwait.reference._source import End
from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    Record,
    Snapshot,
    Stored,
    Watermark,
    WatermarkStatus,
)


class StreamHandling(RecordHandling):
    """The chapter about the stream: its elements in turn, its end, its snapshots."""

    # From the first element to the last

    async def _restore(self) -> None:
        """Process what was stored before any new input, as if it were just read (REST-1).

        If it is more than there is room for, it waits for room like anything else (REST-4).
        """
        self._backlog.extend(self._stored)
        self._stored = ()
        while self._backlog:
            await self._process(self._backlog[0])

    async def _process_input(self) -> None:
        """Process one element after the other until the input has ended."""
        self._spawn(self._source.run)
        while await self._next_arrived():
            await self._process(self._backlog[0])

    async def _next_arrived(self) -> bool:
        """Run mails until there is an element to process; return False at the end of input."""
        while not self._backlog and self._end is None:
            await self._main.run_one()
        return bool(self._backlog)

    async def _drain(self) -> None:
        """Run mails until everything in flight is decided and gone (END-1)."""
        while len(self._queue) + self._output.slots > 0:
            await self._main.run_one()

    def _finish(self) -> None:
        """End the output as the source has ended: well, or with its error (END-2, FAIL-7)."""
        self._output.finish(None if self._end is None else self._end.error)

    async def _settle(self) -> None:
        """Run mails until it is known which cancelled calls are abandoned (TIME-8)."""
        while self._calls.in_doubt > 0:
            await self._main.run_one()

    # One element

    async def _process(self, element: Element) -> None:
        """Process the first element of the backlog by its kind."""
        match element:
            case Record():
                await self._process_record(element)
            case Watermark() | WatermarkStatus():
                await self._process_fence(element)
            case LatencyMarker():
                await self._process_marker(element)
            case Barrier() | Snapshot():
                await self._process_barrier(element)

    async def _process_marker(self, marker: LatencyMarker) -> None:
        """Let a latency marker overtake what is queued (ELEM-6)."""
        await self._overtake(marker)

    async def _process_barrier(self, barrier: Barrier | Snapshot) -> None:
        """Take the snapshot that a barrier asks for, waiting for nothing (SNAP-1, SNAP-5).

        A Snapshot in place of a barrier is carried along (SNAP-10).
        """
        upstream = barrier if isinstance(barrier, Snapshot) else None
        snapshot = Snapshot(barrier.checkpoint_id, self._in_flight_elements(), upstream=upstream)
        await self._overtake(snapshot)

    async def _overtake(self, element: LatencyMarker | Snapshot) -> None:
        """Let out ahead of the queue what takes no slot, at once (ELEM-6, SNAP-5).

        If the consumer leaves more of its kind untaken than there is capacity, nothing is read
        until it takes some (CAP-6). That is never so while it waits.
        """
        self._output.put_ahead(element)
        while self._output.overtakers > self._config.capacity:
            await self._own.run_one()
        self._leave_backlog()

    # Snapshots

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Put a Snapshot out as the next output, whether there is room or not (SNAP-8, SNAP-9).

        After a failure or the end nothing happens.
        """
        if not self._output.is_over:
            snapshot = Snapshot(checkpoint_id, self._in_flight_elements(), self._read)
            self._output.put_first(snapshot)

    def _in_flight_elements(self) -> tuple[Stored, ...]:
        """Return the inputs that were taken and have not come out (SNAP-2, SNAP-3, SNAP-4).

        Those are what is queued, and then what waits for room or is still to be restored, if the
        snapshot is one on request; a barrier has to wait for these. A record that was taken in
        part is not among them: its other results come out before the snapshot.
        """
        waiting = (element for element in self._backlog if isinstance(element, Stored))
        return (*self._queue.elements(), *waiting, *self._stored)

    # The source

    def _on_element(self, element: Element) -> None:
        """File an element in the step in which it was taken: a snapshot must not miss it."""
        self._read += 1
        self._backlog.append(element)
        self._post_main(_look_again)

    def _on_end(self, end: End) -> None:
        self._end = end
        self._post_main(_look_again)

    # The consumer

    def _on_overtaker_taken(self) -> None:
        self._post(_look_again)


def _look_again() -> None:
    """Do nothing: that there was a mail makes the operator look again at what it waits for."""
