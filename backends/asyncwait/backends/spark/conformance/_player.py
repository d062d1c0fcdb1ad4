"""Plays one leg on the partition operator, in the worker, and writes down what happens there."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError

import pyarrow as pa
from msgspec.structs import replace

from asyncwait.backends.spark._partition import BATCH_SIZE, Partition
from asyncwait.backends.spark._rows import ElementRows
from asyncwait.backends.spark.conformance._loop_side import LoopSide
from asyncwait.conformance.harness import Recorder, describe_failure, planned_function
from asyncwait.spec import Element
from asyncwait.spec.scenario import (
    Closed,
    Ending,
    Leg,
    LegStart,
    SinkGaveUp,
    SinkStep,
    SinkTook,
    SinkWaits,
)


class _WatchedRows(ElementRows):
    """A codec that notes how long it takes: a stall here must not pass for one of the operator.

    Args:
        recorder: of the leg.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def encode(self, elements: Sequence[Element]) -> pa.RecordBatch:
        began = self._recorder.passed()
        batch = super().encode(elements)
        self._recorder.was_due(began)
        return batch


class PartitionPlayer:
    """The consumer of one leg: it pulls batches by the scenario's script, then to the end.

    Each row of a batch is an element taken. The consumer gives up, leaves and crashes by having its
    wait cancelled, and by closing the operator's iterator.

    Args:
        plan: of the leg.
        real: see `LoopSide`.
    """

    def __init__(self, plan: LegStart, *, real: bool) -> None:
        self._plan = plan
        self._side = LoopSide(plan, real=real)
        self._events = self._side.recorder.events
        self._rows = _WatchedRows(self._side.recorder)
        self._script = plan.scenario.sink if plan.number == 0 else ()
        self.failure: BaseException | None = None
        self.leg: Leg | None = None

    def play(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Hand on what comes out; at its end `leg` and `failure` are there."""
        side, before = self._side, set(threading.enumerate())
        try:
            partition = self._open(batches)
        except Exception as error:
            self._fail(error)
            self.leg = self._leg()
            return
        try:
            yield from self._consume(partition)
            seen = self._again(partition, {"finished", "failed"})
        finally:
            side.loop.call_soon_threadsafe(side.begin_closing)
            partition.close()
            self._events.append(Closed(self._now()))
        after = self._again(partition, {"finished", "failed", "left"})
        assert side.ending is not None
        side.ending = replace(side.ending, again=seen, after=after)
        leg = self._leg()
        threads = len(set(threading.enumerate()) - before)
        self.leg = replace(
            leg,
            tasks_left=leg.tasks_left + threads,
            abandoned=partition.statistics().abandoned,
        )

    def _open(self, batches: Iterator[pa.RecordBatch]) -> Partition:
        side, plan = self._side, self._plan
        partition = Partition(
            batches,
            plan.config,
            planned_function(plan.scenario, side.recorder, side.spawn),
            self._rows,
            restore=plan.restored,
            loop_factory=lambda: side.loop,
            reader=side.read,
            # By single elements a script of reads and pauses is followed to the letter.
            batch_size=1 if self._script else BATCH_SIZE,
        )
        asyncio.run_coroutine_threadsafe(side.set_alarms(), side.loop).result()
        return partition

    def _consume(self, partition: Partition) -> Iterator[pa.RecordBatch]:
        for step in self._steps():
            if self._side.ending is not None:
                return
            if step.does == "pause":
                self._pause(step.n)
            elif step.does == "leave":
                self._side.note_end("left")
            elif (batch := self._pull(partition, step)) is not None:
                yield batch

    def _steps(self) -> Iterator[SinkStep]:
        for step in self._script:
            yield from [step] * (step.n if step.does == "read" else 1)
        while True:
            yield SinkStep("read", 1)

    def _pause(self, ms: int) -> None:
        """Pass the time on the loop's clock, as everything that takes time has to."""
        try:
            asyncio.run_coroutine_threadsafe(asyncio.sleep(ms / 1000), self._side.loop).result()
        except CancelledError:
            assert self._side.ending is not None

    def _pull(self, partition: Partition, step: SinkStep) -> pa.RecordBatch | None:
        side = self._side
        gives_up = step.does == "give_up"
        self._events.append(SinkWaits(self._now()))
        if gives_up:
            side.give_up_after(step.n)
        try:
            batch = next(partition)
        except StopIteration:
            side.ending = side.ending or Ending("finished", self._now())
        except CancelledError:
            if side.ending is None:
                self._events.append(SinkGaveUp(self._now()))
        except Exception as error:
            self._fail(error)
        else:
            if side.ending is None:
                self._take(batch)
                return batch
        finally:
            if gives_up:
                side.go_on()
        return None

    def _take(self, batch: pa.RecordBatch) -> None:
        now = self._now()
        self._events.extend(SinkTook(now, element) for element in self._rows.decode(batch))

    def _fail(self, error: BaseException) -> None:
        side = self._side
        if side.ending is None:
            self.failure = error
            side.ending = describe_failure(error, self._now(), side.recorder.raised)

    def _again(self, partition: Partition, when: set[str]) -> str:
        """Return what one more read gives; nothing where the leg ended otherwise than `when`."""
        assert self._side.ending is not None
        if self._side.ending.how not in when:
            return ""
        try:
            batch = next(partition)
        except StopIteration:
            return "stop"
        except Exception as error:
            return "same" if error is self.failure else f"raised {type(error).__name__}"
        return f"gave {next(iter(self._rows.decode(batch)))}"

    def _leg(self) -> Leg:
        side, plan = self._side, self._plan
        return Leg(
            ending=side.ending or Ending("error", detail="the leg ended without an ending"),
            events=tuple(self._events),
            first_index=plan.first_index,
            restored=plan.restored,
            mode=plan.config.mode,
            capacity=plan.config.capacity,
            tasks_left=side.tasks_left,
            timers_left=side.timers_left,
            late_by=side.recorder.late_by,
        )

    def _now(self) -> float:
        return self._side.recorder.now()
