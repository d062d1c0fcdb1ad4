"""Spark jobs that play legs: one element is one row, one leg is one partition."""

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pyarrow as pa
from msgspec.structs import replace
from py4j.protocol import Py4JError
from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from asyncwait.backends.spark._rows import ELEMENT_SCHEMA, ElementRows
from asyncwait.backends.spark._session import EmbeddedSpark
from asyncwait.backends.spark.conformance._task import (
    LEG_SECONDS,
    OUTPUT_SCHEMA,
    Assignment,
    LegReport,
    read_reports,
    run_task,
)
from asyncwait.backends.spark.frame._task import Enrichment
from asyncwait.spec import Element
from asyncwait.spec.scenario import Ending, Leg, LegStart, SinkTook

INPUT_SCHEMA = pa.schema(
    [
        pa.field("scenario", pa.int32()),
        pa.field("index", pa.int32()),
        pa.field("place", pa.int32()),
        *ELEMENT_SCHEMA,
    ]
)
_ROWS_PER_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
_DIED = "Python worker exited unexpectedly"


def play_legs(
    spark: EmbeddedSpark,
    plans: Sequence[LegStart],
    *,
    real: bool = False,
    patience: float = LEG_SECONDS,
    works: Sequence[Enrichment] | None = None,
) -> tuple[LegReport, ...]:
    """Play all legs in one job, and return a report of each.

    Args:
        spark: the embedded session.
        plans: of the legs.
        real: on the real clock.
        patience: seconds of the real clock for one leg.
        works: the work of `ordered_wait` in each partition; None if rows are elements.
    """
    context = spark.session.sparkContext
    if real:
        # Each row is a batch, so that input remains to read while calls run.
        spark.session.conf.set(_ROWS_PER_BATCH, 1)
    error, rows = "", None
    broadcast = context.broadcast([msgspec.msgpack.encode(plan) for plan in plans])
    planned = (
        None if works is None else context.broadcast([cloudpickle.dumps(work) for work in works])
    )
    # Where a job fails, its other tasks may go on for a moment.
    side_files = tempfile.TemporaryDirectory(prefix="asyncwait-", ignore_cleanup_errors=True)
    with side_files as folder:
        job = Assignment(broadcast, folder, real, patience, planned)
        frame = _placed(spark.session, plans)
        try:
            rows = frame.mapInArrow(lambda b: run_task(b, job), ddl(OUTPUT_SCHEMA)).toArrow()
        except (PySparkException, Py4JError) as raised:
            error = str(raised)
        finally:
            broadcast.destroy()
            if planned is not None:
                planned.destroy()
            spark.session.conf.unset(_ROWS_PER_BATCH)
        reports = read_reports(Path(folder))
    if rows is not None:
        reports = _confirmed(reports, rows)
    missing = LegReport(Leg(Ending("error", detail=f"the job ended before: {_brief(error)}")), 0)
    return tuple(reports.get(n, missing) for n in range(len(plans)))


def _placed(session: SparkSession, plans: Sequence[LegStart]) -> DataFrame:
    """Return the elements of all plans as rows, each plan's in a partition of its own, in order."""
    placed = [
        (number, index, place, timed.element)
        for number, plan in enumerate(plans)
        for index, (timed, place) in enumerate(zip(plan.inputs, _places(plan), strict=True))
    ]
    if placed:
        *numbers, elements = zip(*placed, strict=True)
        columns = ElementRows().encode(elements).columns
        arrays = [*(pa.array(column, pa.int32()) for column in numbers), *columns]
        frame = session.createDataFrame(pa.Table.from_arrays(arrays, schema=INPUT_SCHEMA))
    else:
        # A local table without rows would be optimised away, and its partitions with it.
        nothing = session.sparkContext.emptyRDD()
        frame = session.createDataFrame(nothing, ddl(INPUT_SCHEMA))
    return frame.repartitionById(len(plans), "scenario").sortWithinPartitions("index")


def _places(plan: LegStart) -> list[int]:
    """Return a number for each input, equal for equal keys: a column has keys of one type."""
    keys = [getattr(timed.element, "key", None) for timed in plan.inputs]
    return [keys.index(key) for key in keys]


def frame_of(session: SparkSession, names: Sequence[str], *, streams: bool = False) -> DataFrame:
    """Return a DataFrame, or a stream, of columns that legs have in common; only for plans.

    With other columns in it, each plan would select these anew, which costs 20 ms.
    """
    fields = [INPUT_SCHEMA.field(name) for name in names]
    nulls = [f"CAST(NULL AS {_KINDS[field.type]}) AS `{field.name}`" for field in fields]
    source = session.readStream.format("rate").load() if streams else session.range(0)
    return source.selectExpr(*nulls)


def _confirmed(reports: dict[int, LegReport], rows: pa.Table) -> dict[int, LegReport]:
    arrived: dict[int, list[Element]] = defaultdict(list)
    for batch in rows.to_batches():
        numbers = batch.column("scenario").to_pylist()
        for number, element in zip(numbers, ElementRows().decode(batch), strict=True):
            arrived[number].append(element)
    return {number: _confirm(report, arrived[number]) for number, report in reports.items()}


def _confirm(report: LegReport, arrived: list[Element]) -> LegReport:
    taken = [event.element for event in report.leg.events if isinstance(event, SinkTook)]
    if taken == arrived or report.leg.ending.how == "error":
        return report
    detail = f"the trace says that {taken} came out, the driver got {arrived}"
    return replace(report, leg=replace(report.leg, ending=Ending("error", detail=detail)))


def _brief(error: str) -> str:
    return _DIED if _DIED in error else error.strip().splitlines()[-1] if error.strip() else "?"


_KINDS = {pa.int32(): "int", pa.int64(): "long", pa.string(): "string", pa.binary(): "binary"}


def ddl(schema: pa.Schema) -> str:
    return ", ".join(f"`{field.name}` {_KINDS[field.type]}" for field in schema)
