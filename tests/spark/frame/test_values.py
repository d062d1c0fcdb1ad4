"""What a column takes, and what it refuses, by the type that Arrow has for it."""

# ruff: noqa: DTZ001 - times without a zone are what some of these tests are about

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from math import inf, isnan, nan
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import hypothesis.strategies as st
import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from pyspark.sql import Row

from asyncwait.backends.spark import SchemaMismatch
from asyncwait.backends.spark.frame._values import Column, fields_of

BERLIN = ZoneInfo("Europe/Berlin")
INSTANT = pa.timestamp("us", tz="UTC")
NUMBERS = pa.map_(pa.string(), pa.int64())
POINT = pa.struct([("x", pa.int64()), ("y", pa.float64())])


def took(kind: pa.DataType, value: Any) -> Any:
    """What a column of a type has, when it has taken a value."""
    column = Column(pa.field("c", kind), BERLIN)
    return pa.array([column.take(value)], kind).to_pylist()[0]


@dataclass
class Point:
    """A point."""

    x: int
    y: float | None = None


class PointStruct(msgspec.Struct):
    """A point."""

    x: int
    y: float | None = None


class PointTuple(NamedTuple):
    """A point."""

    x: int
    y: float | None = None


@pytest.mark.parametrize(
    ("kind", "value", "kept"),
    [
        (pa.int64(), 2**63 - 1, 2**63 - 1),
        (pa.int8(), -128, -128),
        (pa.int32(), np.int64(5), 5),
        (pa.float64(), 1, 1.0),
        (pa.float64(), inf, inf),
        (pa.float64(), np.float32(0.5), 0.5),
        (pa.float32(), 0.5, 0.5),
        (pa.float32(), inf, inf),
        (pa.bool_(), True, True),
        (pa.bool_(), np.bool_(False), False),
        (pa.string(), "Zoë", "Zoë"),
        (pa.binary(), b"\0\xff", b"\0\xff"),
        (pa.binary(), bytearray(b"ab"), b"ab"),
        (pa.date32(), date(2026, 2, 28), date(2026, 2, 28)),
        (pa.decimal128(5, 2), Decimal("1.25"), Decimal("1.25")),
        (pa.decimal128(5, 2), 7, Decimal("7.00")),
        (pa.duration("us"), timedelta(seconds=1.5), timedelta(seconds=1.5)),
        (pa.timestamp("us"), datetime(2026, 1, 2, 3), datetime(2026, 1, 2, 3)),
        (pa.list_(pa.int64()), (1, None, 3), [1, None, 3]),
        (pa.list_(pa.int64()), np.array([1, 2]), [1, 2]),
        (pa.map_(pa.string(), pa.int64()), {"a": 1, "b": None}, [("a", 1), ("b", None)]),
        (POINT, {"x": 1}, {"x": 1, "y": None}),
        (POINT, (1, 2.5), {"x": 1, "y": 2.5}),
        (POINT, Row(y=2.5, x=1), {"x": 1, "y": 2.5}),
        (POINT, Point(1, 2.5), {"x": 1, "y": 2.5}),
        (POINT, PointStruct(1, 2.5), {"x": 1, "y": 2.5}),
        (POINT, PointTuple(1, 2.5), {"x": 1, "y": 2.5}),
        (pa.list_(POINT), [Point(1)], [{"x": 1, "y": None}]),
        (pa.null(), None, None),
        (pa.string(), None, None),
    ],
)
def test_what_fits_comes_out_as_it_is(kind: pa.DataType, value: Any, kept: Any) -> None:
    """Numbers of numpy and wholes in a column of floats fit, too."""
    result = took(kind, value)
    assert (result, type(result)) == (kept, type(kept))


