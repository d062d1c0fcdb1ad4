"""Rows as bytes, which travel in lanes, are stored, and are decoded unchanged."""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import count, repeat
from math import isnan, nan
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from pyspark import TaskContext

from asyncwait.backends.spark.frame._journal import ENCODER
from asyncwait.backends.spark.frame._task import micro_batch, telling
from asyncwait.backends.spark.frame._values import python_type
from asyncwait.spec.carry import Row

MOST_ROWS = 10_000
"""Largest number of rows in a batch of output."""


def zoned(columns: pa.Schema, zone: str) -> pa.Schema:
    """Return columns whose instants have a time zone, like the columns of a session."""
    return pa.schema([_zoned(field, zone) for field in columns])


def _zoned(field: pa.Field, zone: str) -> pa.Field:
    kind = field.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return field.with_type(pa.timestamp(kind.unit, tz=zone))
    if pa.types.is_struct(kind):
        inner = [_zoned(kind.field(place), zone) for place in range(kind.num_fields)]
        return field.with_type(pa.struct(inner))
    if pa.types.is_list(kind):
        return field.with_type(pa.list_(_zoned(kind.value_field, zone)))
    if pa.types.is_map(kind):
        key, item = _zoned(kind.key_field, zone), _zoned(kind.item_field, zone)
        return field.with_type(pa.map_(key.type, item))
    return field


@cache
def set_aside() -> None:
    """Exclude all present objects from garbage collection; once in a process.

    Rows are many objects: otherwise each micro-batch would traverse all modules several times.
    """
    gc.freeze()


class RowCodec(Struct, frozen=True, dict=True):
    """Rows of some columns, each as MessagePack; it travels."""

    columns: pa.Schema

    @cached_property
    def kind(self) -> Any:
        return _row_type(self.columns)

    @cached_property
    def _decode(self) -> Callable[[bytes], Any]:
        return msgspec.msgpack.Decoder(self.kind).decode

    def encode(self, batch: pa.RecordBatch) -> list[bytes]:
        """Return the rows of a batch, whose columns are in this order."""
        cells = [column.to_pylist() for column in batch.columns]
        return [*map(ENCODER.encode, zip(*cells, strict=True))]

    def decode(self, records: Iterable[bytes]) -> list[tuple[Any, ...]]:
        return [*map(self._decode, records)]

    def batch(self, rows: Sequence[Sequence[Any]]) -> pa.RecordBatch:
        return batch_of(rows, self.columns)


