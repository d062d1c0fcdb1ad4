"""What the suite does on the operator's loop, in the worker: alarms, a watched source, a census."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from asyncwait.backends.spark._partition import Partition
from asyncwait.backends.spark._reader import InMemorySource, PartitionSource, ThreadedSource
from asyncwait.backends.spark._rows import RowCodec
from asyncwait.conformance.harness import (
    Consumer,
    OutsideRealLoop,
    OutsideVirtualLoop,
    Recorder,
    WatchedSource,
)
from asyncwait.spec import Element
from asyncwait.spec.scenario import GRID, EndingKind, LegStart


class LoopSide:
    """The loop of one leg, and what happens on it.

    Virtual and real legs differ in two parameters of the operator: the loop, and the reader.
    """

    def __init__(self, plan: LegStart, *, real: bool) -> None:
        self.loop: OutsideRealLoop | OutsideVirtualLoop
        if real:
            self.loop = OutsideRealLoop()
            clock: dict[str, Any] = {"clock": self.loop.time, "grid": GRID}
        else:
            self.loop = virtual = OutsideVirtualLoop(self._count_left)
            clock = {"clock": virtual.time, "blocker": virtual.jump}
        self.recorder = Recorder(plan.scenario, **clock, shares_objects=False)
        self._began = self.loop.time()
        self.consumer = Consumer(plan, self.recorder)
        self.partition: Partition | None = None
        """The operator, once it is open."""
        self.closing = False
        self.tasks_left = self.timers_left = 0
        self._plan = plan
        self._real = real
        self._source = ThreadedSource if real else InMemorySource
        self._alarms: list[asyncio.TimerHandle] = []
        self._patience: asyncio.TimerHandle
        self._answers: set[asyncio.Task[Any]] = set()
        self._measuring: asyncio.Task[None] | None = None  # until the loop is wound up

    def read(self, batches: Iterator[pa.RecordBatch], rows: RowCodec) -> PartitionSource:
        """Return the operator's source: the real one, watched."""
        if self._real and self._plan.scenario.is_timed:
            batches = self._watch_arrivals(batches)
        source = self._source(batches, rows)
        error = self.consumer.source_error
        return _WatchedPartition(source, self._plan, self.recorder, error)

    def _watch_arrivals(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Note how far from their times the rows arrive; each is a batch."""
        inputs = iter(self._plan.inputs)
        for batch in batches:
            self.recorder.was_due(next(inputs).at)
            yield batch

    def spawn(self, answer: Callable[[], Any]) -> None:
        """Start a coroutine function beside the operator, for answers in callback form."""
        task = self.loop.create_task(answer())
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def set_alarms(self) -> None:
        """Set the end that is planned for the leg, and the bounds that end a hang or a spin.

        An end at 0 has come when this returns: it needs nobody who waits.
        """
        for at in self._plan.scenario.figures_at:
            self._alarms.append(self.loop.call_at(self._began + at / 1000, self._read_figures))
        self._alarm(self.consumer.limit, "hung")
        for at, how in self.consumer.planned_ends:
            self._alarm(at, how)
        if isinstance(self.loop, OutsideVirtualLoop):
            self.loop.spin.restart(lambda: self._end("livelock"))
        else:
            self._measuring = self.loop.create_task(self.recorder.measure_lateness())

    def _alarm(self, at: int, how: EndingKind) -> None:
        self._alarms.append(self.loop.call_at(self._began + at / 1000, self._end, how))

    def _read_figures(self) -> None:
        assert self.partition is not None
        if self.consumer.ending is None:
            self.recorder.figures_read(self.partition.statistics())

    def handed_over(self, since: float) -> None:
        """Note how long what was asked from outside was on its way to the loop, and its answers.

        A stall there must not pass for one of the operator; called from outside, once the last
        answer is there.

        Args:
            since: when the first of it was to be asked, in ms.
        """
        if not isinstance(self.loop, OutsideRealLoop):
            return
        spans = [[(at - self._began) * 1000 for at in span] for span in self.loop.spans]
        asked = [span for span in spans if span[0] >= since]
        for came, answered in asked:
            self.recorder.was_due(since, came)
            self.recorder.passes(came)
            self.recorder.passes(answered)
            since = answered
        if asked:
            self.recorder.was_due(since)

    def give_up_after(self, ms: int) -> None:
        """Cancel the consumer's next wait after so many ms; called from outside."""
        self.loop.call_soon_threadsafe(self._set_patience, ms)

    def _set_patience(self, ms: int) -> None:
        self._patience = self.loop.call_later(ms / 1000, self._withdraw)

    def go_on(self) -> None:
        """Forget the patience of the wait that is over; called from outside."""
        self.loop.call_soon_threadsafe(self._patience.cancel)

    def _end(self, how: EndingKind) -> None:
        self.consumer.end(how)
        self._withdraw()

    def _withdraw(self) -> None:
        loop = self.loop
        waits = loop.awaited if isinstance(loop, OutsideVirtualLoop) else asyncio.all_tasks(loop)
        for task in waits:
            task.cancel()

    def begin_closing(self) -> None:
        """Drop the alarms: nothing is left to be ended, and what is counted is the operator's."""
        self.closing = True
        for alarm in self._alarms:
            alarm.cancel()
        if isinstance(self.loop, OutsideVirtualLoop):
            self.loop.spin.restart(lambda: None)

    def _count_left(self) -> None:
        """Count tasks and timers; the last request of a leg comes when the operator is gone."""
        if self.closing:
            assert isinstance(self.loop, OutsideVirtualLoop)
            answers = len(self._answers)  # each has a timer
            self.tasks_left = max(0, len(asyncio.all_tasks(self.loop)) - answers)
            self.timers_left = max(0, self.loop.pending_timers() - answers)


class _WatchedPartition(WatchedSource):
    """The source of a partition, watched."""

    def __init__(
        self,
        source: PartitionSource,
        plan: LegStart,
        recorder: Recorder,
        error: BaseException | None,
    ) -> None:
        super().__init__(source, plan, recorder, error)
        self._source = source

    async def __anext__(self) -> Element:
        """Return the next element; note how long it took, where the plan says that it is there."""
        asked = self._recorder.passed()
        element = await super().__anext__()
        if self._recorder.is_on_grid and not self._plan.scenario.is_timed:
            self._recorder.was_due(asked)
        return element

    async def aclose(self) -> None:
        """Close it, and note that."""
        try:
            await super().aclose()
        finally:
            await self._source.aclose()

    def join(self) -> None:
        """See `PartitionSource`."""
        self._source.join()
