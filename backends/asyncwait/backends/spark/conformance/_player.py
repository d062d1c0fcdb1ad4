"""Plays one leg on the partition operator, in the worker, and records its events."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from typing import Any

import pyarrow as pa

from asyncwait.backends.spark._partition import (
    BATCH_SIZE,
    InMemorySource,
    Partition,
    PartitionSource,
    ThreadedSource,
)
from asyncwait.backends.spark._rows import RowCodec
from asyncwait.backends.spark.conformance._paths import ElementPath
from asyncwait.conformance.harness import (
    FURTHER_READS,
    Consumer,
    OutsideRealLoop,
    OutsideVirtualLoop,
    Recorder,
    WatchedSource,
    planned_function,
)
from asyncwait.spec import Element
from asyncwait.spec.scenario import GRID, Closed, EndingKind, Leg, LegStart, SinkStep


class PartitionPlayer:
    """The consumer of one leg: it pulls batches by the scenario's script, then to the end.

    Each row of a batch is an element taken. The consumer gives up, leaves and crashes by cancelling
    its wait, and by closing the operator's iterator.
    """

    def __init__(self, plan: LegStart, path: ElementPath, *, real: bool) -> None:
        self._plan = plan
        self._path = path
        self._on_loop = PlayerLoop(plan, real=real)
        self._consumer = self._on_loop.consumer
        self._recorder = self._on_loop.recorder
        self.leg: Leg | None = None

    def play(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the batches of output; `leg` is set at the end."""
        before = set(threading.enumerate())
        try:
            partition = self._open(batches)
        except Exception as error:
            self._consumer.failed(self._path.with_record(error))
            self._recorder.events.append(Closed(self._recorder.now()))
            self.leg = self._consumer.leg()
            return
        try:
            yield from self._consume(partition)
        finally:
            self._close(partition)
        if self._consumer.reads_after:
            self._read_again(partition, left=True)
        on_loop, threads = self._on_loop, len(set(threading.enumerate()) - before)
        self.leg = self._consumer.leg(
            tasks_left=on_loop.tasks_left + threads,
            timers_left=on_loop.timers_left,
            abandoned=partition.statistics().abandoned,
        )

    def _open(self, batches: Iterator[pa.RecordBatch]) -> Partition:
        on_loop, plan = self._on_loop, self._plan
        fn = planned_function(plan.scenario, on_loop.recorder, on_loop.spawn)
        partition = self._path.open(
            batches,
            plan,
            fn,
            loop_factory=lambda: on_loop.loop,
            reader=on_loop.read,
            # By single elements a script of reads and pauses is followed to the letter.
            batch_size=1 if self._consumer.is_scripted else BATCH_SIZE,
        )
        on_loop.partition = partition
        asyncio.run_coroutine_threadsafe(on_loop.set_alarms(), on_loop.loop).result()
        return partition

    def _consume(self, partition: Partition) -> Iterator[pa.RecordBatch]:
        for step in self._consumer.steps():
            if step.does in {"pause", "block"}:
                self._pause(step.n)  # Its thread is not the loop's, so nothing else is blocked.
            elif step.does == "leave":
                self._consumer.end("left")
            elif (batch := self._pull(partition, step)) is not None:
                yield batch
        if self._consumer.reads_again:
            self._read_again(partition, left=False)

    def _pause(self, ms: int) -> None:
        """Pass the time on the loop's clock, as every step must that takes time."""
        began = self._recorder.passed()
        try:
            asyncio.run_coroutine_threadsafe(asyncio.sleep(ms / 1000), self._on_loop.loop).result()
            self._on_loop.handed_over(began)
        except CancelledError:
            assert self._consumer.ending is not None

    def _pull(self, partition: Partition, step: SinkStep) -> pa.RecordBatch | None:
        on_loop, consumer = self._on_loop, self._consumer
        gives_up = step.does == "give_up"
        began = self._recorder.passed()
        consumer.waits()
        if gives_up:
            on_loop.give_up_after(step.n)
        try:
            batch = next(partition)
        except CancelledError:
            if consumer.ending is None:
                consumer.gave_up()
        except Exception as error:
            consumer.read_raised(self._path.with_record(error))
        else:
            if consumer.ending is None:
                consumer.took(*self._path.elements(batch))
                return self._path.rows(batch)
        finally:
            on_loop.handed_over(began)
            if gives_up:
                on_loop.go_on()
        return None

    def _close(self, partition: Partition) -> None:
        began = self._recorder.passed()
        self._on_loop.loop.call_soon_threadsafe(self._on_loop.begin_closing)
        try:
            partition.close()
        except Exception as error:
            self._consumer.failed(self._path.with_record(error))
        self._on_loop.handed_over(began)
        self._recorder.events.append(Closed(self._recorder.now()))
        if self._plan.scenario.figures_at:
            self._recorder.figures_read(partition.statistics())

    def _read_again(self, partition: Partition, *, left: bool) -> None:
        for _ in range(FURTHER_READS):
            outcome: Element | Exception
            try:
                outcome = self._path.elements(next(partition))[0]
            except Exception as error:
                outcome = error
            if not self._consumer.read_again(outcome=outcome, left=left):
                return


class PlayerLoop:
    """The loop of one leg, and its events.

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
        source = self._source(batches, rows)
        error = self.consumer.source_error
        return _WatchedPartition(source, self._plan, self.recorder, error)

    def spawn(self, answer: Callable[[], Any]) -> None:
        """Start a coroutine function beside the operator, for answers in callback form."""
        task = self.loop.create_task(answer())
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def set_alarms(self) -> None:
        """Set the planned end of the leg, and the bounds that end a hang or a spin.

        An end at 0 has come when this returns: it needs no waiting consumer.
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
        """Note the time that requests from outside, and their answers, took to and from the loop.

        A stall there must not count as a stall of the operator; called from outside, after the last
        answer.

        Args:
            since: planned time of the first request, in ms.
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
        """Drop the alarms: the leg is over, and only the operator's timers must count."""
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
        """Return the next element; note how long it took, if the plan says it is available."""
        asked = self._recorder.passed()
        element = await super().__anext__()
        if self._recorder.is_on_grid:
            self._recorder.was_due(asked)
        return element

    async def aclose(self) -> None:
        try:
            await super().aclose()
        finally:
            await self._source.aclose()

    def join(self) -> None:
        self._source.join()
