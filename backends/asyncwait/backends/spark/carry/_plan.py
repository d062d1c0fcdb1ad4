"""The work of the driver: lanes, a shuffle by them, and the visits behind it."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from msgspec.structs import replace
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import types as sql
from pyspark.sql.functions import col, lit
from pyspark.sql.functions import hash as hashed
from pyspark.sql.functions import max as highest
from pyspark.sql.streaming import StreamingQueryListener

from asyncwait.backends.journal import version_of
from asyncwait.backends.spark.carry._carry import Carry
from asyncwait.backends.spark.carry._drain import DRAINING
from asyncwait.backends.spark.carry._host import CarryWork
from asyncwait.backends.spark.carry._processor import OPT_IN, CarryProcessor, digest, in_short
from asyncwait.backends.spark.carry._records import (
    FIGURES,
    PACKED,
    PARTITIONS,
    TRIGGER,
    VISITED,
    Packing,
    Unpacking,
    lane_names,
    zoned,
)
from asyncwait.backends.spark.carry._restoring import restored
from asyncwait.backends.spark.frame._columns import arrow_schema, columns_text
from asyncwait.backends.spark.frame._limits import Kept
from asyncwait.backends.spark.frame._plan import FramePlan, mapped, names_of, pickled, quoted
from asyncwait.spec import InvalidConfig
from asyncwait.spec.carry import Terms
from asyncwait.spec.texts import one_line

_version_of = partial(version_of, asker="carry", way_out="Carry(version=...)")

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

_WATERMARK = "spark.watermarkDelayMs"
"""Key by which Spark marks the column of a watermark."""

_MOST_BYTES = 1_000_000
"""Largest size of the work: PySpark broadcasts larger ones, which fails in a stateful operator."""


class CarryPlan(FramePlan):
    """The plan of a carried operator: its columns and its lanes.

    Args:
        ceiling: largest number of concurrent calls on one machine; None for the sum of the lanes.

    Raises:
        InvalidConfig: the DataFrame is no stream, or the session or an argument does not fit.
    """

    def __init__(self, *args: Any, carry: Carry, ceiling: int | None, **asked: Any) -> None:
        super().__init__(*args, **asked)
        df = self.input()
        _require_stream(df)
        self._carry = carry
        self._names = df.columns
        self._lanes = _lanes(carry, df.sparkSession)
        self._travelling = zoned(arrow_schema(df.schema, "columns"), self.work.zone)
        self.job = self._work_of(ceiling)
        """The work of visits and call hosts."""

    def frame(self) -> DataFrame:
        """Return the output.

        Raises:
            InvalidConfig: PySpark would send the work in a way that stateful operators do not
                support, or the records to restore do not fit.
        """
        key, time = self._places(self._key()), self._time()
        names = *self._names, "lane"
        packing = Packing(self._travelling, self._carry.lanes, key, names, time)
        df, job = self.input(), pickled(self.job, self.name)
        if len(job) > _MOST_BYTES:
            raise InvalidConfig(
                f"fn {self.name} and what it uses travel as {len(job):,} bytes, and with carry "
                f"there may be {_MOST_BYTES:,}; read what is large in `open()`, which runs there"
            )
        numbered = df.select(*(col(quoted(name)) for name in self._names), self._lane_of(df))
        packed = mapped(numbered, packing, self.name, sql.StructType.fromDDL(PACKED))
        visited = packed.groupBy("lane").transformWithState(
            CarryProcessor(job), VISITED, "Append", "ProcessingTime", self._restored(packing)
        )
        # Spark refuses a query with two operators whose figures have one name: they would share a
        # call host, where each ends the calls of the other.
        unnamed = f"operator without Carry(name=...): {digest(self.job.operator)[:8]}"
        figures = [highest(f"figures.{name}").alias(name) for name in FIGURES]
        visited = visited.observe(f"asyncwait {self._carry.name or unnamed}", *figures)
        _watch_triggers(df.sparkSession)
        out = sql.StructType([_unmarked(field) for field in self.output])
        return mapped(visited, Unpacking(self.job.outcomes), self.name, out)

    def _restored(self, packing: Packing) -> Any:
        """Return the lanes of the restored records; None without any.

        Each lane is one row, so that no shuffle reorders its records.
        """
        if self._carry.restore is None:
            return None
        rows = restored(self._carry.restore, self._travelling)
        if not rows.num_rows:
            return None
        df = self.input()
        table = df.sparkSession.createDataFrame(pa.Table.from_batches([rows]), df.schema)
        hashes = [row.lane for row in table.select(self._lane_of(table)).collect()]
        numbered = rows.append_column("lane", pa.array(hashes, pa.int32()))
        names = lane_names(int(df.sparkSession.conf.get(PARTITIONS)), self._carry.lanes)
        packed = packing.packed(numbered, names)
        return df.sparkSession.createDataFrame(pa.Table.from_batches([packed])).groupBy("lane")

    def _key(self) -> Sequence[str]:
        return self.work.shape.key if self.work.options.mode == "key-ordered" else ()

    def _time(self) -> int | None:
        given = self._carry.event_time
        if given is None:
            return None
        (name,) = self._travels_as("event_time", given)
        if not pa.types.is_timestamp(self._travelling.field(name).type):
            raise InvalidConfig.of("event_time", given, "a column of timestamps")
        return self._places([name])[0]

    def _places(self, names: Iterable[str]) -> list[int]:
        return [self._names.index(name) for name in names]

    def _travels_as(self, what: str, given: Any) -> tuple[str, ...]:
        asked = [given] if isinstance(given, str) else given
        return names_of(what, asked, self._names, "what is given, kept, or a key", fold=self.fold)

    def _lane_of(self, df: DataFrame) -> Column:
        """Return the hash of each row, which determines its lane, as `lane`.

        A column of the input may have that name, too.
        """
        columns = self._lane_columns(df)
        # If no column can be hashed, all rows share one lane.
        lane = hashed(*(col(quoted(each)) for each in columns)) if columns else lit(0)
        return lane.alias("lane")

    def _lane_columns(self, df: DataFrame) -> Sequence[str]:
        by, fields = self._carry.lane_by, df.schema.fields
        if by is not None:
            columns = self._travels_as("lane_by", by)
            if self._key() and not {*columns} <= {*self._key()}:
                expected = (
                    f"of the key, {one_line(', '.join(self._key()))}: its rows are to share a lane"
                )
                raise InvalidConfig.of("lane_by", by, expected)
            return columns
        return self._key() or [f.name for f in fields if not _has_map(f.dataType)]

    def _work_of(self, ceiling: int | None) -> CarryWork:
        carry, options = self._carry, self.work.options
        order = () if carry.order_by is None else carry.order_by
        ordered = self._travels_as("order_by", order)
        if not ordered and options.mode != "unordered":
            expected = (
                f"columns by which the rows of a micro-batch are ordered, in {options.mode} mode"
            )
            raise InvalidConfig.of("order_by", carry.order_by, expected)
        for name in ordered:
            if pa.types.is_nested(self._travelling.field(name).type):
                raise InvalidConfig.of("order_by", name, "a column of plain values")
        calls = ceiling or self._lanes * options.capacity
        batch = options.batch
        if batch is not None:
            # A host does not know whether other visits come, so no visit waits for a full batch.
            batch = replace(batch, max_wait=min(batch.max_wait, max(carry.budget, 0.001)))
        told = replace(options, capacity=calls, batch=batch)
        task = replace(self.work, options=told)
        shape = task.shape
        plainly = arrow_schema(self.input().schema, "columns")
        columns = [
            columns_text(plainly, nulls=False),
            columns_text(task.written.results, nulls=True),
        ]
        given = shape.spelled or shape.given
        skew = None if carry.skew is None else round(carry.skew * 1_000)
        terms = Terms(self._version(), options.mode, options.capacity, carry.budget, skew)
        return CarryWork(
            task,
            self._travelling,
            self._places(ordered),
            terms,
            max(1, round(carry.pause * 1_000)),
            carry.lease,
            " -> ".join(columns),
            repr((carry.name, given, shape.carried, options.mode, columns)),
            {name: in_short(text) for name, text in self._about(ceiling).items()},
            carry.lanes,
            carry.patience,
        )

    def _version(self) -> str:
        return _version_of(self.fn) if self._carry.version is None else self._carry.version

    def _about(self, ceiling: int | None) -> dict[str, str]:
        """Return in words, by setting, how another host must make the calls.

        The lease is not among the settings: a running host keeps the lease with which it began.
        """
        carry, options, shape = self._carry, self.work.options, self.work.shape
        about = {
            OPT_IN: carry.version or "",
            "fn": self._version(),
            "lane_by": repr(self._lane_columns(self.input())),
            "key": repr(self._key()),
            "columns": repr(shape.spelled or shape.given),
            "keep": repr(shape.carried),
            "name": carry.name,
            "time zone": self.work.zone,
            "retry": self._told_all(
                options.retry, on_error=Exception, on_result=None, on_retry=None
            ),
            "cache": self._told_all(options.cache, key=None),
            "on_error": f"{self._told(options.on_error)} {options.error_column}",
            "limits": self._told_limits(options.kept),
            "max_in_flight": repr(ceiling),
            "journal": "" if options.journal is None else options.journal.path,
        }
        names = ("mode", "timeout", "capacity", "many", "batch")
        return about | {name: repr(getattr(options, name)) for name in names}

    def _told_all(self, options: Any, **functions: Any) -> str:
        """Return options in words; functions are represented by plain text."""
        if options is None:
            return ""
        told = [self._told(getattr(options, name)) for name in functions]
        return repr((replace(options, **functions), told))

    def _told_limits(self, kept: Kept) -> str:
        """Return limits, and their keeper, in words that are equal in each process."""
        parts = (*kept.limits, kept.together)
        fields = [getattr(each, "__struct_fields__", ()) for each in parts]
        told = [
            (type(each).__name__, [self._told(getattr(each, n)) for n in names if n != "limits"])
            for each, names in zip(parts, fields, strict=True)
        ]
        return repr(told)

    def _told(self, given: Any) -> str:
        if isinstance(given, type | tuple) or not callable(given):
            return repr(given)
        if self._carry.version is None:
            return _version_of(given)
        return getattr(given, "__qualname__", type(given).__qualname__)


def _require_stream(df: DataFrame) -> None:
    if not df.isStreaming:
        raise InvalidConfig("carry is for streams, and df is not a stream: leave it out")
    provider = df.sparkSession.conf.get(PROVIDER, "")
    if "RocksDB" not in (provider or ""):
        raise InvalidConfig(f"carry needs the state store of RocksDB; set {PROVIDER} to {ROCKSDB}")


def _lanes(carry: Carry, session: Any) -> int:
    partitions = int(session.conf.get(PARTITIONS))
    if carry.lanes is None:
        return partitions
    if carry.lanes > partitions:
        expected = f"at most {partitions}, as many as {PARTITIONS} says"
        raise InvalidConfig.of("lanes", carry.lanes, expected)
    return carry.lanes


def _unmarked(field: sql.StructField) -> sql.StructField:
    """Return a column without the mark of a watermark, which does not pass the operator.

    With the mark Spark would accept a window behind the operator, and the window would never end.
    """
    marks = {name: mark for name, mark in field.metadata.items() if name != _WATERMARK}
    return sql.StructField(field.name, field.dataType, field.nullable, marks)


def _has_map(kind: Any) -> bool:
    match kind:
        case sql.MapType() | sql.VariantType():
            return True
        case sql.ArrayType():
            return _has_map(kind.elementType)
        case sql.StructType():
            return any(_has_map(field.dataType) for field in kind.fields)
    return False


_REFUSED = {"OneTimeTrigger": "once=True", "AvailableNowTrigger": "availableNow=True"}
"""Names of Spark's triggers that carried streams do not support."""


class _Triggers(StreamingQueryListener):  # type: ignore[misc]
    """A listener that shows tasks the trigger of their query, if carried streams refuse it."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    def onQueryStarted(self, event: Any) -> None:
        """Set the trigger before the first task begins: Spark waits for this method."""
        found = self._session._jsparkSession.streams().get(str(event.id))  # noqa: SLF001
        query = found and found.streamingQuery()
        name = query and _REFUSED.get(query.trigger().toString())
        if name and query.resolvedCheckpointRoot() not in DRAINING:
            query.sparkSessionForStream().conf().set(TRIGGER, name)

    def onQueryProgress(self, event: Any) -> None:
        """Do nothing."""

    def onQueryIdle(self, event: Any) -> None:
        """Do nothing."""

    def onQueryTerminated(self, event: Any) -> None:
        """Do nothing."""


def _watch_triggers(session: SparkSession) -> None:
    """Let the queries of a session refuse triggers that carried streams do not support."""
    is_remote = not hasattr(session, "_jsparkSession")
    if not is_remote and not hasattr(session, "_asyncwait_triggers"):
        listener = _Triggers(session)
        session.streams.addListener(listener)
        session._asyncwait_triggers = listener  # noqa: SLF001
