"""Spark jobs that play legs: one element is one row, one leg is one partition and one task."""

import faulthandler
import gc
import pickle
import tempfile
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from msgspec.structs import replace
from py4j.protocol import Py4JError
from pyspark import TaskContext, cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from asyncwait.backends.spark._partition import exhaust
from asyncwait.backends.spark._rows import ELEMENT_SCHEMA, ElementRows
from asyncwait.backends.spark._session import EmbeddedSpark
from asyncwait.backends.spark.conformance._player import ElementPath, PartitionPlayer
from asyncwait.spec import Element, Record
from asyncwait.spec.scenario import Ending, Leg, LegStart, SinkTook

LEG_SECONDS = 30.0
"""Seconds of the real clock for one leg."""

_UNFINISHED = ".part"

OUTPUT_SCHEMA = pa.schema([pa.field("scenario", pa.int32(), nullable=False), *ELEMENT_SCHEMA])
"""The rows of a task: elements, and the number of the partition that they come from."""


def run_task(
    batches: Iterator[pa.RecordBatch], tasks: Any, folder: str, patience: float
) -> Iterator[pa.RecordBatch]:
    """Play the leg of this partition on `batches`; return its output.

    Args:
        batches: its rows.
        tasks: a broadcast with the plan and the path of each partition, as bytes.
        folder: of the recorded legs.
        patience: seconds of the real clock for one leg; then its worker prints its stacks and dies.
    """
    _freeze()
    context = TaskContext.get()
    number = context.partitionId()
    leg: Leg | None = None
    faulthandler.dump_traceback_later(patience, exit=True)
    try:
        encoded, path = pickle.loads(tasks.value[number])  # noqa: S301 - of this job
        player = PartitionPlayer(msgspec.msgpack.decode(encoded, type=LegStart), path)
        for batch in player.play(batches):
            yield _numbered(batch, number)
        leg = player.leg
    except Exception:
        leg = Leg(Ending("error", detail=traceback.format_exc()))
        exhaust(batches)
    finally:
        faulthandler.cancel_dump_traceback_later()
    assert leg is not None
    file_leg(leg, Path(folder), f"{number}.{context.taskAttemptId()}")


def file_leg(leg: Leg, folder: Path, name: str) -> None:
    """Write a leg, whole or not at all: the end of its job may kill the worker meanwhile."""
    (folder / f"{name}{_UNFINISHED}").write_bytes(msgspec.msgpack.encode(leg))
    (folder / f"{name}{_UNFINISHED}").rename(folder / name)


def read_legs(folder: Path) -> dict[int, Leg]:
    """Return the legs of a job by partition.

    Raises:
        ValueError: a partition was played more than once.
    """
    legs: dict[int, Leg] = {}
    for file in folder.iterdir():
        if file.suffix == _UNFINISHED:
            continue
        number = int(file.name.partition(".")[0])
        if number in legs:
            raise ValueError(f"partition {number} was played by two tasks")
        legs[number] = msgspec.msgpack.decode(file.read_bytes(), type=Leg)
    return legs


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


INPUT_SCHEMA = pa.schema(
    [
        pa.field("scenario", pa.int32()),
        pa.field("index", pa.int32()),
        pa.field("place", pa.int32()),
        *ELEMENT_SCHEMA,
    ]
)
_DIED = "Python worker exited unexpectedly"


