"""Plays one leg on the partition operator, in the worker, and writes down what happens there."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError

import pyarrow as pa

from asyncwait.backends.spark._partition import BATCH_SIZE, Partition
from asyncwait.backends.spark.conformance._loop_side import LoopSide
from asyncwait.backends.spark.conformance._ways import ElementWay
from asyncwait.conformance.harness import FURTHER_READS, planned_function
from asyncwait.spec import Element
from asyncwait.spec.scenario import Closed, Leg, LegStart, SinkStep


class PartitionPlayer:
    """The consumer of one leg: it pulls batches by the scenario's script, then to the end.

    Each row of a batch is an element taken. The consumer gives up, leaves and crashes by having its
    wait cancelled, and by closing the operator's iterator.
    """

    def __init__(self, plan: LegStart, way: ElementWay, *, real: bool) -> None:
        self._plan = plan
        self._way = way
        self._side = LoopSide(plan, real=real)
        self._consumer = self._side.consumer
        self._recorder = self._side.recorder
        self.failure: BaseException | None = None
        self.leg: Leg | None = None

    def play(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Hand on what comes out; at its end `leg` and `failure` are there."""
        before = set(threading.enumerate())
        try:
            partition = self._open(batches)
        except Exception as error:
            self._fail(error)
            self._recorder.events.append(Closed(self._recorder.now()))
            self.leg = self._consumer.leg()
            return
        try:
            yield from self._consume(partition)
        finally:
            self._close(partition)
        if self._consumer.reads_after:
            self._read_again(partition, left=True)
        side, threads = self._side, len(set(threading.enumerate()) - before)
        self.leg = self._consumer.leg(
            tasks_left=side.tasks_left + threads,
            timers_left=side.timers_left,
            abandoned=partition.statistics().abandoned,
        )

    def _open(self, batches: Iterator[pa.RecordBatch]) -> Partition:
        side, plan = self._side, self._plan
        fn = planned_function(plan.scenario, side.recorder, side.spawn)
        partition = self._way.open(
            batches,
            plan,
            fn,
            loop_factory=lambda: side.loop,
            reader=side.read,
            # By single elements a script of reads and pauses is followed to the letter.
            batch_size=1 if self._consumer.is_scripted else BATCH_SIZE,
        )
        side.partition = partition
        asyncio.run_coroutine_threadsafe(side.set_alarms(), side.loop).result()
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
        """Pass the time on the loop's clock, as everything that takes time has to."""
        began = self._recorder.passed()
        try:
            asyncio.run_coroutine_threadsafe(asyncio.sleep(ms / 1000), self._side.loop).result()
            self._side.handed_over(began)
        except CancelledError:
            assert self._consumer.ending is not None

    def _pull(self, partition: Partition, step: SinkStep) -> pa.RecordBatch | None:
        side, consumer = self._side, self._consumer
        gives_up = step.does == "give_up"
        began = self._recorder.passed()
        consumer.waits()
        if gives_up:
            side.give_up_after(step.n)
        try:
            batch = next(partition)
        except CancelledError:
            if consumer.ending is None:
                consumer.gave_up()
        except Exception as error:
            consumer.read_raised(self._way.told(error))
            self.failure = consumer.raised
        else:
            if consumer.ending is None:
                consumer.took(*self._way.elements(batch))
                return self._way.rows(batch)
        finally:
            side.handed_over(began)
            if gives_up:
                side.go_on()
        return None

    def _close(self, partition: Partition) -> None:
        began = self._recorder.passed()
        self._side.loop.call_soon_threadsafe(self._side.begin_closing)
        try:
            partition.close()
        except Exception as error:
            self._fail(error)
        self._side.handed_over(began)
        self._recorder.events.append(Closed(self._recorder.now()))
        if self._plan.scenario.figures_at:
            self._recorder.figures_read(partition.statistics())

    def _fail(self, error: Exception) -> None:
        self.failure = self._way.told(error)
        self._consumer.failed(error)

    def _read_again(self, partition: Partition, *, left: bool) -> None:
        for _ in range(FURTHER_READS):
            outcome: Element | Exception
            try:
                outcome = self._way.elements(next(partition))[0]
            except Exception as error:
                outcome = error
            if not self._consumer.read_again(outcome=outcome, left=left):
                return
