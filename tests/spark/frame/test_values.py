"""What a column takes, and what it refuses, by the type that Arrow has for it."""

# ruff: noqa: DTZ001 - times without a zone are what some of these tests are about

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from math import inf, isnan, nan
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from carried import KINDS
from pyspark.sql import Row

from asyncwait.backends.spark import SchemaMismatch
from asyncwait.backends.spark.frame._values import Column, fields_of

BERLIN = ZoneInfo("Europe/Berlin")
INSTANT = pa.timestamp("us", tz="UTC")
NUMBERS = pa.map_(pa.string(), pa.int64())
POINT = pa.struct([("x", pa.int64()), ("y", pa.float64())])


def took(kind: pa.DataType, value: Any) -> Any:
    column = Column(pa.field("c", kind), BERLIN)
    return pa.array([column.take(value)], kind).to_pylist()[0]


@dataclass
class Point:
    x: int
    y: float | None = None


class PointStruct(msgspec.Struct):
    x: int
    y: float | None = None


class PointTuple(NamedTuple):
    x: int
    y: float | None = None


@pytest.mark.parametrize(
    ("kind", "value", "kept"),
    [
        *((kind, value, pa.array([value], kind)[0].as_py()) for kind, value in KINDS),
        (pa.int32(), np.int64(5), 5),
        (pa.float64(), 1, 1.0),
        (pa.float64(), inf, inf),
        (pa.float64(), np.float32(0.5), 0.5),
        (pa.float32(), 0.5, 0.5),
        (pa.float32(), inf, inf),
        (pa.bool_(), np.bool_(False), False),
        (pa.binary(), bytearray(b"ab"), b"ab"),
        (pa.decimal128(5, 2), 7, Decimal("7.00")),
        (pa.list_(pa.int64()), (1, None, 3), [1, None, 3]),
        (pa.list_(pa.int64()), np.array([1, 2]), [1, 2]),
        (POINT, {"x": 1}, {"x": 1, "y": None}),
        (POINT, (1, 2.5), {"x": 1, "y": 2.5}),
        (POINT, Row(y=2.5, x=1), {"x": 1, "y": 2.5}),
        (POINT, Point(1, 2.5), {"x": 1, "y": 2.5}),
        (POINT, PointStruct(1, 2.5), {"x": 1, "y": 2.5}),
        (POINT, PointTuple(1, 2.5), {"x": 1, "y": 2.5}),
        (pa.list_(POINT), [Point(1)], [{"x": 1, "y": None}]),
        (pa.string(), None, None),
    ],
)
def test_what_fits_comes_out_as_it_is(kind: pa.DataType, value: Any, kept: Any) -> None:
    result = took(kind, value)
    assert (result, type(result)) == (kept, type(kept))


def test_nan_is_no_null() -> None:
    assert isnan(took(pa.float64(), nan))
    assert took(pa.float64(), None) is None


@pytest.mark.parametrize(
    ("value", "instant"),
    [
        (datetime(2026, 7, 1, 12, tzinfo=UTC), datetime(2026, 7, 1, 12, tzinfo=UTC)),
        (
            datetime(2026, 7, 1, 12, tzinfo=timezone(timedelta(hours=-3))),
            datetime(2026, 7, 1, 15, tzinfo=UTC),
        ),
        (datetime(2026, 7, 1, 12), datetime(2026, 7, 1, 10, tzinfo=UTC)),
        (datetime(2026, 10, 25, 2, 30, fold=1), datetime(2026, 10, 25, 1, 30, tzinfo=UTC)),
        (datetime(2026, 10, 25, 2, 30, fold=0), datetime(2026, 10, 25, 0, 30, tzinfo=UTC)),
    ],
)
def test_a_timestamp_is_an_instant(value: datetime, instant: datetime) -> None:
    assert took(INSTANT, value) == instant


