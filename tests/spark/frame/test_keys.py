"""A stored result is given for the very same call only: keys and settings, without Spark."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from itertools import product
from typing import Any

import pyarrow as pa

from asyncwait.backends.journal import Journal
from asyncwait.backends.spark.frame._journal import Keys
from asyncwait.backends.spark.frame._rows import FrameRows, Shape
from asyncwait.backends.spark.frame._work import Options, Work

TWICE = pa.schema([("twice", pa.int64())])
TEXTS = (
    *("", "0", "-0.0", "1", "1.5", "1.50", "True", "nan", "03:04:05", "2026-01-02"),
    *("2026-01-02T00:00:00", "2026-01-02T03:04:05.000006", "2026-01-02T03:04:05.000006Z"),
)
"""Texts, many of which stand for values of several types."""

LEAVES = [
    *(pa.string(), pa.binary(), pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.float32(), pa.float64(), pa.decimal128(10, 1), pa.decimal128(10, 2), pa.decimal128(11, 1)),
    *(pa.date32(), pa.time64("us"), pa.timestamp("us", "UTC"), pa.timestamp("us", "Europe/Berlin")),
    *(pa.timestamp("us"), pa.duration("us"), pa.null()),
]
NESTS: list[tuple[Callable[[pa.DataType], pa.DataType], Callable[[Any], Any]]] = [
    (lambda kind: kind, lambda value: value),
    (pa.list_, lambda value: [value]),
    (lambda kind: pa.struct([("a", kind)]), lambda value: {"a": value}),
    (lambda kind: pa.struct([("b", kind)]), lambda value: {"b": value}),
    (lambda kind: pa.struct([("a int, b", kind)]), lambda value: {"a int, b": value}),
    (lambda kind: pa.map_(pa.string(), kind), lambda value: [("a", value)]),
    (lambda kind: pa.list_(pa.struct([("a", pa.list_(kind))])), lambda value: [{"a": [value]}]),
    (lambda kind: pa.map_(kind, pa.int32()), lambda value: [(value, 1)]),
]


class Nothing:
    def outcomes(self, keys: Sequence[bytes]) -> list[None]:
        return [None] * len(keys)


def keys_in(
    rows: pa.RecordBatch,
    given: Any,
    results: pa.Schema = TWICE,
    set_to: tuple[tuple[str, str], ...] = (),
    *,
    many: bool = False,
    batch: str = "",
) -> list[bytes]:
    options = Options(many=many, journal=Journal("nowhere", "job", "1", settings=set_to))
    work, nothing = Work(None, Shape(given, (), results), "UTC", options), Nothing()
    keys = Keys(nothing, work, batch)  # type: ignore[arg-type]
    return [row.key for row in FrameRows(work.shape, keys.look).decode(rows)]


def keys_of(
    column: pa.Array,
    name: str = "x",
    *,
    as_row: bool = False,
    nullable: bool = True,
    **options: Any,
) -> list[bytes]:
    schema = pa.schema([pa.field(name, column.type, nullable=nullable)])
    return keys_in(pa.record_batch([column], schema), (name,) if as_row else name, **options)


def columns_of_all_types() -> Iterator[pa.Array]:
    for kind, (wrap, hold) in product(LEAVES, NESTS):
        values = [hold(value) for text in TEXTS for value in readable(text, kind)]
        with suppress(ValueError):  # No map has nulls as keys.
            yield pa.array(values, wrap(kind))


def readable(text: str, kind: pa.DataType) -> list[Any]:
    """Return the value of a text in a type, or nothing."""
    if kind == pa.null():
        return [] if text else [None]
    if kind == pa.duration("us"):
        return [timedelta(seconds=value) for value in readable(text, pa.int8())]
    if kind == pa.time64("us"):
        return [value.time() for value in readable(text, pa.timestamp("us"))]
    try:
        return [pa.scalar(text).cast(kind).as_py()]
    except pa.ArrowInvalid:
        return []


def test_no_two_types_share_a_key() -> None:
    seen: dict[bytes, Any] = {}
    for column, as_row in product(columns_of_all_types(), [False, True]):
        values = column.to_pylist()
        keys = dict(zip(keys_of(column, as_row=as_row), values, strict=True))
        assert not seen.keys() & keys.keys(), column.type
        assert len(keys) == len(values)
        seen |= keys
    assert len(seen) > 1000, len(seen)


def test_the_same_has_the_same_key() -> None:
    for column in columns_of_all_types():
        keys = keys_of(column)
        assert keys_of(column) == keys
        if column.null_count == 0:
            assert keys_of(column, nullable=False) == keys
    text = pa.array(["a", "b"])
    assert keys_of(text.cast(pa.large_string())) == keys_of(text)
    never = pa.list_(pa.field("element", pa.int32(), nullable=False))
    assert keys_of(pa.array([[1]], never)) == keys_of(pa.array([[1]], pa.list_(pa.int32())))


def test_what_is_made_of_a_result_is_part_of_the_key() -> None:
    column = pa.array([1])
    never = pa.schema([pa.field("twice", pa.int64(), nullable=False)])
    inner = [pa.field("element", pa.int64(), nullable=nullable) for nullable in (True, False)]
    schemas = [
        TWICE,
        never,
        *(pa.schema([("twice", kind)]) for kind in LEAVES if kind != pa.int64()),
        *(pa.schema([("twice", pa.list_(field))]) for field in inner),
        pa.schema([("thrice", pa.int64())]),
        pa.schema([*TWICE, *TWICE]),
    ]
    keys = [
        *(key for results in schemas for key in keys_of(column, results=results)),
        *keys_of(column, many=True),
        *keys_of(column, batch="query 1"),
        *keys_of(column, set_to=(("zone", "UTC"),)),
        *keys_of(column, set_to=(("zone", "CET"),)),
        *keys_of(column, "y"),
    ]
    assert len(set(keys)) == len(keys) == len(schemas) + 5

    pair = pa.record_batch({"a": [1], "b": [1]})
    orders = (("a", "b"), ("b", "a"), ("a",), ("b",), ())
    both = {key for names in orders for key in keys_in(pair, names)}
    assert len(both) == 5


def test_a_map_counts_in_its_order() -> None:
    kind = pa.map_(pa.int32(), pa.string())
    column = pa.array([[(1, "a"), (2, "b")], [(2, "b"), (1, "a")]], kind)
    assert len(set(keys_of(column))) == 2