def batch_of(rows: Sequence[Sequence[Any]], columns: pa.Schema) -> pa.RecordBatch:
    """Return rows of some columns as a batch."""
    cells = zip(*rows, strict=True) if rows else [()] * len(columns)
    arrays = [pa.array(each, field.type) for each, field in zip(cells, columns, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=columns)


def _row_type(columns: Iterable[pa.Field]) -> Any:
    return tuple[tuple(python_type(field.type) | None for field in columns)]  # type: ignore[misc]


class OutcomeCodec(Struct, frozen=True, dict=True):
    """Outcomes of rows: the row itself, and its result rows; it travels.

    Args:
        kept: places of the columns that go out unchanged.
        results: the columns behind them.
    """

    rows: RowCodec
    kept: Sequence[int]
    results: pa.Schema

    @cached_property
    def _columns(self) -> pa.Schema:
        kept = [self.rows.columns.field(place) for place in self.kept]
        return pa.schema([*kept, *self.results])

    @cached_property
    def _decode(self) -> Callable[[bytes], Any]:
        kind: Any = tuple[self.rows.kind, list[_row_type(self.results)]]  # type: ignore[misc,name-defined]
        return msgspec.msgpack.Decoder(kind).decode

    @staticmethod
    def encode(record: bytes, results: Sequence[tuple[Any, ...]]) -> bytes:
        return ENCODER.encode((msgspec.Raw(record), results))

    def batches(self, outcomes: Iterable[bytes]) -> Iterator[pa.RecordBatch]:
        rows = [
            (*[record[place] for place in self.kept], *result)
            for record, results in map(self._decode, outcomes)
            for result in results
        ]
        for start in range(0, len(rows), MOST_ROWS):
            yield batch_of(rows[start : start + MOST_ROWS], self._columns)


def packed(rows: Iterable[Row]) -> bytes:
    return ENCODER.encode([(row.record, row.key, row.time) for row in rows])


def unpacked(data: bytes) -> Iterator[Row]:
    for record, key, time in _ROWS.decode(data):
        yield Row(record, key, time)


_ROWS = msgspec.msgpack.Decoder(list[tuple[bytes, bytes, int | None]])


unpacked_outcomes = msgspec.msgpack.Decoder(list[bytes]).decode


def key_bytes(cells: Sequence[Any]) -> bytes:
    """Return a key that is equal where Spark treats cells as equal: all NaN, and both zeros."""
    return ENCODER.encode([*map(_canonical, cells)])


def _canonical(cell: Any) -> Any:
    match cell:
        case float():
            return nan if isnan(cell) else cell + 0.0
        case list() | tuple():
            return [*map(_canonical, cell)]
        case dict():
            return {name: _canonical(each) for name, each in cell.items()}
    return cell


PACKED = "lane long, rows binary"
"""The columns of packed rows."""

FIGURES = ("in_flight", "oldest", "calls", "retries", "errors", "waiting_for_permits")
"""The figures of a call host: rows whose calls have begun and are not finished; seconds since the
first call of the oldest row; calls, retries and failed rows since the host began; rows that wait
for a permit of a limit.
"""

VISITED = f"rows binary, figures struct<{', '.join(f'{name}: double' for name in FIGURES)}>"
"""The output columns of a visit: rows, if any, and the figures of its host, if known."""

TRIGGER = "spark.asyncwait.trigger"
"""The setting of a query that names a trigger which carried calls do not support."""

PARTITIONS = "spark.sql.shuffle.partitions"

_STATE_PARTITIONS = "spark.sql.streaming.internal.stateStore.partitions"
"""The number of state partitions; Spark 4.3 and later set other shuffles separately."""


def partitions_here() -> int:
    """Return the number of state partitions of the present task's query.

    The checkpoint keeps this number, whatever the session's setting when the query starts again.
    """
    context = TaskContext.get()
    assert context is not None
    given = context.getLocalProperty(_STATE_PARTITIONS) or context.getLocalProperty(PARTITIONS)
    return int(given or 200)


@cache
def lane_names(partitions: int, lanes: int | None) -> tuple[int, ...]:
    """Return the numbers of the lanes, each in a shuffle partition of its own.

    Spark's hash may put lanes 0 and 1 into one partition, so the number of a partition's lane is
    the first number that the hash puts there.

    Args:
        partitions: the number of state partitions.
        lanes: the number of lanes; None for one lane in each partition.
    """
    first: dict[int, int] = {}
    numbers = count()
    while len(first) < partitions:
        number = next(numbers)
        first.setdefault(_spark_hash(number) % partitions, number)
    return tuple(first[each] for each in range(partitions))[:lanes]


def _spark_hash(number: int) -> int:
    """Return Spark's `hash` of a long >= 0: Murmur3 with the seed 42."""
    mixed = 42
    for word in (number & _WORD, number >> 32):
        scrambled = _rotated(word * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD
        mixed = (_rotated(mixed ^ scrambled, 13) * 5 + 0xE6546B64) & _WORD
    mixed ^= 8
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        mixed = (mixed ^ mixed >> shift) * factor & _WORD
    return mixed - (mixed >> 31 << 32)


_WORD = 0xFFFFFFFF


def _rotated(word: int, by: int) -> int:
    return (word << by | word >> 32 - by) & _WORD


_first: dict[str, str] = {}
"""The first micro-batch at which this process was at work, by run."""


def is_first() -> bool:
    """Whether no earlier micro-batch of its run was at work in this process."""
    context = TaskContext.get()
    run = context and context.getLocalProperty("spark.jobGroup.id")
    batch = micro_batch()
    return _first.setdefault(run or "", batch) == batch


class Packing(Struct, frozen=True):
    """Packs the rows of a partition by their lanes, whose hash is in their last column.

    The first rows of a run are packed for every lane, some of which get none: so each lane is
    visited, and refuses an incompatible state, before a lane stores rows that another lane refuses.

    Args:
        lanes: the number of lanes; None for as many as state partitions.
        key: places of the columns that order rows, in key-ordered mode.
        names: not None if the columns of the batches have other names.
        time: place of the column of event times, if there is one.
    """

    travelling: pa.Schema
    lanes: int | None = None
    key: Sequence[int] = ()
    names: tuple[str, ...] | None = None
    time: int | None = None

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return telling(self._run(batches))

    def _run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        names = lane_names(partitions_here(), self.lanes)
        if is_first():
            yield _to_lanes(names, [packed(())] * len(names))
        for batch in batches:
            if batch.num_rows:
                yield self.packed(batch, names)
            set_aside()

    def packed(self, batch: pa.RecordBatch, names: Sequence[int]) -> pa.RecordBatch:
        """Return one row for each lane with rows; `names` has the names of all lanes."""
        codec = RowCodec(self.travelling)
        hashes, rows = batch.column(len(codec.columns)), batch.select(range(len(codec.columns)))
        lanes = pa.array([names[each % len(names)] for each in hashes.to_pylist()], pa.int64())
        found = pc.unique(lanes)
        parts = [self._packed(codec, rows.filter(pc.equal(lanes, name))) for name in found]
        return _to_lanes(found, parts)

    def _packed(self, codec: RowCodec, batch: pa.RecordBatch) -> bytes:
        keys: Iterable[bytes] = repeat(b"")
        times: Iterable[int | None] = repeat(None)
        if self.key:
            cells = zip(*(batch.column(place).to_pylist() for place in self.key), strict=True)
            keys = map(key_bytes, cells)
        if self.time is not None:
            times = _milliseconds(batch.column(self.time))
        return packed(map(Row, codec.encode(batch), keys, times))


def _to_lanes(names: Iterable[Any], parts: list[bytes]) -> pa.RecordBatch:
    arrays = [pa.array(names, pa.int64()), pa.array(parts, pa.binary())]
    return pa.RecordBatch.from_arrays(arrays, names=["lane", "rows"])


def _milliseconds(times: pa.Array) -> list[int | None]:
    counted = times.cast(pa.timestamp("us", times.type.tz)).cast(pa.int64())
    return [None if each is None else each // 1_000 for each in counted.to_pylist()]


class Unpacking(Struct, frozen=True):
    """Makes rows of the output of lanes."""

    outcomes: OutcomeCodec
    names: None = None

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return telling(self._run(batches))

    def _run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for value in batch.column(0).drop_null().to_pylist():
                yield from self.outcomes.batches(unpacked_outcomes(value))
            set_aside()