IN_SPARK = {
    pa.int8(): "tinyint",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.date32(): "date",
    INSTANT: "timestamp",
    pa.timestamp("us"): "timestamp_ntz",
    pa.decimal128(5, 2): "decimal(5,2)",
    pa.list_(pa.int64()): "array<bigint>",
    NUMBERS: "map<string,bigint>",
    POINT: "struct<x:bigint,y:double>",
}
"""How a schema of Spark says a type, which is what an error says."""


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        (pa.int64(), "5", "expected int"),
        (pa.int64(), True, "expected int"),
        (pa.int64(), 1.0, "expected int"),
        (pa.int8(), 128, "between -128 and 127"),
        (pa.float64(), "x", "expected float or int"),
        (pa.float64(), 2**53 + 1, "become 9007199254740992"),
        (pa.float32(), 2**24 + 1, "become 16777216"),
        (pa.float32(), 1e300, "too large"),
        (pa.float64(), False, "expected float or int"),
        (pa.bool_(), 1, "expected bool"),
        (pa.string(), b"a", "expected str"),
        (pa.string(), "\ud800", ""),
        (pa.binary(), "a", "expected bytes"),
        (pa.date32(), datetime(2026, 1, 1), "expected date"),
        (pa.date32(), 5, "expected date"),
        (INSTANT, 5, "expected datetime"),
        (INSTANT, pd.NaT, "no instant"),
        (pa.timestamp("us"), pd.NaT, "no instant"),
        (pa.timestamp("us"), datetime(2026, 1, 1, tzinfo=UTC), "timestamp_ntz has none"),
        (pa.decimal128(5, 2), Decimal("1.255"), ""),
        (pa.list_(pa.int64()), "ab", "no list"),
        (pa.list_(pa.int64()), ["a"], "expected int"),
        (NUMBERS, [1], "no dict"),
        (NUMBERS, {None: 1}, "never null"),
        (POINT, {"x": 1, "z": 2}, "no field 'z', only x, y"),
        (POINT, (1,), "1 values, for x, y"),
        (POINT, 5, "expected a dict"),
    ],
)
def test_what_does_not_fit_is_refused_by_column_value_and_type(
    kind: pa.DataType, value: Any, why: str
) -> None:
    with pytest.raises(SchemaMismatch) as raised:
        took(kind, value)
    told, _, reason = str(raised.value).partition(f", got {value!r} ({type(value).__name__}): ")
    assert told == f"column c takes {IN_SPARK[kind]}"
    assert why in reason


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        (pa.field("c", pa.int64(), nullable=False), None, "and no null, got None"),
        (pa.field("c", INSTANT), datetime(2026, 1, 1), "no time zone"),
    ],
)
def test_a_null_and_a_time_without_any_zone_are_refused(
    column: pa.Field, value: Any, why: str
) -> None:
    with pytest.raises(SchemaMismatch, match=why):
        Column(column, None).take(value)


@pytest.mark.parametrize("make", [Point, PointStruct, PointTuple, dict])
def test_names_of_fields_are_compared_as_the_session_does(make: Callable[..., Any]) -> None:
    kind = pa.struct([("X", pa.int64()), ("y", pa.list_(pa.struct([("A", pa.int64())])))])
    value = make(x=1, y=[{"a": 2}])

    assert fields_of(value, ("X", "y")) == (1, [{"a": 2}])
    assert fields_of(value, ("y", "x")) == ([{"a": 2}], 1)
    assert took(kind, value) == {"X": 1, "y": [{"A": 2}]}
    with pytest.raises(ValueError, match="no field 'x'"):
        fields_of(value, ("X", "y"), str)
    with pytest.raises(SchemaMismatch, match="no field 'x'"):
        Column(pa.field("c", kind), None, str).take(value)
    for wrong, why in (({"x": 1, "X": 1}, "'X' is there twice"), ({1: 1}, "no field 1")):
        with pytest.raises(ValueError, match=why):
            fields_of(wrong, ("X", "y"))