def play_legs(
    spark: EmbeddedSpark,
    plans: Sequence[LegStart],
    *,
    patience: float = LEG_SECONDS,
    paths: Sequence[ElementPath] | None = None,
) -> tuple[Leg, ...]:
    """Play all legs in one job, and return what was recorded of each.

    Args:
        spark: the embedded session.
        plans: of the legs.
        patience: seconds of the real clock for one leg.
        paths: between the rows and the elements of each; None if rows are elements.
    """
    error, rows = "", None
    encoded = map(msgspec.msgpack.encode, plans)
    given = zip(encoded, paths or [ElementPath()] * len(plans), strict=True)
    tasks = spark.session.sparkContext.broadcast([*map(cloudpickle.dumps, given)])
    # Where a job fails, its other tasks may go on for a moment.
    side_files = tempfile.TemporaryDirectory(prefix="asyncwait-", ignore_cleanup_errors=True)
    with side_files as folder:
        frame = _placed(spark.session, plans).mapInArrow(
            lambda batches: run_task(batches, tasks, folder, patience), ddl(OUTPUT_SCHEMA)
        )
        try:
            rows = frame.toArrow()
        except (PySparkException, Py4JError) as raised:
            error = str(raised)
        finally:
            tasks.destroy()
        legs = read_legs(Path(folder))
    if rows is not None:
        arrived = by_leg(rows.to_batches(), ElementRows().decode)
        legs = {number: _confirm(leg, arrived[number]) for number, leg in legs.items()}
    missing = Leg(Ending("error", detail=f"the job ended before: {_brief(error)}"))
    return tuple(legs.get(n, missing) for n in range(len(plans)))


def _placed(session: SparkSession, plans: Sequence[LegStart]) -> DataFrame:
    """Return the elements of all plans as rows, each plan's in a partition of its own, in order."""
    placed = [
        (number, index, place, timed.element)
        for number, plan in enumerate(plans)
        for index, (timed, place) in enumerate(
            zip(plan.inputs, places([timed.element for timed in plan.inputs]), strict=True)
        )
    ]
    if placed:
        frame = session.createDataFrame(pa.Table.from_batches([input_rows(placed)]))
    else:
        # A local table without rows would be optimised away, and its partitions with it.
        nothing = session.sparkContext.emptyRDD()
        frame = session.createDataFrame(nothing, ddl(INPUT_SCHEMA))
    return frame.repartitionById(len(plans), "scenario").sortWithinPartitions("index")


def places(elements: Sequence[Element]) -> list[int]:
    """Return a number for each element, equal for equal keys: a column has keys of one type."""
    keys = [getattr(element, "key", None) for element in elements]
    return [keys.index(key) for key in keys]


def input_rows(
    placed: Sequence[tuple[int, int, int, Element]], schema: pa.Schema = INPUT_SCHEMA
) -> pa.RecordBatch:
    """Return elements as rows, each behind the numbers of its leg, its input and its key."""
    *numbers, elements = zip(*placed, strict=True)
    encoded = ElementRows().encode(elements).columns
    columns = dict(zip(INPUT_SCHEMA.names, [*numbers, *encoded], strict=True))
    arrays = [pa.array(columns[field.name], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def frame_of(session: SparkSession, names: Sequence[str], *, streams: bool = False) -> DataFrame:
    """Return a DataFrame, or a stream, of columns that legs have in common; only for plans.

    With other columns in it, each plan would select these anew, which costs 20 ms.
    """
    fields = [INPUT_SCHEMA.field(name) for name in names]
    nulls = [f"CAST(NULL AS {_KINDS[field.type]}) AS `{field.name}`" for field in fields]
    source = session.readStream.format("rate").load() if streams else session.range(0)
    return source.selectExpr(*nulls)


def by_leg(
    batches: Iterable[pa.RecordBatch], decode: Callable[[pa.RecordBatch], Iterable[Element]]
) -> Mapping[int, list[Element]]:
    """Return the elements of an output by the number of their leg."""
    came: dict[int, list[Element]] = defaultdict(list)
    for batch in batches:
        numbers = batch.column("scenario").to_pylist()
        for number, element in zip(numbers, decode(batch), strict=True):
            came[number].append(element)
    return came


def _confirm(leg: Leg, arrived: list[Element]) -> Leg:
    taken = [event.element for event in leg.events if isinstance(event, SinkTook)]
    if taken == arrived or leg.ending.how == "error":
        return leg
    detail = f"the trace says that {taken} came out, the driver got {arrived}"
    return replace(leg, ending=Ending("error", detail=detail))


def _brief(error: str) -> str:
    return _DIED if _DIED in error else error.strip().splitlines()[-1] if error.strip() else "?"


_KINDS = {pa.int32(): "int", pa.int64(): "long", pa.string(): "string", pa.binary(): "binary"}


def ddl(schema: pa.Schema) -> str:
    return ", ".join(f"`{field.name}` {_KINDS[field.type]}" for field in schema)
