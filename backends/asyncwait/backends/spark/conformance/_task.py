"""The work of a Spark task: it plays the leg of its partition, and writes the trace to a file."""

import faulthandler
import gc
import os
import pickle
import time
import traceback
from collections.abc import Iterator
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from msgspec import Struct

from asyncwait.backends.spark._partition import exhaust
from asyncwait.backends.spark._rows import ELEMENT_SCHEMA, ElementRows
from asyncwait.backends.spark.conformance._paths import ElementPath, FramePath
from asyncwait.backends.spark.conformance._player import PartitionPlayer
from asyncwait.spec import Record
from asyncwait.spec.scenario import Ending, Leg, LegStart

LEG_SECONDS = 30.0
"""Seconds of the real clock for one leg."""

_NAP, _PUNCTUAL_NAPS, _MOST_NAPS = 0.002, 8, 150
_UNFINISHED = ".part"

OUTPUT_SCHEMA = pa.schema([pa.field("scenario", pa.int32(), nullable=False), *ELEMENT_SCHEMA])
"""The rows of a task: elements, and the number of the partition that they come from."""


class LegReport(Struct, frozen=True):
    """The report of a task."""

    leg: Leg
    pid: int


class Assignment(Struct, frozen=True):
    """The assignment of all tasks of a job.

    Args:
        plans: a broadcast of plans as bytes, one for each partition.
        real: the legs are played on the real clock.
        patience: seconds of the real clock for one leg; then its worker prints its stacks and dies.
        works: a broadcast of the work of `ordered_wait` in each partition; None if rows are
            elements.
    """

    plans: Any
    folder: str
    real: bool = False
    patience: float = LEG_SECONDS
    works: Any = None


def run_task(batches: Iterator[pa.RecordBatch], job: Assignment) -> Iterator[pa.RecordBatch]:
    """Play the leg of this partition on `batches`; return its output."""
    from pyspark import TaskContext

    _freeze()
    context = TaskContext.get()
    number = context.partitionId()
    leg: Leg | None = None
    faulthandler.dump_traceback_later(job.patience, exit=True)
    try:
        plan = msgspec.msgpack.decode(job.plans.value[number], type=LegStart)
        if job.real:
            # The clock of a leg begins when its input has come.
            batches = chain([*islice(batches, 1)], batches)
            _await_quiet()
        path = ElementPath()
        if job.works is not None:  # of this job, as the function itself is
            path = FramePath(pickle.loads(job.works.value[number]))  # noqa: S301 - see above
        player = PartitionPlayer(plan, path, real=job.real)
        for batch in player.play(batches):
            yield _numbered(batch, number)
        leg = player.leg
    except Exception:
        leg = Leg(Ending("error", detail=traceback.format_exc()))
        exhaust(batches)
    finally:
        faulthandler.cancel_dump_traceback_later()
    assert leg is not None
    report = msgspec.msgpack.encode(LegReport(leg, os.getpid()))
    file_report(report, Path(job.folder), f"{number}.{context.taskAttemptId()}")


def file_report(report: bytes, folder: Path, name: str) -> None:
    """Write a report, whole or not at all: the end of its job may kill the worker meanwhile."""
    (folder / f"{name}{_UNFINISHED}").write_bytes(report)
    (folder / f"{name}{_UNFINISHED}").rename(folder / name)


def read_reports(folder: Path) -> dict[int, LegReport]:
    """Return the reports of a job by partition.

    Raises:
        ValueError: a partition was played more than once.
    """
    reports: dict[int, LegReport] = {}
    for file in folder.iterdir():
        if file.suffix == _UNFINISHED:
            continue
        number = int(file.name.partition(".")[0])
        if number in reports:
            raise ValueError(f"partition {number} was played by two tasks")
        reports[number] = msgspec.msgpack.decode(file.read_bytes(), type=LegReport)
    return reports


def _await_quiet() -> None:
    """Sleep until this process wakes on time, because the start of a task is busy."""
    punctual = 0
    for _ in range(_MOST_NAPS):
        before = time.monotonic()
        time.sleep(_NAP)
        punctual = punctual + 1 if time.monotonic() - before < 2 * _NAP else 0
        if punctual == _PUNCTUAL_NAPS:
            return


def _numbered(batch: pa.RecordBatch, number: int) -> pa.RecordBatch:
    numbers = pa.array([number] * batch.num_rows, pa.int32())
    return pa.RecordBatch.from_arrays([numbers, *batch.columns], schema=OUTPUT_SCHEMA)


@cache
def _freeze() -> None:
    """Exclude the imported modules from the collection that PySpark's workers make after each task.

    The first array imports pandas: this happens before a leg begins, not during one.
    """
    rows = ElementRows()
    list(rows.decode(rows.encode([Record(0)])))
    gc.collect()
    gc.freeze()
