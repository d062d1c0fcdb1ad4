"""Rows on their way through lanes: as bytes, and back as they were."""

from datetime import UTC, datetime, timedelta
from math import nan
from typing import Any

import pyarrow as pa
import pytest
from carried import KINDS

from asyncwait.backends.spark.carry._packing import Packing
from asyncwait.backends.spark.carry._records import (
    OutcomeCodec,
    RowCodec,
    key_bytes,
    unpacked,
    zoned,
)


@pytest.mark.parametrize(("kind", "value"), KINDS, ids=lambda given: str(given)[:20])
def test_a_row_comes_back_as_it_was(kind: pa.DataType, value: Any) -> None:
    schema = pa.schema([pa.field("a", kind), pa.field("b", kind)])
    batch = pa.RecordBatch.from_arrays(
        [pa.array([value, None], kind), pa.array([None, value], kind)], schema=schema
    )
    codec = RowCodec(schema)

    assert codec.batch(codec.decode(codec.encode(batch))).equals(batch)


def test_an_outcome_has_what_is_kept_of_the_row_in_front_of_each_result() -> None:
    rows = RowCodec(pa.schema([pa.field("a", pa.int64()), pa.field("b", pa.string())]))
    codec = OutcomeCodec(rows, [1], pa.schema([pa.field("c", pa.float64())]))
    batch = pa.RecordBatch.from_pylist([{"a": 1, "b": "x"}], schema=rows.columns)
    (record,) = rows.encode(batch)
    outcomes = [codec.encode(record, results) for results in ([(0.5,), (1.5,)], [])]

    (out,) = codec.batches(outcomes)

    assert out.to_pylist() == [{"b": "x", "c": 0.5}, {"b": "x", "c": 1.5}]


@pytest.mark.parametrize(
    ("one", "other"), [((nan,), (-nan,)), ((0.0,), (-0.0,)), (([0.0],), ([-0.0],))], ids=str
)
def test_keys_are_equal_where_spark_takes_them_for_equal(one: Any, other: Any) -> None:
    assert key_bytes(one) == key_bytes(other)
    assert key_bytes((1,)) != key_bytes((2,))


def test_event_times_are_those_of_a_watermark() -> None:
    schema = pa.schema([pa.field("t", pa.timestamp("us", tz="UTC"))])
    times = pa.array([1_999, -1, None], schema.field("t").type)
    batch = pa.RecordBatch.from_arrays([times, pa.array([0, 0, 0])], names=["t", "hash"])

    out = Packing(schema, time=0).packed(batch, [3])

    assert [row.time for row in unpacked(out.column("rows")[0].as_py())] == [1, -1, None]


def test_instants_are_given_in_the_zone_of_the_session() -> None:
    instant = pa.timestamp("us", tz="UTC")
    inner = pa.struct([("a", pa.list_(instant)), ("b", pa.map_(pa.string(), instant))])
    schema = pa.schema([pa.field("t", instant), pa.field("s", inner)])
    at = datetime(2026, 1, 1, 3, tzinfo=UTC)
    rows = [{"t": at, "s": {"a": [at], "b": [("k", at)]}}]
    codec = RowCodec(zoned(schema, "America/New_York"))

    batch = codec.batch(codec.decode(codec.encode(pa.RecordBatch.from_pylist(rows, schema))))

    (row,) = batch.to_pylist()
    assert row == rows[0]
    for found in (row["t"], row["s"]["a"][0], row["s"]["b"][0][1]):
        assert found.utcoffset() == timedelta(hours=-5)


def test_rows_are_packed_by_their_lanes() -> None:
    schema = pa.schema([pa.field("a", pa.int64())])
    batch = pa.RecordBatch.from_pydict({"_0": [1, 2, 3, 4], "_1": [6, 9, 6, -9]})

    out = Packing(schema, key=[0]).packed(batch, [7, 9])

    codec = RowCodec(schema)
    rows = {lane: [*unpacked(data)] for lane, data in zip(*out.to_pydict().values(), strict=True)}
    records = {lane: codec.decode(row.record for row in found) for lane, found in rows.items()}
    assert records == {7: [(1,), (3,)], 9: [(2,), (4,)]}
    assert rows[7][0].key == key_bytes((1,))