def test_nan_is_no_null() -> None:
    """Either stays what it is."""
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
    """One that says no zone is of the session's, also in the hour that comes twice."""
    assert took(INSTANT, value) == instant


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        (pa.int64(), "5", "int64, got '5' (str): expected int"),
        (pa.int64(), True, "int64, got True (bool): expected int"),
        (pa.int64(), 1.0, "int64, got 1.0 (float): expected int"),
        (pa.int8(), 128, "int8, got 128 (int): it is not between -128 and 127"),
        (pa.float64(), "x", "double, got 'x' (str): expected float or int"),
        (
            pa.float64(),
            2**53 + 1,
            "double, got 9007199254740993 (int): it would become 9007199254740992",
        ),
        (pa.float32(), 2**24 + 1, "float, got 16777217 (int): it would become 16777216"),
        (pa.float32(), 1e300, "float, got 1e+300 (float): it is too large"),
        (
            INSTANT,
            pd.NaT,
            "timestamp[us, tz=UTC], got NaT (NaTType): it is no instant; None is null",
        ),
        (
            pa.timestamp("us"),
            pd.NaT,
            "timestamp[us], got NaT (NaTType): it is no instant; None is null",
        ),
        (pa.float64(), False, "double, got False (bool): expected float or int"),
        (pa.bool_(), 1, "bool, got 1 (int): expected bool"),
        (pa.string(), b"a", "string, got b'a' (bytes): expected str"),
        (
            pa.binary(),
            "a",
            "binary, got 'a' (str): expected bytes or bytearray or memoryview",
        ),
        (
            pa.date32(),
            datetime(2026, 1, 1),
            "date32[day], got datetime.datetime(2026, 1, 1, 0, 0) (datetime): expected date",
        ),
        (pa.date32(), 5, "date32[day], got 5 (int): expected date"),
        (INSTANT, 5, "timestamp[us, tz=UTC], got 5 (int): expected datetime"),
        (
            pa.timestamp("us"),
            datetime(2026, 1, 1, tzinfo=UTC),
            (
                f"timestamp[us], got {datetime(2026, 1, 1, tzinfo=UTC)!r} (datetime): "
                "it has a time zone, and timestamp_ntz has none"
            ),
        ),
        (
            pa.decimal128(5, 2),
            Decimal("1.255"),
            (
                "decimal128(5, 2), got Decimal('1.255') (Decimal): "
                "Rescaling Decimal value would cause data loss"
            ),
        ),
        (pa.list_(pa.int64()), "ab", "list<item: int64>, got 'ab' (str): it is no list"),
        (pa.list_(pa.int64()), ["a"], "list<item: int64>, got ['a'] (list): expected int"),
        (
            pa.map_(pa.string(), pa.int64()),
            [1],
            "map<string, int64>, got [1] (list): it is no dict",
        ),
        (
            pa.map_(pa.string(), pa.int64()),
            {None: 1},
            "map<string, int64>, got {None: 1} (dict): it is never null",
        ),
        (
            POINT,
            {"x": 1, "z": 2},
            (
                "struct<x: int64, y: double>, got {'x': 1, 'z': 2} (dict): "
                "there is no field 'z', only x, y"
            ),
        ),
        (
            POINT,
            (1,),
            "struct<x: int64, y: double>, got (1,) (tuple): it has 1 values, for x, y",
        ),
        (
            POINT,
            5,
            (
                "struct<x: int64, y: double>, got 5 (int): "
                "expected a dict, tuple, Row, dataclass or msgspec Struct"
            ),
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_column_value_and_type(
    kind: pa.DataType, value: Any, why: str
) -> None:
    """Nothing is bent to fit, as Arrow would do with a whole number in a column of dates."""
    with pytest.raises(SchemaMismatch) as raised:
        took(kind, value)
    assert str(raised.value) == f"column c takes {why}"


def test_half_a_character_is_refused() -> None:
    """Of a pair of surrogates."""
    with pytest.raises(SchemaMismatch, match="surrogates not allowed"):
        took(pa.string(), "\ud800")


def test_a_column_that_is_never_null_says_so() -> None:
    """Where None came."""
    column = Column(pa.field("c", pa.int64(), nullable=False), None)
    with pytest.raises(SchemaMismatch) as raised:
        column.take(None)
    assert str(raised.value) == (
        "column c takes int64 and no null, got None (NoneType): it is never null"
    )


def test_a_time_without_a_zone_is_refused_where_the_session_has_none() -> None:
    """That is, none that Python knows by its name."""
    with pytest.raises(SchemaMismatch, match="it has no time zone; give it one"):
        Column(pa.field("c", INSTANT), None).take(datetime(2026, 1, 1))


@pytest.mark.parametrize("make", [Point, PointStruct, PointTuple, dict])
def test_fields_come_in_the_order_that_is_asked_for(make: Callable[..., Any]) -> None:
    """Whatever order they were given in."""
    assert fields_of(make(y=2.0, x=1), ("x", "y")) == (1, 2.0)


LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    pa.int8(): st.integers(-128, 127),
    pa.int16(): st.integers(-(2**15), 2**15 - 1),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float64(): st.floats(allow_nan=False),
    pa.bool_(): st.booleans(),
    pa.string(): st.text(st.characters(exclude_categories=["Cs"])),
    pa.binary(): st.binary(),
    pa.date32(): st.dates(),
    INSTANT: st.datetimes(min_value=datetime(1900, 1, 1), timezones=st.just(UTC)),
    pa.timestamp("us"): st.datetimes(),
    pa.decimal128(20, 4): st.decimals(-(10**15), 10**15, places=4),
    pa.duration("us"): st.timedeltas(timedelta(-1000), timedelta(1000)),
}


@st.composite
def kinds_and_values(draw: st.DrawFn, depth: int = 2) -> tuple[pa.DataType, st.SearchStrategy[Any]]:
    """A type, nested or not, and a strategy for its values, null among them."""
    shape = draw(st.sampled_from(["leaf", "leaf", "list", "map", "struct"] if depth else ["leaf"]))
    if shape == "leaf":
        kind = draw(st.sampled_from(list(LEAVES)))
        return kind, st.none() | LEAVES[kind]
    if shape == "list":
        kind, values = draw(kinds_and_values(depth - 1))
        return pa.list_(kind), st.none() | st.lists(values, max_size=3)
    if shape == "map":
        kind, values = draw(kinds_and_values(depth - 1))
        pairs = st.dictionaries(st.text("abc", max_size=2), values, max_size=3)
        return pa.map_(pa.string(), kind), st.none() | pairs
    fields = draw(st.lists(kinds_and_values(depth - 1), min_size=1, max_size=3))
    named = {f"f{number}": each for number, each in enumerate(fields)}
    kind = pa.struct([(name, each[0]) for name, each in named.items()])
    return kind, st.none() | st.fixed_dictionaries({n: each[1] for n, each in named.items()})


@given(st.data())
@settings(max_examples=300)
def test_every_value_of_a_type_survives(data: st.DataObject) -> None:
    """Nulls, nesting, the largest and the smallest: what goes in comes out, and of its type."""
    kind, values = data.draw(kinds_and_values())
    value = data.draw(values)
    plain = pa.array([value], kind)
    assert took(kind, value) == plain.to_pylist()[0]
