"""Plays one leg on the partition operator, in the worker, and writes down what happens there."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from typing import Any

import pyarrow as pa

from asyncwait.backends.spark._partition import BATCH_SIZE, Partition
from asyncwait.backends.spark._reader import InMemorySource, PartitionSource, ThreadedSource
from asyncwait.backends.spark._rows import ElementRows, RowCodec
from asyncwait.conformance.harness import (
    PATIENCE,
    LegPlan,
    OutsideVirtualLoop,
    PlannedSourceError,
    Recorder,
    describe_failure,
    planned_function,
)
from asyncwait.spec import Element
from asyncwait.spec.scenario import (
    Ending,
    Left,
    Leg,
    SinkGaveUp,
    SinkLeft,
    SinkStep,
    SinkTook,
    SinkWaits,
    SourceAsked,
    SourceClosed,
    SourceEnded,
    Taken,
)

GRID = 40
"""Milliseconds between two instants of a scenario that is played on the real clock."""


class PartitionPlayer:
    """One leg while it is played.

    Virtual and real legs differ in two parameters of the operator: the loop and the reader.

    Args:
        plan: of the leg.
        real: played on the real clock, with rows read while calls run.
    """

    def __init__(self, plan: LegPlan, *, real: bool) -> None:
        scenario = plan.scenario
        self._plan = plan
        self._real = real
        self._loop = asyncio.new_event_loop() if real else OutsideVirtualLoop(self._on_submit)
        self._recorder = Recorder(scenario, self._loop.time, grid=GRID if real else None)
        self._source_error = PlannedSourceError("planned") if scenario.source_error else None
        self._rows = ElementRows()
        self._script = scenario.sink if plan.number == 0 else ()
        self._alarms: list[asyncio.TimerHandle] = []
        self._spawned: set[asyncio.Task[Any]] = set()
        self._ending: Ending | None = None
        self._failure: BaseException | None = None
        self._closing = False
        self._left = (0, 0)
        self.leg: Leg | None = None

    def play(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Play the leg on `batches`, and hand on what comes out; afterwards `leg` is there."""
        threads = set(threading.enumerate())
        try:
            partition = self._open(batches)
        except Exception as error:
            self._ending = self._ending or describe_failure(error, self._recorder.now())
            return
        try:
            yield from self._consume(partition)
            again = self._again(partition)
        finally:
            self._closing = True
            partition.close()
            self._recorder.events.append(Left(self._recorder.now()))
        tasks, timers = self._left
        ending = self._ending
        assert ending is not None
        after = self._again(partition)
        if ending.how in {"finished", "failed"}

    def _open(self, batches: Iterator[pa.RecordBatch]) -> Partition:
        fn = planned_function(self._plan.scenario, self._recorder, self._spawn)
        partition = Partition(
            batches,
            self._plan.config,
            fn,
            self._rows,
            restore=self._plan.restored,
            loop_factory=lambda: self._loop,
            reader=self._read,
            batch_size=1 if self._script else BATCH_SIZE,
        )
        self._loop.call_soon_threadsafe(self._set_alarms)
        return partition
