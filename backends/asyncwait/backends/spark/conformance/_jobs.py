"""Spark jobs that play legs: one element is one row, one leg is one partition."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pyarrow as pa
from msgspec import Struct
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from asyncwait.backends.spark._rows import ELEMENT_SCHEMA, ElementRows
from asyncwait.backends.spark._session import EmbeddedSpark, pandas_notice_ignored
from asyncwait.backends.spark.conformance._task import (
    OUTPUT_SCHEMA,
    Assignment,
    LegReport,
    read_reports,
    run_task,
)
from asyncwait.conformance.harness import LegPlan
from asyncwait.spec.scenario import Ending, Leg, SinkTook

_INPUT_SCHEMA = pa.schema(
    [
        pa.field("scenario", pa.int32(), nullable=False),
        pa.field("index", pa.int32(), nullable=False),
        *ELEMENT_SCHEMA,
    ]
)


class JobResult(Struct, frozen=True):
    """What came of a job.

    Args:
        reports: one for each plan.
        error: what the driver got in place of the rows; empty for nothing.
    """

    reports: tuple[LegReport, ...]
    error: str = ""


def play_legs(
    spark: EmbeddedSpark, plans: Sequence[LegPlan], *, real: bool = False, raises: bool = False
) -> JobResult:
    """Play all legs in one job.

    Args:
        spark: where.
        plans: of the legs.
        real: on the real clock.
        raises: a failing leg fails its task, and with it the job.
    """
    context = spark.session.sparkContext
    broadcast = context.broadcast([msgspec.msgpack.encode(plan) for plan in plans])
    error, rows = "", None
    with tempfile.TemporaryDirectory(prefix="asyncwait-") as folder:
        job = Assignment(broadcast, folder, real, raises)
        with pandas_notice_ignored():
            frame = _input(spark.session, plans).mapInArrow(
                lambda batches: run_task(batches, job), _ddl(OUTPUT_SCHEMA)
            )
            try:
                rows = frame.toArrow()
            except PySparkException as raised:
                error = str(raised)
        reports = read_reports(Path(folder))
    broadcast.destroy()
    ...


def _input(session: SparkSession, plans: Sequence[LegPlan]) -> DataFrame:
    """Return the elements of all plans as rows, each plan's in a partition of its own, in order."""
    placed = [
        (number, index, timed.element)
        for number, plan in enumerate(plans)
        for index, timed in enumerate(plan.inputs)
    ]
    if placed:
        numbers, indices, elements = zip(*placed, strict=True)
        batch = ElementRows().encode(elements)
        arrays = [pa.array(numbers, pa.int32()), pa.array(indices, pa.int32()), *batch.columns]
        frame = session.createDataFrame(pa.Table.from_arrays(arrays, schema=_INPUT_SCHEMA))
    else:
        # A local table without rows would be optimised away, and its partitions with it.
        nothing = session.sparkContext.emptyRDD()
        frame = session.createDataFrame(nothing, _ddl(_INPUT_SCHEMA))
    return frame.repartitionById(len(plans), "scenario").sortWithinPartitions("index")


def _ddl(schema: pa.Schema) -> str:
    names = {pa.int32(): "int", pa.int64(): "long", pa.string(): "string", pa.binary(): "binary"}
    return ", ".join(f"`{field.name}` {names[field.type]}" for field in schema)
