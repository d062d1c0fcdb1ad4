"""A stored result is given for the very same call only: keys and settings, without Spark."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from itertools import product
from typing import Any

import pyarrow as pa

from asyncwait.backends.spark.frame._journal import Keys
from asyncwait.backends.spark.frame._rows import FrameRows, Shape

TWICE = pa.schema([("twice", pa.int64())])
TEXTS = (
    "",
    "0",
    "-0.0",
    "1",
    "1.5",
    "1.50",
    "True",
    "nan",
    "2026-01-02",
    "2026-01-02T00:00:00",
    "2026-01-02T03:04:05.000006",
    "2026-01-02T03:04:05.000006Z",
    "03:04:05",
    "P1D",
    "PT1.5S",
)
"""What may stand for values of several types, and is one of text."""

SPAN = {"P1D": timedelta(days=1), "PT1.5S": timedelta(seconds=1.5), "0": timedelta()}


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def clock(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=None)


def fixed(unit: str) -> Callable[[str], Decimal]:
    def read(text: str) -> Decimal:
        return Decimal(int(Decimal(text) / Decimal(unit))) * Decimal(unit)

    return read


LEAVES: dict[str, tuple[pa.DataType, Callable[[str], Any]]] = {
    "text": (pa.string(), str),
    "binary": (pa.binary(), str.encode),
    "boolean": (pa.bool_(), {"0": False, "1": True, "True": True}.__getitem__),
    **{f"int{bits}": (getattr(pa, f"int{bits}")(), int) for bits in (8, 16, 32, 64)},
    "float": (pa.float32(), float),
    "double": (pa.float64(), float),
    "decimal": (pa.decimal128(10, 1), fixed("0.1")),
    "scaled": (pa.decimal128(10, 2), fixed("0.01")),
    "wide": (pa.decimal128(11, 1), fixed("0.1")),
    "date": (pa.date32(), date.fromisoformat),
    "time": (pa.time64("us"), time.fromisoformat),
    "instant": (pa.timestamp("us", "UTC"), instant),
    "there": (pa.timestamp("us", "Europe/Berlin"), instant),
    "clock": (pa.timestamp("us"), clock),
    "span": (pa.duration("us"), SPAN.__getitem__),
    "null": (pa.null(), {"": None}.__getitem__),
}
NESTS: dict[str, tuple[Callable[[pa.DataType], pa.DataType], Callable[[Any], Any]]] = {
    "plain": (lambda kind: kind, lambda value: value),
    "list": (pa.list_, lambda value: [value]),
    "struct": (lambda kind: pa.struct([("a", kind)]), lambda value: {"a": value}),
    "other field": (lambda kind: pa.struct([("b", kind)]), lambda value: {"b": value}),
    "odd field": (lambda kind: pa.struct([("a int, b", kind)]), lambda value: {"a int, b": value}),
    "map": (lambda kind: pa.map_(pa.string(), kind), lambda value: [("a", value)]),
    "deep": (
        lambda kind: pa.list_(pa.struct([("a", pa.list_(kind))])),
        lambda value: [{"a": [value]}],
    ),
}
KEYED = (lambda kind: pa.map_(kind, pa.int32()), lambda value: [(value, 1)])
"""A map that has it as a key, which is never null."""


class Nothing:
    def outcomes(self, keys: Sequence[bytes]) -> list[None]:
        return [None] * len(keys)


def keys_of(
    column: pa.Array,
    name: str = "x",
    *,
    as_row: bool = False,
    results: pa.Schema = TWICE,
    set_to: tuple[tuple[str, str], ...] = (),
    nullable: bool = True,
    **options: Any,
) -> list[bytes]:
    shape = Shape((name,) if as_row else name, (), results)
    nothing: Any = Nothing()
    rows = FrameRows(shape, Keys(nothing, shape, set_to, **options).look)
    schema = pa.schema([pa.field(name, column.type, nullable=nullable)])
    return [row.key for row in rows.decode(pa.record_batch([column], schema))]


def columns_of_all_types() -> Iterator[tuple[tuple[str, str], pa.Array]]:
    for (leaf, (kind, read)), nest in product(LEAVES.items(), [*NESTS, "keys"]):
        wrap, hold = NESTS.get(nest, KEYED)
        if (leaf, nest) == ("null", "keys"):
            continue
        values = [hold(value) for text in TEXTS if (value := readable(read, text)) is not Ellipsis]
        yield (leaf, nest), pa.array(values, wrap(kind))


def readable(read: Callable[[str], Any], text: str) -> Any:
    """What a text is of a type; or `...`."""
    try:
        return read(text)
    except (ValueError, KeyError, InvalidOperation):
        return ...


def test_no_two_types_share_a_key() -> None:
    seen: dict[bytes, Any] = {}
    for (what, column), as_row in product(columns_of_all_types(), [False, True]):
        values = column.to_pylist()
        keys = dict(zip(keys_of(column, as_row=as_row), values, strict=True))
        assert not seen.keys() & keys.keys(), what
        assert len(keys) == len(values)
        seen |= keys
    assert len(seen) > 1000


def test_the_same_has_the_same_key() -> None:
    for _, column in columns_of_all_types():
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
        *(pa.schema([("twice", kind)]) for kind, _ in LEAVES.values() if kind != pa.int64()),
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
    nothing: Any = Nothing()
    both = set()
    for names in (("a", "b"), ("b", "a"), ("a",), ("b",), ()):
        shape = Shape(names, (), TWICE)
        rows = FrameRows(shape, Keys(nothing, shape).look)
        both |= {row.key for row in rows.decode(pair)}
    assert len(both) == 5


def test_a_map_counts_in_its_order() -> None:
    kind = pa.map_(pa.int32(), pa.string())
    column = pa.array([[(1, "a"), (2, "b")], [(2, "b"), (1, "a")]], kind)
    assert len(set(keys_of(column))) == 2
