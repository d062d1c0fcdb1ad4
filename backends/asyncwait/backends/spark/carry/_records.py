"""Rows as bytes, which travel, are stored, and are decoded unchanged."""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from math import isnan, nan
from typing import Any

import msgspec
import pyarrow as pa
from msgspec import Struct

from asyncwait.backends.spark.frame._journal import ENCODER, python_type
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

    def batch(self, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
        return _batch(rows, self.columns)


def _batch(rows: Sequence[tuple[Any, ...]], columns: pa.Schema) -> pa.RecordBatch:
    cells = zip(*rows, strict=True)
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
            yield _batch(rows[start : start + MOST_ROWS], self._columns)


def packed(rows: Iterable[Row]) -> bytes:
    return ENCODER.encode([(row.record, row.key, row.time) for row in rows])


def unpacked(data: bytes) -> Iterator[Row]:
    for record, key, time in _ROWS.decode(data):
        yield Row(record, key, time)


_ROWS = msgspec.msgpack.Decoder(list[tuple[bytes, bytes, int | None]])


def packed_outcomes(outcomes: Sequence[bytes]) -> bytes:
    return ENCODER.encode(outcomes)


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
